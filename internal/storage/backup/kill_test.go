package backup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// The test binary runs a backup or restore that is killed at its n-th moment.
const roleVariable = "PDPP_TEST_BACKUP_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		os.Exit(playVictim(role, os.Args[1], os.Args[2], os.Args[3]))
	}
	os.Exit(m.Run())
}

func playVictim(role, home, file, at string) int {
	left, err := strconv.Atoi(at)
	if err != nil {
		return 2
	}
	var last Step
	die := func(s Step) {
		// A moment is the start of a step, or each third of it.
		if s.Name == last.Name && 3*(s.Done-last.Done) < s.Total {
			return
		}
		last = s
		if left--; left == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal is on its way
		}
	}
	if role == "write" {
		_, err = Write(context.Background(), Options{Home: home, File: file, Replace: true, Seal: Seal{Plain: true},
			Now: noon, Observe: die})
	} else {
		_, err = Restore(context.Background(), RestoreOptions{File: file, Home: home, Force: true, Keys: Keys{Plain: true},
			Now: noon, Observe: die})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// victim starts a process that dies at the n-th moment; false means that it finished before.
func victim(t *testing.T, role, home, file string, n int) (killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], home, file, strconv.Itoa(n))
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	out, err := cmd.CombinedOutput()
	if err == nil {
		return false
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() ||
		status.Signal() != syscall.SIGKILL {
		t.Fatalf("%s %d: %v\n%s", role, n, err, out)
	}
	return true
}

// TestKilledRestore checks that a restore killed at any moment leaves the old home or the new one, and that the next
// restore completes and cleans up.
//
//pdpp:tier unraced
func TestKilledRestore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pdpp.backup")
	if _, err := Write(t.Context(), Options{Home: newHome(t, 3), File: file, Seal: Seal{Plain: true},
		Now: noon}); err != nil {
		t.Fatal(err)
	}
	seen := map[int]int{}
	kills := 0
	for n := 1; ; n++ {
		home := newHome(t, 1)
		killed := victim(t, "restore", home, file, n)
		have := connectionsIn(t, home)
		if have != 1 && have != 3 {
			t.Fatalf("killed at %d: %d connections, neither the old home nor the new one", n, have)
		}
		if !killed {
			if have != 3 {
				t.Errorf("a whole restore gave %d connections", have)
			}
			break
		}
		seen[have]++
		kills++
		if _, err := Restore(t.Context(), RestoreOptions{File: file, Home: home, Force: true, Keys: Keys{Plain: true},
			Now: noon.Add(time.Hour)}); err != nil {
			t.Fatalf("after a kill at %d: %v", n, err)
		}
		if connectionsIn(t, home) != 3 {
			t.Errorf("after a kill at %d the next restore gave something else", n)
		}
		checkBeside(t, home, n)
	}
	if seen[1] == 0 || seen[3] == 0 {
		t.Errorf("the kills did not fall on both sides of the exchange: %v", seen)
	}
	t.Attr("result", fmt.Sprintf("%d SIGKILLs: %d left the old home, %d the new one", kills, seen[1], seen[3]))
}

// checkBeside checks that no old home was lost: its connections are in some folder next to the home, and every folder
// there is complete.
func checkBeside(t *testing.T, home string, n int) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(home))
	if err != nil {
		t.Fatal(err)
	}
	old := 0
	for _, e := range entries {
		path := filepath.Join(filepath.Dir(home), e.Name())
		if path == home || !e.IsDir() {
			continue
		}
		if connectionsIn(t, path) == 1 {
			old++
		}
	}
	if old != 1 {
		t.Errorf("after a kill at %d the old home is there %d times", n, old)
	}
}

// TestKilledWrite checks that a backup killed at any moment leaves no archive or a complete one under its name.
//
//pdpp:tier unraced
func TestKilledWrite(t *testing.T) {
	home := newHome(t, 2)
	file := filepath.Join(t.TempDir(), "pdpp.backup")
	for n := 1; ; n++ {
		killed := victim(t, "write", home, file, n)
		if _, err := os.Stat(file); err == nil {
			to := filepath.Join(t.TempDir(), "home")
			if _, err := Restore(t.Context(), RestoreOptions{File: file, Home: to, Keys: Keys{Plain: true},
				Now: noon}); err != nil || connectionsIn(t, to) != 2 {
				t.Fatalf("killed at %d: %v", n, err)
			}
		}
		if !killed {
			break
		}
	}
	if left := leftovers(t, home); len(left) > 0 {
		t.Errorf("what the killed ones left in the home is still there: %v", left)
	}
}
