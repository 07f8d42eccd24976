package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// testEnvironment returns a process with these variables and arguments.
func testEnvironment(t *testing.T, vars map[string]string, args ...string) (command.Env, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	var out, errOut bytes.Buffer
	return command.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errOut,
		Lookup:   func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
		LookPath: func(string) (string, error) { return "", os.ErrNotExist },
		Exit:     func(code int) { t.Errorf("exit %d", code) },
		Now:      func() time.Time { return time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC) },
		HashCost: auth.HashCost{MemoryKiB: 8, Passes: 1}, // their strength is tested elsewhere
	}, &out, &errOut
}

// TestMain sets one time zone for all tests.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

func TestMainWithoutStore(t *testing.T) {
	env, out, errOut := testEnvironment(t, nil, "connectors", "--home", t.TempDir())
	if code := Main(env); code != failure.ExitOK || !strings.Contains(out.String(), "No connectors are installed.") {
		t.Errorf("code %d, out %q, err %q", code, out, errOut)
	}
}

func TestInterrupts(t *testing.T) {
	tests := []struct {
		name   string
		signal os.Signal
		cause  error
	}{
		{"the owner", os.Interrupt, runner.ErrOwnerCancelled},
		{"the system", syscall.SIGTERM, failure.ErrTerminated},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				signals, codes := make(chan os.Signal), make(chan int, 1)
				ctx, cancel := context.WithCancelCause(t.Context())
				inv := &command.Invocation{Cancel: cancel,
					Env: command.Env{Interrupts: signals, Exit: func(code int) { codes <- code }}}
				over := make(chan struct{})
				defer close(over)
				go watchInterrupts(inv, over)
				signals <- tt.signal
				<-ctx.Done()
				if !errors.Is(context.Cause(ctx), tt.cause) {
					t.Errorf("cause %v, want %v", context.Cause(ctx), tt.cause)
				}
				if e := failure.Describe(context.Cause(ctx)); e.Exit != failure.ExitCancelled {
					t.Errorf("exit %d, want %d", e.Exit, failure.ExitCancelled)
				}
				signals <- tt.signal // its echo
				synctest.Wait()
				if len(codes) != 0 {
					t.Error("an echo of the first wish ends the program")
				}
				time.Sleep(repeatedSignalWindow)
				signals <- os.Interrupt
				if code := <-codes; code != failure.ExitCancelled {
					t.Errorf("second interrupt exits %d, want %d", code, failure.ExitCancelled)
				}
			})
		})
	}
}
