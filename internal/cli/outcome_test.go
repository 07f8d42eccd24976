package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

func outcome(status runner.Status, f *runner.Failure, gaps ...runner.KnownGap) runner.Outcome {
	return runner.Outcome{Status: status, Failure: f, KnownGaps: gaps}
}

func failedGap(action protocol.RecoveryAction) runner.KnownGap {
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
		{"succeeded", outcome(runner.Succeeded, nil), "", ExitOK, ""},
		{"failed", outcome(runner.Failed, connector(runner.ReasonConnectorFailed), failedGap(protocol.RetryByRuntime)), "connector_reported_failed", ExitFailed, "pdpp run show run_1"},
		{"cancelled", outcome(runner.Cancelled, connector(runner.ReasonOwnerCancelled)), "owner_cancelled", ExitCancelled, "Continue: pdpp run cin_a_1"},
		{"shut down", outcome(runner.Cancelled, &runner.Failure{Reason: runner.ReasonShutdown, Err: context.Canceled}), "runtime_shutdown", ExitCancelled, "Continue"},
		{"credentials", outcome(runner.Failed, connector(runner.ReasonConnectorFailed), failedGap(protocol.RefreshCredentials)), "connector_reported_failed", ExitOwner, "Check PEAR_TOKEN"},
		{"something to do", outcome(runner.Failed, connector(runner.ReasonConnectorFailed), failedGap(protocol.ManualActionRequired)), "connector_reported_failed", ExitOwner, "then run again"},
		{"the word token in a crash is not a request", outcome(runner.Failed, connector(runner.ReasonExitWithoutDone), failedGap(protocol.RefreshCredentials)), "connector_exit_without_done", ExitFailed, "See what happened"},
		{"unanswered", outcome(runner.Failed, connector(runner.ReasonConnectorFailed), runner.KnownGap{Kind: protocol.KnownInteraction}), "connector_reported_failed", ExitOwner, "then run again"},
		{"help did not come", outcome(runner.Failed, connector(runner.ReasonAssistanceTimedOut)), "assistance_timed_out", ExitOwner, "then run again"},
		{"violation", outcome(runner.Failed, &runner.Failure{Reason: runner.ReasonViolation, Violation: &protocol.Violation{Subtype: protocol.MessageAfterDone}}), "connector_protocol_violation", ExitFailed, "update the connector"},
		{"question without a terminal", outcome(runner.Failed, &runner.Failure{Reason: runner.ReasonViolation, Violation: &protocol.Violation{Subtype: protocol.NoInteractiveBinding}}), "connector_protocol_violation", ExitOwner, "in a terminal"},
		{"disk full", outcome(runner.Failed, &runner.Failure{Reason: runner.ReasonStorage, Origin: runner.OriginStorage, Err: fmt.Errorf("commit: %w", full)}), "storage_full", ExitStorage, "Free some disk space"},
		{"a credential that does not open", outcome(runner.Failed, &runner.Failure{Reason: launch.ReasonCredential, Origin: runner.OriginRuntime, Message: "no"}), "credential_unreadable", ExitOwner, "pdpp credential set"},
		{"other storage trouble", outcome(runner.Failed, &runner.Failure{Reason: runner.ReasonStorage, Origin: runner.OriginStorage, Err: errors.New("odd")}), "storage_error", ExitStorage, "Check the database"},
		{"taken over", outcome(runner.Failed, &runner.Failure{Reason: runner.ReasonRuntimeError, Err: store.ErrLeaseLost}), "runtime_error", ExitFailed, "pdpp runs --connection cin_a_1"},
	}
	m := &manifest.Manifest{RuntimeRequirements: &manifest.RuntimeRequirements{
		EnvironmentVariables: []manifest.EnvironmentVariable{{Name: "PEAR_TOKEN", Required: true, Secret: true}},
	}}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := runError(tt.o, m, store.Connection{ID: "cin_a_1"}, "run_1")
			if e == nil {
				if tt.exit != ExitOK {
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
