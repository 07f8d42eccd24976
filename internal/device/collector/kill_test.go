//go:build unix

package collector

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestKilledCollectorLosesNothing kills a collector with SIGKILL at every one
// of its requests, once before the server does anything and once after it has
// but before it answers. The next pass must complete the work: what the server
// has is the truth, each record once, and no cursor was ever ahead.
//
//pdpp:tier unraced
func TestKilledCollectorLosesNothing(t *testing.T) {
	requests := uninterrupted(t)
	kills := 0
	for n := 1; n <= requests; n++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("request %d, done %t", n, after), func(t *testing.T) {
				b := newBed(t)
				b.write(t, days(1, 560)...)
				if b.killedAt(t, n, after) {
					kills++
				}
				b.now = time.Now() // the killed one used the real clock
				b.behave()
				b.mustRun(t)
				b.mustHave(t, "notes", days(1, 560)...)
				b.mustHaveState(t, "notes", `{"n":560}`)
			})
		}
	}
	t.Attr("result", fmt.Sprintf("%d SIGKILLs at request boundaries: ground truth == accepted, no record twice, no "+
		"cursor ahead", kills))
}

// uninterrupted returns the number of requests that a pass sends when it is not killed.
func uninterrupted(t *testing.T) int {
	b := newBed(t)
	b.write(t, days(1, 560)...)
	b.mustRun(t)
	return b.seen()
}

// TestKilledWhileCollecting kills the collector between two slices of a run.
func TestKilledWhileCollecting(t *testing.T) {
	b := newBed(t)
	b.write(t, slices.Concat(days(1, 400), []string{"HOLD"}, days(401, 600))...)
	hold := b.file + ".hold"
	if err := syscall.Mkfifo(hold, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := b.process(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gate, err := os.OpenFile(hold, os.O_WRONLY, 0) // returns when the connector has got there
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // killed
	if err := errors.Join(gate.Close(), os.Remove(hold)); err != nil {
		t.Fatal(err)
	}
	b.write(t, slices.Concat(days(1, 400), days(401, 600))...)
	b.now = time.Now()
	b.mustRun(t)
	b.mustHave(t, "notes", days(1, 600)...)
	b.mustHaveState(t, "notes", `{"n":600}`)
}

// process is a collector as a process of its own.
func (b *bed) process(t *testing.T) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, b.dirs.Profiles)
	cmd.Env = []string{roleVariable + "=collector", "GORACE=atexit_sleep_ms=0"}
	return cmd
}

// killedAt starts a collector and kills it at its n-th request. It reports false if the pass finishes
// with fewer requests.
func (b *bed) killedAt(t *testing.T, n int, after bool) (killed bool) {
	t.Helper()
	cmd := b.process(t)
	var ready sync.Mutex // held until the process is known
	b.mu.Lock()
	b.intercept = func(got int, _ string, done bool, w http.ResponseWriter) bool {
		if got != n || done != after {
			return false
		}
		ready.Lock()
		_ = cmd.Process.Kill()
		ready.Unlock()
		panic(http.ErrAbortHandler)
	}
	b.mu.Unlock()
	ready.Lock()
	err := cmd.Start()
	ready.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed, or its pass failed: both are looked at by what is left
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signal() == syscall.SIGKILL
}

// TestUploadGoesOnBesideTheRun holds the connector back until the server has its first
// slice.
func TestUploadGoesOnBesideTheRun(t *testing.T) {
	b := newBed(t)
	b.write(t, slices.Concat(days(1, 250), []string{"HOLD"}, days(251, 300))...)
	b.unseen = 1 // the line that holds
	hold := b.file + ".hold"
	if err := syscall.Mkfifo(hold, 0o600); err != nil {
		t.Fatal(err)
	}
	b.intercept = func(_ int, name string, done bool, _ http.ResponseWriter) bool {
		if name == "PUT state" && done && hold != "" {
			gate, err := os.OpenFile(hold, os.O_WRONLY, 0)
			if err == nil {
				err = gate.Close()
			}
			if err != nil {
				t.Error(err)
			}
			hold = ""
		}
		return false
	}
	b.mustRun(t)
	b.mustHave(t, "notes", days(1, 300)...)
}
