package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/catalog"
	"github.com/pdpp-go/pdpp/internal/collect/launch"
	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/service"
	"github.com/pdpp-go/pdpp/internal/schedule/scheduler"
	"github.com/pdpp-go/pdpp/protocol"
)

// dueResult is what --due did, as --json prints it.
type dueResult struct {
	Runs []summary `json:"runs"`
	// Errors are of connections that were due, and whose run could not be started
	// or recorded.
	Errors  []dueError    `json:"errors"`
	Skipped []scheduleRow `json:"skipped"`
}

type dueError struct {
	ConnectionID string `json:"connection_id"`
	Error        *Error `json:"error"`
}

// dueRun is one pass over all connections.
type dueRun struct {
	*app
	store      store.Store
	connectors catalog.Catalog
	silence    time.Duration
	verbose    bool
	result     dueResult
	exits      []int // of what failed
}

func noneWithDue(args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("--due runs every connection that is due, and takes no name: %q", args[0])
	}
	return nil
}

func (a *app) runDue(ctx context.Context, verbose bool) (err error) {
	d := &dueRun{app: a, verbose: verbose}
	if d.connectors, err = a.connectors(); err != nil {
		return err
	}
	if d.silence, err = a.noProgress(); err != nil {
		return err
	}
	if d.store, err = a.openStore(ctx, mustExist); err != nil {
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
		if err := d.consider(ctx, &all[i]); err != nil {
			return err
		}
		if ctx.Err() != nil {
			d.exits = []int{ExitCancelled}
			break
		}
	}
	if a.json {
		writeJSON(a.out, d.result)
	} else if len(d.result.Runs)+len(d.result.Errors) == 0 && len(d.exits) == 0 {
		d.printNothing()
	}
	if code := oneExit(d.exits); code != ExitOK {
		return &exitOnly{code}
	}
	return nil
}

// consider runs a connection if it is due. The error is for a database that
// cannot be used: it would fail every other connection too. A run that fails is
// in the result.
func (d *dueRun) consider(ctx context.Context, e *evidence.Evidence) error {
	row := newScheduleRow(service.ScheduleOf(e, d.env.Now()))
	if !row.Due {
		d.skip(row)
		return nil
	}
	found, err := findConnector(ctx, d.connectors, e.Connection.ConnectorID)
	if err != nil {
		d.fail(e.Connection.ID, err)
		return nil
	}
	fresh, row, err := d.lookAgain(ctx, e.Connection.ID, found)
	if err != nil {
		return err
	}
	if !row.Due {
		d.skip(row)
		return nil
	}
	s, err := d.start(ctx, fresh, found, row.RecoveryOnly)
	var fault *store.FaultError
	var waits *store.WaitError
	switch {
	case errors.Is(err, store.ErrRunActive):
		d.skip(row.because(cadence.Running, nil))
		return nil
	case errors.As(err, &waits):
		d.skip(row.because(cadence.ProviderWait, &waits.Until))
		return nil
	case errors.As(err, &fault):
		return err
	case err != nil:
		d.fail(e.Connection.ID, err)
		return nil
	}
	d.tell(s)
	if err := scheduler.Settle(context.WithoutCancel(ctx), d.store, e.Connection.ID, s.RunID, d.env.Now()); err != nil {
		return fmt.Errorf("record the wait of %s: %w", e.Connection.ID, err)
	}
	return nil
}

// lookAgain decides by what holds just before the start: other runs may have
// taken long, another pass may be under way, and the connector may have been
// replaced by one that declares another policy than was recorded.
func (d *dueRun) lookAgain(ctx context.Context, id string, found catalog.Connector) (*evidence.Evidence, scheduleRow, error) {
	facts, err := d.store.Evidence(ctx, evidence.Query{ConnectionIDs: []string{id}})
	if err != nil {
		return nil, scheduleRow{}, err
	}
	if len(facts) == 0 {
		return nil, scheduleRow{}, store.ErrNotFound
	}
	e := facts[0]
	e.Refresh = found.Manifest.RefreshPolicy()
	return &e, newScheduleRow(service.ScheduleOf(&e, d.env.Now())), nil
}

// start runs the connection. Nobody is there to be asked.
func (d *dueRun) start(ctx context.Context, e *evidence.Evidence, found catalog.Connector, recoveryOnly bool) (summary, error) {
	if err := d.checkVariables(found.Manifest); err != nil {
		return summary{}, err
	}
	conn, err := d.store.Connection(ctx, e.Connection.ID)
	if err != nil {
		return summary{}, err
	}
	display := &runDisplay{} // progress is for somebody who looks on
	if _, watched := terminal(d.errOut); watched {
		display = d.newRunDisplay(conn)
	}
	return d.collect(ctx, d.store, conn, found, display, launch.Request{
		ConnectionID: conn.ID, Trigger: store.TriggerScheduled, Mode: protocol.Incremental, RecoveryOnly: recoveryOnly, SparePressure: recoveryOnly,
		Options: runner.Options{NoProgress: d.silence, Observe: display.observe}, Started: display.started,
	})
}
