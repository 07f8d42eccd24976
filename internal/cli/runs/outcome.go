package runs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// runFailure returns why a run failed, the next step and the exit code. It returns nil for a successful run.
func runFailure(o runner.Outcome, m *manifest.Manifest, conn store.Connection, runID string) *failure.Error {
	f := o.Failure
	if f == nil {
		return nil
	}
	again, look := "pdpp run "+conn.ID, "pdpp run show "+runID
	e := &failure.Error{Code: string(f.Reason), Message: f.Message, Exit: failure.ExitFailed}
	var fault *store.FaultError
	var lack *catalog.NeedError
	var choice *manifest.ChoiceError
	switch {
	case errors.As(f.Err, &fault):
		e = failure.Describe(f.Err)
	case errors.Is(f.Err, store.ErrLeaseLost):
		e.Message, e.Next = "another run has taken this connection over", "See it: pdpp runs --connection "+conn.ID
	case f.Origin == runner.OriginStorage:
		e.Exit, e.Next = failure.ExitStorage, "Check the database, then run again: "+again
	case o.Status == runner.Cancelled:
		e.Exit, e.Next = failure.ExitCancelled, "Finished slices are kept. Continue: "+again
	case f.Reason == launch.ReasonCredential:
		e.Exit, e.Next = failure.ExitOwner,
			"Fix it, or enter the credential again (pdpp credential set "+conn.ID+"), then run again: "+again
	case errors.As(f.Err, &lack):
		e.Exit, e.Next = failure.ExitOwner, lack.Next+" Then run again: "+again
	case errors.As(f.Err, &choice) && choice.Param == "stream":
		e.Exit, e.Next = failure.ExitOwner, "See what is collected, and how to collect more: pdpp select "+conn.ID
	case f.Reason == launch.ReasonSelection:
		e.Exit, e.Next = failure.ExitOwner, "Choose again what is collected: pdpp select "+conn.ID+" --profile ID, or --all"
	case ownerMustAct(o):
		e.Exit, e.Next = failure.ExitOwner, ownerNextStep(o, m, conn.ID)
	case f.Reason == runner.ReasonViolation:
		e.Next = "The connector broke the protocol; finished slices are kept. See " + look + " and update the connector."
	default:
		e.Next = "Finished slices are kept. See what happened (" + look + "), then run again: " + again
	}
	if o.DoneError != nil && o.DoneError.Code != "" && e.Code == string(runner.ReasonConnectorFailed) {
		e.Code = o.DoneError.Code
	}
	return e
}

// ownerMustAct reports whether the run cannot succeed before the owner does something.
func ownerMustAct(o runner.Outcome) bool {
	f := o.Failure
	if f.Reason == runner.ReasonBindingMissing {
		return strings.HasSuffix(f.Message, " "+string(manifest.BindingInteractive))
	}
	if f.Violation != nil {
		return f.Violation.Subtype == protocol.NoInteractiveBinding
	}
	for _, g := range o.KnownGaps {
		if g.Kind == protocol.KnownInteraction {
			return true
		}
		if g.Kind == protocol.KnownRunFailed && f.Reason == runner.ReasonConnectorFailed {
			return g.RecoveryHint.Action == protocol.RefreshCredentials || g.RecoveryHint.Action == protocol.ManualActionRequired
		}
	}
	return f.Reason == runner.ReasonAssistanceTimedOut
}

func ownerNextStep(o runner.Outcome, m *manifest.Manifest, connectionID string) string {
	again := "pdpp run " + connectionID
	if f := o.Failure; f.Reason == runner.ReasonBindingMissing || f.Violation != nil {
		return "The source has a question for you. Run it in a terminal: " + again
	}
	names := m.CredentialEnv()
	if len(names) == 0 {
		return "Do what the message asks for, then run again: " + again
	}
	return fmt.Sprintf("Check %s (each may be a NAME_FILE too), or store the credential (pdpp credential set "+
		"%s), then run again: %s",
		strings.Join(names, ", "), connectionID, again)
}
