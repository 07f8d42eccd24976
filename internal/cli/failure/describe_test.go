package failure

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/interaction"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/owner/api"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/storage/backup"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/web/auth"
)

func TestDescribe(t *testing.T) {
	fault := func(f store.StorageFault) error {
		return &store.FaultError{Fault: f, Where: "pdpp.db", Err: errors.New("why")}
	}
	type row struct {
		err  error
		code string
		exit int
	}
	tests := []row{
		{UsageError("m", "n"), "usage", ExitUsage},
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
		{ErrTerminated, "terminated", ExitCancelled},
		{errors.New("anything"), "failed", ExitFailed},
	}
	// These codes take precedence over the HTTP status.
	for code, exit := range map[string]int{
		api.CodeRunActive: ExitActive, api.CodeProviderWait: ExitWait, api.CodeUnreachable: ExitStorage,
		api.CodeNotFound:           ExitNotFound,
		auth.CodeInsufficientScope: ExitOwner, auth.CodeWrongPassword: ExitFailed, auth.CodeWrongCode: ExitFailed,
		credential.CodeWrongKey: ExitFailed, credential.CodeDamaged: ExitFailed, "push_failed": ExitFailed,
		backup.CodeInvalid: ExitUsage, backup.CodeKeyNeeded: ExitUsage, backup.CodeNoData: ExitStorage,
		backup.CodeHomeInUse: ExitActive,
		backup.CodeBusy:      ExitActive, backup.CodeWrongKey: ExitOwner, backup.CodeNotSealed: ExitOwner,
	} {
		for _, status := range []int{0, 400, 401, 404, 422} {
			tests = append(tests, row{&Error{Code: code, Status: status, Message: "m", Next: "n"}, code, exit})
		}
	}
	for status, exit := range map[int]int{0: ExitFailed, 400: ExitUsage, 401: ExitOwner, 404: ExitNotFound,
		409: ExitFailed, 422: ExitUsage, 500: ExitFailed} {
		tests = append(tests, row{&Error{Code: "any_other", Status: status, Message: "m", Next: "n"}, "any_other", exit})
	}
	for _, tt := range tests {
		e := Describe(fmt.Errorf("wrapped: %w", tt.err))
		if e.Code != tt.code || e.Exit != tt.exit {
			t.Errorf("%v: code %s exit %d, want %s %d", tt.err, e.Code, e.Exit, tt.code, tt.exit)
		}
		if e.Message == "" || e.Next == "" || strings.Contains(e.Message, "\n") {
			t.Errorf("%v: message %q, next %q", tt.err, e.Message, e.Next)
		}
	}
}

// The end of a provider's pause is printed in local time, for local and remote errors.
func TestWaitIsToldInLocalTime(t *testing.T) {
	until := time.Date(2026, 3, 10, 19, 0, 0, 0, time.UTC)
	want := "the source asked for a pause until " + output.FormatTime(until) + "; nothing was started"
	for _, err := range []error{
		&store.WaitError{Sender: "api", Until: until},
		&api.Error{Code: api.CodeProviderWait, Until: &until, ConnectionID: "cin_a_1",
			Message: "The source asked for a pause until 2026-03-10 19:00:00 UTC. Nothing was started."},
	} {
		if e := Describe(err); e.Message != want || e.Exit != ExitWait {
			t.Errorf("%q, exit %d", e.Message, e.Exit)
		}
	}
}

func TestDescribeRedacts(t *testing.T) {
	e := Describe(errors.New("connect postgres://ada:hunter22@db/pdpp: token=abcdef123 refused"))
	if strings.Contains(e.Message, "hunter22") || strings.Contains(e.Message, "abcdef123") {
		t.Errorf("message shows a secret: %s", e.Message)
	}
}

func TestDescribeFaults(t *testing.T) {
	invalid := *interaction.ErrInvalidAnswer
	invalid.Param, invalid.Message = "code", invalid.Message+": code, name"
	for _, tt := range []struct {
		err     error
		exit    int
		message string
	}{
		{&invalid, ExitUsage, "the answer does not fit the question's form: code, name"},
		{interaction.ErrNotPending, ExitNotFound, interaction.ErrNotPending.Message},
		{interaction.ErrAlreadyAnswered, ExitFailed, interaction.ErrAlreadyAnswered.Message},
	} {
		e := Describe(tt.err)
		if e.Exit != tt.exit || e.Message != tt.message || e.Next == "" {
			t.Errorf("%v: %+v", tt.err, e)
		}
	}
}

func TestDescribeOwner(t *testing.T) {
	tests := []struct {
		err  error
		code string
		exit int
	}{
		{api.NotFound("There is no such thing.", "Look."), api.CodeNotFound, ExitNotFound},
		{api.Invalid("label", "That is wrong.", "Fix it."), api.CodeInvalid, ExitUsage},
		{&api.Error{Status: 401, Code: api.CodeUnauthenticated, Message: "No."}, api.CodeUnauthenticated, ExitOwner},
		{&api.Error{Status: 409, Code: api.CodeRunActive, Message: "Busy.", RunID: "run_1"}, api.CodeRunActive, ExitActive},
		{&api.Error{Status: 503, Code: api.CodeUnreachable, Message: "Gone.", Next: "Wait."}, api.CodeUnreachable,
			ExitStorage},
		{&api.Error{Status: 503, Code: "storage_full", Message: "Full.", Next: "Wait."}, "storage_full", ExitStorage},
		{&api.Error{Status: 409, Code: api.CodeRevoked, Message: "Over.", Next: "Connect."}, api.CodeRevoked, ExitFailed},
		{&api.Error{Status: 503, Message: "x", Err: &store.FaultError{Fault: store.FaultLocked, Err: errors.New("y")}},
			"storage_locked", ExitStorage},
		{&usererr.Error{Code: backup.CodeWrongKey, Message: "m", Next: "n"}, backup.CodeWrongKey, ExitOwner},
		{&usererr.Error{Code: backup.CodeHomeInUse, Message: "m", Next: "n"}, backup.CodeHomeInUse, ExitActive},
		{&usererr.Error{Code: backup.CodeDamaged, Message: "m", Next: "n"}, backup.CodeDamaged, ExitFailed},
	}
	for _, tt := range tests {
		e := Describe(fmt.Errorf("wrapped: %w", tt.err))
		if e.Code != tt.code || e.Exit != tt.exit || e.Message == "" || e.Next == "" {
			t.Errorf("%v: %+v, want %s %d", tt.err, e, tt.code, tt.exit)
		}
	}
}

// That no worker is there reads the same whether the command or a server found it.
func TestNoWorkerReadsTheSameEverywhere(t *testing.T) {
	arrived := *scheduler.ErrNoWorker
	arrived.Message = "No worker is there to make the run."
	here, there := Describe(scheduler.ErrNoWorker), Describe(&arrived)
	if here.Message != there.Message || here.Next != there.Next || here.Exit != there.Exit {
		t.Errorf("here %+v, from a server %+v", here, there)
	}
}
