package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pdpp/internal/collect/catalog"
	"pdpp/internal/collect/runner"
	"pdpp/internal/keep/store"
)

// ReasonUnconfirmed ends a run whose foreign connector the owner has not confirmed as it is now.
// It is not started.
const ReasonUnconfirmed runner.Reason = "connector_unconfirmed"

// Confirm notes the owner's word that a foreign connector may run as it is now.
func Confirm(ctx context.Context, kept store.Confirmations, c catalog.Connector, now time.Time) error {
	d, err := c.Demand()
	if err != nil {
		return err
	}
	return kept.ConfirmConnector(ctx, store.Confirmation{ConnectorID: c.Name, Executable: d.Executable, Variables: d.Variables, Paths: d.Paths, ConfirmedAt: now})
}

// Unconfirmed says why a connector must not run; empty means that it may. A built-in one came
// with this program and needs no word.
func Unconfirmed(ctx context.Context, kept store.Confirmations, c catalog.Connector) (why string, err error) {
	if c.Builtin {
		return "", nil
	}
	confirmed, err := kept.ConfirmedConnector(ctx, c.Name)
	if errors.Is(err, store.ErrNotFound) {
		return "you have not confirmed the connector " + c.Name, nil
	}
	if err != nil {
		return "", fmt.Errorf("read what was confirmed of connector %s: %w", c.Name, err)
	}
	d, err := c.Demand()
	if err != nil {
		return "", err
	}
	if !d.Within(catalog.Demand{Executable: confirmed.Executable, Variables: confirmed.Variables, Paths: confirmed.Paths}) {
		return "the connector " + c.Name + " is not as it was when you confirmed it", nil
	}
	return "", nil
}

// refusal is the end of a run that may not start; nil when it may. One that cannot start
// needs no confirmation to say so.
func (l *Launcher) refusal(ctx context.Context, c catalog.Connector) *runner.Outcome {
	if lack := c.Unstartable(); lack != nil {
		return lacking(lack)
	}
	if !l.OnlyConfirmed {
		return nil
	}
	why, err := Unconfirmed(ctx, l.Store, c)
	if err == nil && why == "" {
		return nil
	}
	f := &runner.Failure{Reason: ReasonUnconfirmed, Origin: runner.OriginRuntime, Err: err, Message: why}
	if err != nil {
		f.Reason, f.Origin, f.Message = runner.ReasonStorage, runner.OriginStorage, err.Error()
	}
	return &runner.Outcome{Status: runner.Failed, Failure: f, ExitCode: -1}
}
