package launch

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func TestSecondStarterIsToldWhoRuns(t *testing.T) {
	b := newBed(t)
	b.env["AWAIT"] = fifo(t)
	first, outcome := background(t, b.launcher(t, "waits between slices"), RunRequest{})

	_, err := b.launcher(t, "collects").
		Run(t.Context(), RunRequest{ConnectionID: connection, Trigger: store.TriggerManual})
	var active *store.ActiveRunError
	if !errors.As(err, &active) || active.RunID != first || active.ConnectionID != connection || active.Holder != "test" {
		t.Errorf("second starter gets %v", err)
	}
	release(t, b.env["AWAIT"])
	r, err := outcome()
	if err != nil {
		t.Fatal(err)
	}
	mustSucceed(t, r)
	if diff := cmp.Diff([]string{"before", "after"}, b.keys(t)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	mustSucceed(t, b.run(t, "collects", RunRequest{})) // the connection is free again
}

// later is a launcher for which the first run's lease has long expired.
func (b *bed) later(t *testing.T, role string) *Launcher {
	l := b.launcher(t, role)
	l.Now = func() time.Time { return time.Now().Add(time.Hour) }
	return l
}

// asleep is the store of a process that was suspended: it does not renew.
type asleep struct{ store.Store }

func (asleep) RenewLease(context.Context, store.Lease, time.Duration, time.Time) (bool, error) {
	return false, nil
}

// A run with a lease that another took over cannot write: its next commit fails and ends it, and it is recorded as
// abandoned.
func TestExpiredLeaseIsTakenOver(t *testing.T) {
	b := newBed(t)
	b.env["AWAIT"] = fifo(t)
	l := b.launcher(t, "waits between slices")
	l.Store = asleep{b.store}
	old, outcome := background(t, l, RunRequest{})

	heir, err := b.later(t, "collects").
		Run(t.Context(), RunRequest{ConnectionID: connection, Trigger: store.TriggerManual})
	if err != nil {
		t.Fatal(err)
	}
	mustSucceed(t, heir)
	if row := b.row(t, old); row.Status != store.RunAbandoned {
		t.Errorf("old run = %+v", row)
	}
	release(t, b.env["AWAIT"])
	r, err := outcome()
	if err != nil {
		t.Errorf("the old run's end: %v", err)
	}
	if r.Status != runner.Failed || r.Failure.Reason != runner.ReasonStorage ||
		!errors.Is(r.Failure.Err, store.ErrLeaseLost) {
		t.Errorf("old run ended as %s: %v", r.Status, r.Failure)
	}
	if diff := cmp.Diff([]string{"before", "1", "2"}, b.keys(t)); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if row := b.row(t, old); row.Status != store.RunAbandoned || !slices.Contains(b.timeline(t, old), "run.abandoned") {
		t.Errorf("old run = %+v", row)
	}
	cursors, err := b.store.Cursors(t.Context(), connection, "")
	if err != nil || cursors[0].RunID != heir.RunID {
		t.Errorf("cursors = %+v, %v", cursors, err)
	}
}

// A run that writes nothing notices the loss when it renews.
func TestLostLeaseIsNoticedWhileQuiet(t *testing.T) {
	b := newBed(t)
	l := b.launcher(t, "waits for ever")
	l.LeaseTTL = 30 * time.Millisecond
	old, outcome := background(t, l, RunRequest{})
	if _, err := b.later(t, "collects").Run(t.Context(),
		RunRequest{ConnectionID: connection, Trigger: store.TriggerManual}); err != nil {
		t.Fatal(err)
	}
	r, err := outcome()
	if err != nil || r.Status == runner.Succeeded || !errors.Is(r.Failure.Err, store.ErrLeaseLost) {
		t.Errorf("old run ended as %s: %v, %v", r.Status, r.Failure, err)
	}
	if row := b.row(t, old); row.Status != store.RunAbandoned {
		t.Errorf("old run = %+v", row)
	}
}

func TestOwnerCancelStopsTheRun(t *testing.T) {
	b := newBed(t)
	l := b.launcher(t, "waits for ever")
	l.LeaseTTL = 30 * time.Millisecond // the wish arrives with a renewal
	id, outcome := background(t, l, RunRequest{})
	if err := b.store.RequestCancel(t.Context(), id, time.Now()); err != nil {
		t.Fatal(err)
	}
	r, err := outcome()
	if err != nil || r.Status != runner.Cancelled || r.Failure.Reason != runner.ReasonOwnerCancelled {
		t.Errorf("run ended as %s: %v, %v", r.Status, r.Failure, err)
	}
	row := b.row(t, id)
	if row.Status != store.RunCancelled || row.FailureReason != "owner_cancelled" ||
		!slices.Contains(b.timeline(t, id), "run.cancelled") {
		t.Errorf("run = %+v", row)
	}
	if diff := cmp.Diff([]string{"before"}, b.keys(t)); diff != "" { // finished slices stay
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func TestShutdownIsRecorded(t *testing.T) {
	b := newBed(t)
	ctx, stop := context.WithCancel(t.Context())
	req := RunRequest{ConnectionID: connection, Trigger: store.TriggerManual}
	req.Options.Observe = func(u runner.Update) {
		if u.Message == "ready" {
			stop()
		}
	}
	r, err := b.launcher(t, "waits for ever").Run(ctx, req)
	if err != nil || r.Status != runner.Cancelled || r.Failure.Reason != runner.ReasonShutdown {
		t.Errorf("run ended as %s: %v, %v", r.Status, r.Failure, err)
	}
	if row := b.row(t, r.RunID); row.Status != store.RunCancelled || row.CompletedAt == nil {
		t.Errorf("run = %+v", row)
	}
}

// unread is a store that cannot read cursors.
type unread struct{ store.Store }

var errFull = errors.New("disk is full")

func (unread) Cursors(context.Context, string, string) ([]store.Cursor, error) { return nil, errFull }

func TestStoreFailsBeforeTheRun(t *testing.T) {
	b := newBed(t)
	l := b.launcher(t, "collects")
	l.Store = unread{b.store}
	r, err := l.Run(t.Context(), RunRequest{ConnectionID: connection, Trigger: store.TriggerManual})
	if err != nil || r.RunID == "" {
		t.Errorf("run = %+v, %v", r, err)
	}
	if r.Failure == nil || r.Failure.Reason != runner.ReasonStorage || !errors.Is(r.Failure.Err, errFull) {
		t.Errorf("cursors cannot be read: %+v", r.Failure)
	}
	if keys := b.keys(t); len(keys) > 0 {
		t.Errorf("a run without its cursors collected %v", keys)
	}
}
