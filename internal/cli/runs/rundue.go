package runs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/command"
	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/cli/output"
	"github.com/pdpp-go/pdpp/internal/cli/schedule"
	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// dueRunsResult is the result of --due, as --json prints it.
type dueRunsResult struct {
	Runs []runSummary `json:"runs"`
	// Errors are the due connections that could not be run.
	Errors  []dueConnectionError          `json:"errors"`
	Skipped []schedule.ConnectionSchedule `json:"skipped"`
}

type dueConnectionError struct {
	ConnectionID string         `json:"connection_id"`
	Error        *failure.Error `json:"error"`
}

// dueRunsPass is one pass over all connections.
type dueRunsPass struct {
	*command.Invocation
	store      store.Store
	connectors catalog.Catalog
	silence    time.Duration
	verbose    bool
	result     dueRunsResult
	exits      []int // of what failed
}

func rejectNamesWithDue(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("--due runs every connection that is due, and takes no name: %q", args[0])
	}
	return nil
}

func runDueConnections(ctx context.Context, inv *command.Invocation, verbose bool) (err error) {
	d := &dueRunsPass{Invocation: inv, verbose: verbose}
	if d.connectors, err = inv.Connectors(); err != nil {
		return err
	}
	if d.silence, err = inv.NoProgressLimit(); err != nil {
		return err
	}
	if d.store, err = inv.OpenStore(ctx, command.MustExist); err != nil {
		return err
	}
	defer func() {
		if closeErr := d.store.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("close the database: %w", closeErr)
		}
	}()
	d.connectors = launch.AsChosen(d.connectors, d.store)
	all, err := service.AllEvidence(ctx, d.store)
	if err != nil {
		return err
	}
	for i := range all {
		if err := d.runIfDue(ctx, &all[i]); err != nil {
			return err
		}
		if ctx.Err() != nil {
			d.exits = []int{failure.ExitCancelled}
			break
		}
	}
	if inv.JSON {
		output.WriteJSON(inv.Out, d.result)
	} else if len(d.result.Runs)+len(d.result.Errors) == 0 && len(d.exits) == 0 {
		d.printNothingDue()
	}
	if code := combineExitCodes(d.exits); code != failure.ExitOK {
		return &failure.ExitError{Code: code}
	}
	return nil
}

// runIfDue runs a connection if it is due. It returns an error only if the database cannot be used, which would fail
// every connection. A failed run is part of the result.
func (d *dueRunsPass) runIfDue(ctx context.Context, e *evidence.Evidence) error {
	row := schedule.Explain(service.ScheduleOf(e, d.Env.Now()))
	if !row.Due {
		d.addSkipped(row)
		return nil
	}
	found, err := command.FindConnector(ctx, d.connectors, e.Connection.ConnectorID)
	if err != nil {
		d.addError(e.Connection.ID, err)
		return nil
	}
	fresh, row, err := d.readFreshEvidence(ctx, e.Connection.ID, found)
	if err != nil {
		return err
	}
	if !row.Due {
		d.addSkipped(row)
		return nil
	}
	s, err := d.startRun(ctx, fresh, found, row.RecoveryOnly)
	var fault *store.FaultError
	var waits *store.WaitError
	switch {
	case errors.Is(err, store.ErrRunActive):
		d.addSkipped(row.WithReason(cadence.Running, nil))
		return nil
	case errors.As(err, &waits):
		d.addSkipped(row.WithReason(cadence.ProviderWait, &waits.Until))
		return nil
	case errors.As(err, &fault):
		return err
	case err != nil:
		d.addError(e.Connection.ID, err)
		return nil
	}
	d.addRun(s)
	err = scheduler.RecordBackoff(context.WithoutCancel(ctx), d.store, e.Connection.ID, s.RunID, d.Env.Now())
	if err != nil {
		return fmt.Errorf("record the wait of %s: %w", e.Connection.ID, err)
	}
	return nil
}

// readFreshEvidence reads the evidence again just before the start: earlier runs may have taken long, another pass may
// be active, and the connector may have a new policy.
func (d *dueRunsPass) readFreshEvidence(ctx context.Context, id string,
	found catalog.Connector) (*evidence.Evidence, schedule.ConnectionSchedule, error) {
	facts, err := d.store.Evidence(ctx, evidence.Query{ConnectionIDs: []string{id}})
	if err != nil {
		return nil, schedule.ConnectionSchedule{}, err
	}
	if len(facts) == 0 {
		return nil, schedule.ConnectionSchedule{}, store.ErrNotFound
	}
	e := facts[0]
	e.Refresh = found.Manifest.RefreshPolicy()
	return &e, schedule.Explain(service.ScheduleOf(&e, d.Env.Now())), nil
}

// startRun runs the connection without asking questions.
func (d *dueRunsPass) startRun(ctx context.Context, e *evidence.Evidence, found catalog.Connector,
	recoveryOnly bool) (runSummary, error) {
	if err := d.CheckVariables(found.Manifest); err != nil {
		return runSummary{}, err
	}
	conn, err := d.store.Connection(ctx, e.Connection.ID)
	if err != nil {
		return runSummary{}, err
	}
	display := &runDisplay{} // progress is shown on a terminal only
	if _, watched := output.TerminalFile(d.ErrOut); watched {
		display = newRunDisplay(d.Invocation, conn)
	}
	return collectConnection(ctx, d.Invocation, d.store, conn, found, display, launch.RunRequest{
		ConnectionID: conn.ID, Trigger: store.TriggerScheduled, Mode: protocol.Incremental, RecoveryOnly: recoveryOnly,
		SparePressure: recoveryOnly,
		Options:       runner.Options{NoProgress: d.silence, Observe: display.observe}, Started: display.started,
	})
}
