package runs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

func testOutcome(status runner.Status, f *runner.Failure, gaps ...runner.KnownGap) runner.Outcome {
	return runner.Outcome{Status: status, Failure: f, KnownGaps: gaps}
}

func testFailedGap(action protocol.RecoveryAction) runner.KnownGap {
	return runner.KnownGap{Kind: protocol.KnownRunFailed, RecoveryHint: protocol.RecoveryHint{Action: action}}
}

func TestRunError(t *testing.T) {
	connector := func(reason runner.Reason) *runner.Failure {
		return &runner.Failure{Reason: reason, Origin: runner.OriginConnector, Message: "m"}
	}
	full := &store.FaultError{Fault: store.FaultFull, Where: "pdpp.db", Err: errors.New("no space left")}
	tests := []struct {
		name string
		o    runner.Outcome
		code string
		exit int
		next string
	}{
		{"succeeded", testOutcome(runner.Succeeded, nil), "", failure.ExitOK, ""},
		{"failed", testOutcome(runner.Failed, connector(runner.ReasonConnectorFailed),
			testFailedGap(protocol.RetryByRuntime)), "connector_reported_failed", failure.ExitFailed, "pdpp run show run_1"},
		{"cancelled", testOutcome(runner.Cancelled, connector(runner.ReasonOwnerCancelled)), "owner_cancelled",
			failure.ExitCancelled, "Continue: pdpp run cin_a_1"},
		{"shut down", testOutcome(runner.Cancelled, &runner.Failure{Reason: runner.ReasonShutdown, Err: context.Canceled}),
			"runtime_shutdown", failure.ExitCancelled, "Continue"},
		{"credentials", testOutcome(runner.Failed, connector(runner.ReasonConnectorFailed),
			testFailedGap(protocol.RefreshCredentials)), "connector_reported_failed", failure.ExitOwner, "Check PEAR_TOKEN"},
		{"something to do", testOutcome(runner.Failed, connector(runner.ReasonConnectorFailed),
			testFailedGap(protocol.ManualActionRequired)), "connector_reported_failed", failure.ExitOwner, "then run again"},
		{"the word token in a crash is not a request", testOutcome(runner.Failed, connector(runner.ReasonExitWithoutDone),
			testFailedGap(protocol.RefreshCredentials)), "connector_exit_without_done", failure.ExitFailed, "See what happened"},
		{"unanswered", testOutcome(runner.Failed, connector(runner.ReasonConnectorFailed),
			runner.KnownGap{Kind: protocol.KnownInteraction}), "connector_reported_failed", failure.ExitOwner, "then run again"},
		{"help did not come", testOutcome(runner.Failed, connector(runner.ReasonAssistanceTimedOut)), "assistance_timed_out",
			failure.ExitOwner, "then run again"},
		{"violation", testOutcome(runner.Failed, &runner.Failure{Reason: runner.ReasonViolation,
			Violation: &protocol.Violation{Subtype: protocol.MessageAfterDone}}), "connector_protocol_violation",
			failure.ExitFailed, "update the connector"},
		{"question without a terminal",
			testOutcome(runner.Failed, &runner.Failure{Reason: runner.ReasonViolation,
				Violation: &protocol.Violation{Subtype: protocol.NoInteractiveBinding}}), "connector_protocol_violation",
			failure.ExitOwner, "in a terminal"},
		{"disk full", testOutcome(runner.Failed, &runner.Failure{Reason: runner.ReasonStorage, Origin: runner.OriginStorage,
			Err: fmt.Errorf("commit: %w", full)}), "storage_full", failure.ExitStorage, "Free some disk space"},
		{"a credential that does not open",
			testOutcome(runner.Failed, &runner.Failure{Reason: launch.ReasonCredential, Origin: runner.OriginRuntime,
				Message: "no"}), "credential_unreadable", failure.ExitOwner, "pdpp credential set"},
		{"other storage trouble", testOutcome(runner.Failed, &runner.Failure{Reason: runner.ReasonStorage,
			Origin: runner.OriginStorage, Err: errors.New("odd")}), "storage_error", failure.ExitStorage, "Check the database"},
		{"taken over", testOutcome(runner.Failed, &runner.Failure{Reason: runner.ReasonRuntimeError,
			Err: store.ErrLeaseLost}), "runtime_error", failure.ExitFailed, "pdpp runs --connection cin_a_1"},
	}
	m := &manifest.Manifest{RuntimeRequirements: &manifest.RuntimeRequirements{
		EnvironmentVariables: []manifest.EnvironmentVariable{{Name: "PEAR_TOKEN", Required: true, Secret: true}},
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := runFailure(tt.o, m, store.Connection{ID: "cin_a_1"}, "run_1")
			if e == nil {
				if tt.exit != failure.ExitOK {
					t.Fatal("no error")
				}
				return
			}
			if e.Code != tt.code || e.Exit != tt.exit || !strings.Contains(e.Next, tt.next) {
				t.Errorf("%s, exit %d, next %q", e.Code, e.Exit, e.Next)
			}
		})
	}
}
