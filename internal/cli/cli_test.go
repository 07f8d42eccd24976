package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/keep/backup"
	"github.com/pdpp-go/pdpp/internal/keep/credential"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

// testEnv is a process with the given variables and arguments.
func testEnv(t *testing.T, vars map[string]string, args ...string) (Env, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	var out, errOut bytes.Buffer
	return Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errOut,
		Lookup:   func(name string) (string, bool) { v, ok := vars[name]; return v, ok },
		LookPath: func(string) (string, error) { return "", os.ErrNotExist },
		Exit:     func(code int) { t.Errorf("exit %d", code) },
		Now:      func() time.Time { return time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC) },
		HashCost: auth.HashCost{MemoryKiB: 8, Passes: 1}, // their strength is tested elsewhere
	}, &out, &errOut
}

// TestMain lets the commands tell times in one zone, wherever the tests run.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

func TestMainWithoutStore(t *testing.T) {
	env, out, errOut := testEnv(t, nil, "connectors", "--home", t.TempDir())
	if code := Main(env); code != ExitOK || !strings.Contains(out.String(), "No connectors are installed.") {
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
		{"the system", syscall.SIGTERM, errTerminated},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				signals, codes := make(chan os.Signal), make(chan int, 1)
				ctx, cancel := context.WithCancelCause(t.Context())
				a := &app{cancel: cancel, env: Env{Interrupts: signals, Exit: func(code int) { codes <- code }}}
				over := make(chan struct{})
				defer close(over)
				go a.watchInterrupts(over)
				signals <- tt.signal
				<-ctx.Done()
				if !errors.Is(context.Cause(ctx), tt.cause) {
					t.Errorf("cause %v, want %v", context.Cause(ctx), tt.cause)
				}
				if e := describe(context.Cause(ctx)); e.Exit != ExitCancelled {
					t.Errorf("exit %d, want %d", e.Exit, ExitCancelled)
				}
				signals <- tt.signal // its echo
				synctest.Wait()
				if len(codes) != 0 {
					t.Error("an echo of the first wish ends the program")
				}
				time.Sleep(sameWish)
				signals <- os.Interrupt
				if code := <-codes; code != ExitCancelled {
					t.Errorf("second interrupt exits %d, want %d", code, ExitCancelled)
				}
			})
		})
	}
}

func TestDescribe(t *testing.T) {
	fault := func(f store.Fault) error {
		return &store.FaultError{Fault: f, Where: "pdpp.db", Err: errors.New("why")}
	}
	type row struct {
		err  error
		code string
		exit int
	}
	tests := []row{
		{usage("m", "n"), "usage", ExitUsage},
		{&store.ActiveRunError{ConnectionID: "cin_a_1", RunID: "run_1", Holder: "host:1"}, "run_already_active", ExitActive},
		{fault(store.FaultCorrupt), "storage_corrupt", ExitStorage},
		{fault(store.FaultLocked), "storage_locked", ExitStorage},
		{fault(store.FaultReadOnly), "storage_read_only", ExitStorage},
		{fault(store.FaultFull), "storage_full", ExitStorage},
		{fault(store.FaultUnreachable), "storage_unreachable", ExitStorage},
		{fault(store.FaultTooOld), "storage_schema_too_old", ExitStorage},
		{fault(store.FaultTooNew), "storage_schema_too_new", ExitStorage},
		{fault(store.FaultNotADB), "storage_not_a_database", ExitStorage},
		{fault("storage_haunted"), "storage_haunted", ExitStorage},
		{catalog.ErrUnknownConnector, "unknown_connector", ExitNotFound},
		{store.ErrNotFound, "not_found", ExitNotFound},
		{runner.ErrOwnerCancelled, "cancelled", ExitCancelled},
		{context.Canceled, "cancelled", ExitCancelled},
		{errTerminated, "terminated", ExitCancelled},
		{errors.New("anything"), "failed", ExitFailed},
	}
	// Faults whose status alone would say something else.
	for code, exit := range map[string]int{
		api.CodeRunActive: ExitActive, api.CodeProviderWait: ExitWait, api.CodeUnreachable: ExitStorage, api.CodeNotFound: ExitNotFound,
		auth.CodeInsufficientScope: ExitOwner, auth.CodeWrongPassword: ExitFailed, auth.CodeWrongCode: ExitFailed,
		credential.CodeWrongKey: ExitFailed, credential.CodeDamaged: ExitFailed, "push_failed": ExitFailed,
		backup.CodeInvalid: ExitUsage, backup.CodeKeyNeeded: ExitUsage, backup.CodeNoData: ExitStorage, backup.CodeHomeInUse: ExitActive,
		backup.CodeBusy: ExitActive, backup.CodeWrongKey: ExitOwner, backup.CodeNotSealed: ExitOwner,
	} {
		for _, status := range []int{0, 400, 401, 404, 422} {
			tests = append(tests, row{&Error{Code: code, Status: status, Message: "m", Next: "n"}, code, exit})
		}
	}
	for status, exit := range map[int]int{0: ExitFailed, 400: ExitUsage, 401: ExitOwner, 404: ExitNotFound, 409: ExitFailed, 422: ExitUsage, 500: ExitFailed} {
		tests = append(tests, row{&Error{Code: "any_other", Status: status, Message: "m", Next: "n"}, "any_other", exit})
	}
	for _, tt := range tests {
		e := describe(fmt.Errorf("wrapped: %w", tt.err))
		if e.Code != tt.code || e.Exit != tt.exit {
			t.Errorf("%v: code %s exit %d, want %s %d", tt.err, e.Code, e.Exit, tt.code, tt.exit)
		}
		if e.Message == "" || e.Next == "" || strings.Contains(e.Message, "\n") {
			t.Errorf("%v: message %q, next %q", tt.err, e.Message, e.Next)
		}
	}
}

// Until when a source is left alone is told in one zone, whoever found it out.
func TestWaitIsToldInLocalTime(t *testing.T) {
	until := time.Date(2026, 3, 10, 19, 0, 0, 0, time.UTC)
	want := "the source is to be left alone until " + when(until) + "; nothing was started"
	for _, err := range []error{
		&store.WaitError{Sender: "api", Until: until},
		&api.Error{Code: api.CodeProviderWait, Until: &until, ConnectionID: "cin_a_1", Message: "The source asked to be left alone until 2026-03-10 19:00:00 UTC. Nothing was started."},
	} {
		if e := describe(err); e.Message != want || e.Exit != ExitWait {
			t.Errorf("%q, exit %d", e.Message, e.Exit)
		}
	}
}

func TestDescribeRedacts(t *testing.T) {
	e := describe(errors.New("connect postgres://ada:hunter22@db/pdpp: token=abcdef123 refused"))
	if strings.Contains(e.Message, "hunter22") || strings.Contains(e.Message, "abcdef123") {
		t.Errorf("message shows a secret: %s", e.Message)
	}
}
