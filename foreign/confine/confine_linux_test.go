package confine

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const roleVariable = "PDPP_TEST_CONFINE_ROLE"

// The test binary is the confined program: it executes its arguments and prints the results.
func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "" {
		os.Exit(m.Run())
	}
	if os.Getenv(roleVariable) == "launch" {
		if err := launchAll(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	for _, arg := range os.Args[1:] {
		what, path, _ := strings.Cut(arg, "=")
		fmt.Println(arg, outcome(attempt(what, path)))
	}
	syscall.Exit(0) // the setting that stops the race detector from waiting is in /proc
}

func outcome(err error) string {
	switch {
	case err == nil:
		return "done"
	case errors.Is(err, os.ErrPermission):
		return "refused"
	default:
		return err.Error()
	}
}

func attempt(what, path string) error {
	if err, known := calling(what, path); known {
		return err
	}
	switch what {
	case "read":
		f, err := os.Open(path)
		if err == nil {
			_, err = io.CopyN(io.Discard, f, 1)
			if errors.Is(err, io.EOF) {
				err = nil
			}
			_ = f.Close()
		}
		return err
	case "list":
		_, err := os.ReadDir(path)
		return err
	case "write":
		return os.WriteFile(path, []byte("x"), 0o600)
	case "remove":
		return os.Remove(path)
	case "run":
		return exec.Command(path, "-c", ":").Run()
	case "signal":
		pid, err := strconv.Atoi(path)
		if err != nil {
			return err
		}
		return syscall.Kill(pid, 0)
	case "connect":
		c, err := net.Dial("tcp", path)
		if err == nil {
			_ = c.Close()
		}
		return err
	case "allocate":
		if err := Bound(256<<20, time.Minute); err != nil {
			return err
		}
		mega, err := strconv.Atoi(path)
		if err != nil {
			return err
		}
		for held := make([]byte, mega<<20); len(held) > 0; held = held[min(4096, len(held)):] {
			held[0] = 1
		}
		return nil
	case "abstract":
		c, err := net.Dial("unix", "@"+path)
		if err == nil {
			_ = c.Close()
		}
		return err
	default:
		return errors.New("unknown")
	}
}

// confined runs the attempts under the limits.
func confined(t *testing.T, l Limits, attempts ...string) map[string]string {
	t.Helper()
	if ok, reason := Supported(); !ok {
		t.Fatalf("this test needs a kernel that can confine: %s", reason)
	}
	l.Program = os.Args[0]
	cmd := exec.Command(os.Args[0], attempts...)
	cmd.Env = []string{roleVariable + "=1", "GORACE=atexit_sleep_ms=0"}
	var out, fault strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &fault
	if err := l.Start(cmd.Start); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, fault.String())
	}
	results := map[string]string{}
	for line := range strings.Lines(out.String()) {
		arg, result, _ := strings.Cut(strings.TrimSpace(line), " ")
		results[arg] = result
	}
	return results
}

// A confined program can access only what it was allowed and what every program needs, although it runs as the
// same user.
func TestConfinement(t *testing.T) {
	dir := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	for _, folder := range []string{"home", "mine", "given"} {
		if err := os.Mkdir(at(folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"home/secret.key", "mine/state", "mine/old", "given/diary", "single"} {
		if err := os.WriteFile(at(file), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("home", "secret.key"), at("mine", "link")); err != nil {
		t.Fatal(err)
	}
	abstract, err := net.Listen("unix", "@"+filepath.Base(dir)+strconv.Itoa(os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	me := strconv.Itoa(os.Getpid())
	limits := Limits{Read: []string{at("given"), at("single"), at("nowhere")}, Write: []string{at("mine")}}
	want := map[string]string{
		"read=" + at("home", "secret.key"):   "refused",
		"read=" + at("mine", "link"):         "refused",
		"list=" + at("home"):                 "refused",
		"list=" + dir:                        "refused",
		"write=" + at("home", "new"):         "refused",
		"remove=" + at("home", "secret.key"): "refused",
		"write=" + at("given", "diary"):      "refused",
		"write=" + at("single"):              "refused",
		"read=/proc/" + me + "/environ":      "refused",
		"read=/proc/" + me + "/mem":          "refused",
		"read=/etc/shadow":                   "refused",
		"list=/root":                         "refused",
		"list=/tmp":                          "refused",
		"signal=" + me:                       "refused",
		"abstract=" + strings.TrimPrefix(abstract.Addr().String(), "@"): "refused",

		"read=" + at("given", "diary"): "done",
		"list=" + at("given"):          "done",
		"read=" + at("single"):         "done",
		"read=" + at("mine", "state"):  "done",
		"write=" + at("mine", "new"):   "done",
		"remove=" + at("mine", "old"):  "done",
		"read=/etc/passwd":             "done",
		"write=/dev/null":              "done",
		"read=/dev/urandom":            "done",
		"run=/bin/sh":                  "done",
	}
	attempts := make([]string, 0, len(want))
	for a := range want {
		attempts = append(attempts, a)
	}
	got := confined(t, limits, attempts...)
	for a, w := range want {
		if got[a] != w {
			t.Errorf("%s: %s, want %s", a, got[a], w)
		}
	}
	if _, err := os.Stat(at("home", "secret.key")); err != nil {
		t.Error(err)
	}
}

// The limits belong to the started process; the one that starts it keeps its own freedom, also
// in threads that begin later.
func TestStarterStaysFree(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		confined(t, Limits{Write: []string{t.TempDir()}}, "read="+secret)
		done := make(chan error)
		go func() {
			_, err := os.ReadFile(secret)
			done <- err
		}()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if err := exec.Command("/bin/sh", "-c", "cat "+secret).Run(); err != nil {
			t.Fatal("a process that was started without limits has them: ", err)
		}
	}
}

// A program with Offline has no network.
func TestOffline(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	connect := "connect=" + l.Addr().String()
	if got := confined(t, Limits{Offline: true}, connect)[connect]; got != "refused" {
		t.Errorf("offline it was %s", got)
	}
	if got := confined(t, Limits{}, connect)[connect]; got != "done" {
		t.Errorf("otherwise it was %s", got)
	}
}

// A process that has bounded itself ends before it uses more.
//
//pdpp:tier unraced
func TestBound(t *testing.T) {
	for mega, ends := range map[string]bool{"16": false, "1024": true} {
		cmd := exec.Command(os.Args[0], "allocate="+mega)
		cmd.Env = []string{roleVariable + "=1", "GOTRACEBACK=none"}
		if out, err := cmd.CombinedOutput(); ends != (err != nil) {
			t.Errorf("%s MB: %v, %.500s", mega, err, out)
		}
	}
}

// A missing program prevents the start.
func TestMissingProgram(t *testing.T) {
	err := Limits{Program: filepath.Join(t.TempDir(), "nothing")}.Start(func() error { t.Error("started"); return nil })
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error = %v", err)
	}
}

// What a start costs with limits and without.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	for name, limits := range map[string]*Limits{"free": nil, "confined": {Program: "/bin/true", Write: []string{dir}}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				cmd := exec.Command("/bin/true")
				start := cmd.Start
				if limits != nil {
					start = func() error { return limits.Start(cmd.Start) }
				}
				if err := start(); err != nil {
					b.Fatal(err)
				}
				if err := cmd.Wait(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
