package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// ReasonUnconfirmed ends a run of a foreign connector that the owner has not confirmed in its present form. It is not
// started.
const ReasonUnconfirmed runner.Reason = evidence.ReasonUnconfirmed

// Confirm notes the owner's word that a foreign connector may run as it is now.
func Confirm(ctx context.Context, kept store.Confirmations, c catalog.Connector, now time.Time) error {
	d, err := c.Demand()
	if err != nil {
		return err
	}
	return kept.ConfirmConnector(ctx, store.Confirmation{ConnectorID: c.Name, Executable: d.Executable,
		Variables: d.Variables, Paths: d.Paths, ConfirmedAt: now})
}

// Unconfirmed returns what keeps a connector from running until the owner has confirmed it; nil means that
// it may run. A built-in one came with this program and needs no confirmation.
func Unconfirmed(ctx context.Context, kept store.Confirmations, c catalog.Connector) (*catalog.NeedError, error) {
	if c.Builtin {
		return nil, nil
	}
	d, err := c.Demand()
	if err != nil {
		return nil, err
	}
	lack, err := UnconfirmedDemand(ctx, kept, c.Name, d)
	if lack != nil && c.Declared {
		lack.Next = "See what changed in its file, and accept it: in the console at /sources/add/from-file?name=" + c.Name +
			", or with pdpp connectors confirm " + c.Name + "."
	}
	return lack, err
}

// UnconfirmedDemand is Unconfirmed for what a foreign connector demands.
func UnconfirmedDemand(ctx context.Context, kept store.Confirmations, name string,
	d catalog.Demand) (*catalog.NeedError, error) {
	lack := &catalog.NeedError{Need: catalog.NeedConfirmation, Name: name,
		Next: "See what it asks for, and let it run, on the server's machine: pdpp connectors confirm " + name + "."}
	confirmed, err := kept.ConfirmedConnector(ctx, name)
	switch {
	case errors.Is(err, store.ErrNotFound):
		lack.What = "is a connector that you have not confirmed"
	case err != nil:
		return nil, fmt.Errorf("read what was confirmed of connector %s: %w", name, err)
	case !d.Within(catalog.Demand{Executable: confirmed.Executable, Variables: confirmed.Variables,
		Paths: confirmed.Paths}):
		lack.What = "changed since you confirmed it; confirm it again"
	default:
		return nil, nil
	}
	return lack, nil
}

// startRefusal returns the error of a run that may not start, or nil. A connector that cannot start needs no
// confirmation.
func (l *Launcher) startRefusal(ctx context.Context, c catalog.Connector) *runner.Outcome {
	if lack := c.Unstartable(); lack != nil {
		return missingNeeds(lack)
	}
	if !l.OnlyConfirmed {
		return nil
	}
	lack, err := Unconfirmed(ctx, l.Store, c)
	if err != nil {
		f := &runner.Failure{Reason: runner.ReasonStorage, Origin: runner.OriginStorage, Err: err, Message: err.Error()}
		return &runner.Outcome{Status: runner.Failed, Failure: f, ExitCode: -1}
	}
	if lack != nil {
		return missingNeeds(lack)
	}
	return nil
}
