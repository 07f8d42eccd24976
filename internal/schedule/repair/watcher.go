// Package repair closes the circle between what the owner is asked and what they
// did: it keeps a record of every action that a verdict asks of them, sees in the
// evidence that one was taken, asks for the one run that confirms it, and takes
// the record back up when that run shows that nothing was fixed.
//
// Step decides, and is pure. Watcher reads and writes for it. Neither runs a
// connector or derives a verdict: the evidence is judged by package view, and the
// run is somebody else's to start.
//
// A surface that offers to switch a paused schedule on acknowledges the record of
// that action; the watcher does the rest. Every other action is recognised by its
// evidence alone.
package repair

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/attention"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/view"
)

// ErrStale says that a record was saved by somebody else meanwhile.
var ErrStale = errors.New("the record was changed meanwhile")

// Store is what the watcher keeps.
type Store interface {
	// Records gives the open records of these connections, and those closed at or
	// after the moment.
	Records(ctx context.Context, connectionIDs []string, closedSince time.Time) ([]attention.Record, error)
	// Save writes the records and, when run is not empty, asks for exactly one
	// confirming run of that connection, all or nothing. ErrStale when somebody
	// else saved one of them meanwhile.
	Save(ctx context.Context, records []attention.Record, run string) error
	// EnableSchedule switches an existing schedule on; false when there is none.
	EnableSchedule(ctx context.Context, connectionID string, now time.Time) (bool, error)
}

// Watcher looks at connections. All its fields must be set.
type Watcher struct {
	Store Store
	// RuntimeOK is false while the runtime that serves all connections is itself
	// the fault.
	RuntimeOK func(ctx context.Context) (bool, error)
	NewID     func() string
	Log       *slog.Logger
}

// Check looks at every connection of the page, and gives those that it wants to
// look at again at a certain time. A connection that cannot be saved does not keep
// the others from being looked at; the next look decides again.
func (w *Watcher) Check(ctx context.Context, page []evidence.Evidence, now time.Time) (again map[string]time.Time, err error) {
	if len(page) == 0 {
		return nil, nil
	}
	ids := make([]string, len(page))
	for i := range page {
		ids[i] = page[i].Connection.ID
	}
	kept, ok, err := w.read(ctx, ids, now)
	if err != nil {
		return nil, err
	}
	var failed []error
	for i := range page {
		heal, err := w.one(ctx, &page[i], kept[ids[i]], ok, now)
		if err != nil {
			failed = append(failed, err)
		}
		at := heal.NotBefore
		if heal.ErrorCode == HoldChangedMeanwhile { // whoever saves a record does not ask for a look
			at = &now
		}
		if at != nil {
			if again == nil {
				again = map[string]time.Time{}
			}
			again[ids[i]] = *at
		}
	}
	return again, errors.Join(failed...)
}

// One looks at one connection, and tells what came of it.
func (w *Watcher) One(ctx context.Context, e *evidence.Evidence, now time.Time) (Heal, error) {
	kept, ok, err := w.read(ctx, []string{e.Connection.ID}, now)
	if err != nil {
		return Heal{}, err
	}
	return w.one(ctx, e, kept[e.Connection.ID], ok, now)
}

// known are the records of one connection.
type known struct{ open, closed []attention.Record }

func (w *Watcher) read(ctx context.Context, ids []string, now time.Time) (map[string]known, bool, error) {
	ok, err := w.RuntimeOK(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("read the state of the runtime: %w", err)
	}
	records, err := w.Store.Records(ctx, ids, now.Add(-confirmWindow))
	if err != nil {
		return nil, false, fmt.Errorf("read attention records: %w", err)
	}
	kept := map[string]known{}
	for i := range records {
		k := kept[records[i].ConnectionID]
		if records[i].Open() {
			k.open = append(k.open, records[i])
		} else {
			k.closed = append(k.closed, records[i])
		}
		kept[records[i].ConnectionID] = k
	}
	return kept, ok, nil
}

func (w *Watcher) one(ctx context.Context, e *evidence.Evidence, k known, ok bool, now time.Time) (Heal, error) {
	id := e.Connection.ID
	plan := Step(e, view.Judge(e, now, ok), k.open, k.closed, now)
	if plan.Enable {
		on, err := w.Store.EnableSchedule(ctx, id, now)
		if err != nil {
			return Heal{}, fmt.Errorf("switch the schedule of %s on: %w", id, err)
		}
		if on { // the flip is durable: what follows from it is decided at once
			e = enabled(e, now)
			plan = Step(e, view.Judge(e, now, ok), k.open, k.closed, now)
		}
	}
	for i := range plan.Save {
		if plan.Save[i].ID == "" {
			plan.Save[i].ID = w.NewID()
		}
	}
	if len(plan.Save) > 0 {
		run := ""
		if plan.Run {
			run = id
		}
		err := w.Store.Save(ctx, plan.Save, run)
		if errors.Is(err, ErrStale) {
			return healOf(id, &Plan{Hold: HoldChangedMeanwhile, Satisfied: plan.Satisfied}, now), nil
		}
		if err != nil {
			return Heal{}, fmt.Errorf("save attention records of %s: %w", id, err)
		}
	}
	if plan.Run {
		w.Log.InfoContext(ctx, "confirming run asked for", "connection_id", id, "actions", len(plan.Satisfied))
	}
	return healOf(id, &plan, now), nil
}

// enabled is the evidence with its schedule switched on now.
func enabled(e *evidence.Evidence, now time.Time) *evidence.Evidence {
	out := *e
	schedule := *e.Schedule
	schedule.Enabled, schedule.UpdatedAt = true, now
	out.Schedule = &schedule
	return &out
}
