// Package repair connects the actions asked of the owner with their completion. It keeps a record of every action
// that a verdict asks for and detects in the evidence that the owner did it. It then requests the one run that
// confirms it, and reopens the record if that run shows that nothing was fixed.
//
// Step decides and is pure. Watcher reads and writes for it. Neither runs a connector or derives a verdict: package
// view judges the evidence, and the scheduler starts the run.
//
// A client that offers to turn on a paused schedule acknowledges the record of that action; the watcher does the
// rest. Every other action is detected from its evidence.
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

// ErrStale means that another process saved a record in the meantime.
var ErrStale = errors.New("the record was changed meanwhile")

// Store is the storage that the watcher needs.
type Store interface {
	// Records returns the open records of these connections, and those closed at or after the time.
	Records(ctx context.Context, connectionIDs []string, closedSince time.Time) ([]attention.AttentionRecord, error)
	// Save writes the records and, if run is not empty, requests exactly one confirming run of that connection,
	// atomically. It returns ErrStale if another process saved one of them meanwhile.
	Save(ctx context.Context, records []attention.AttentionRecord, run string) error
	// EnableSchedule turns an existing schedule on; false if there is none.
	EnableSchedule(ctx context.Context, connectionID string, now time.Time) (bool, error)
}

// Watcher checks connections. All its fields must be set.
type Watcher struct {
	Store Store
	// RuntimeOK is false while the runtime that serves all connections is itself the fault.
	RuntimeOK func(ctx context.Context) (bool, error)
	NewID     func() string
	Log       *slog.Logger
}

// Check checks every connection of the page, and returns when to check connections again. A connection that cannot be
// saved does not block the others; the next check decides again.
func (w *Watcher) Check(ctx context.Context, page []evidence.Evidence, now time.Time) (again map[string]time.Time,
	err error) {
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
		if heal.ErrorCode == HoldChangedMeanwhile { // saving a record does not trigger a check
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

// One checks one connection and returns the result.
func (w *Watcher) One(ctx context.Context, e *evidence.Evidence, now time.Time) (Heal, error) {
	kept, ok, err := w.read(ctx, []string{e.Connection.ID}, now)
	if err != nil {
		return Heal{}, err
	}
	return w.one(ctx, e, kept[e.Connection.ID], ok, now)
}

// connectionRecords are the records of one connection.
type connectionRecords struct{ open, closed []attention.AttentionRecord }

func (w *Watcher) read(ctx context.Context, ids []string, now time.Time) (map[string]connectionRecords, bool, error) {
	ok, err := w.RuntimeOK(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("read the state of the runtime: %w", err)
	}
	records, err := w.Store.Records(ctx, ids, now.Add(-confirmWindow))
	if err != nil {
		return nil, false, fmt.Errorf("read attention records: %w", err)
	}
	kept := map[string]connectionRecords{}
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

func (w *Watcher) one(ctx context.Context, e *evidence.Evidence, k connectionRecords, ok bool, now time.Time) (Heal,
	error) {
	id := e.Connection.ID
	plan := Step(e, view.Judge(e, now, ok), k.open, k.closed, now)
	if plan.Enable {
		on, err := w.Store.EnableSchedule(ctx, id, now)
		if err != nil {
			return Heal{}, fmt.Errorf("switch the schedule of %s on: %w", id, err)
		}
		if on { // the change is durable: decide what follows at once
			e = withScheduleEnabled(e, now)
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
			return newHeal(id, &Plan{Hold: HoldChangedMeanwhile, Satisfied: plan.Satisfied}, now), nil
		}
		if err != nil {
			return Heal{}, fmt.Errorf("save attention records of %s: %w", id, err)
		}
	}
	if plan.Run {
		w.Log.InfoContext(ctx, "confirming run asked for", "connection_id", id, "actions", len(plan.Satisfied))
	}
	return newHeal(id, &plan, now), nil
}

// withScheduleEnabled returns the evidence with its schedule turned on now.
func withScheduleEnabled(e *evidence.Evidence, now time.Time) *evidence.Evidence {
	out := *e
	schedule := *e.Schedule
	schedule.Enabled, schedule.UpdatedAt = true, now
	out.Schedule = &schedule
	return &out
}
