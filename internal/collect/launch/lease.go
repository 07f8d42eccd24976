package launch

import (
	"context"
	"errors"
	"time"

	"github.com/pdpp-go/pdpp/internal/collect/runner"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// Lease timing: a dead process is noticed within LeaseTTL, and a live one has
// two renewals to spare before it could be mistaken for dead.
const (
	LeaseTTL   = 20 * time.Second
	renewEvery = 6 * time.Second
)

// Pauses between two attempts to record an outcome. The first is short: most
// outages are a connection that broke.
const (
	firstRecordPause   = 250 * time.Millisecond
	longestRecordPause = 4 * time.Second
)

// renewLease renews the lease until the context ends, the lease is lost or the owner stops the run. It returns the time
// since which the lease is held: the start of the last successful renewal.
func (l *Launcher) renewLease(ctx context.Context, lease store.Lease, heldSince time.Time,
	cancel context.CancelCauseFunc) time.Time {
	tick := time.NewTicker(min(renewEvery, l.leaseTTL()/3))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return heldSince
		case <-tick.C:
		}
		asked := time.Now()
		stop, err := l.Store.RenewLease(ctx, lease, l.leaseTTL(), l.now())
		switch {
		case errors.Is(err, store.ErrLeaseLost):
			cancel(err)
			return heldSince
		case stop:
			cancel(runner.ErrOwnerCancelled)
			return asked
		case err == nil:
			heldSince = asked
		}
		// Any other error is left to the next tick: the commit path reports a
		// store that stays unusable, with its own next step.
	}
}

// recordOutcome stores the outcome. It retries a failing storage for one lease time since heldSince, in which no other
// process can take the connection. A cancelled run is recorded too.
func (l *Launcher) recordOutcome(ctx context.Context, lease store.Lease, outcome runner.Outcome,
	heldSince time.Time) error {
	ctx = context.WithoutCancel(ctx)
	row, ended := storeOutcome(outcome), l.now()
	err := l.Store.FinishRun(ctx, lease, row, ended)
	for pause := firstRecordPause; err != nil && !store.IsPermanentError(err); pause = min(2*pause, longestRecordPause) {
		left := l.leaseTTL() - time.Since(heldSince)
		if left <= 0 {
			return err
		}
		<-time.NewTimer(min(pause, left)).C
		err = l.Store.FinishRun(ctx, lease, row, ended)
		if errors.Is(err, store.ErrLeaseLost) {
			err = l.unlessRecorded(ctx, lease.RunID, row.Status, err)
		}
	}
	return err
}

// unlessRecorded returns the error of a lost lease, unless the store has this run's outcome: then an earlier attempt
// succeeded and only its response was lost.
func (l *Launcher) unlessRecorded(ctx context.Context, runID string, as store.RunStatus, lost error) error {
	r, err := l.Store.Run(ctx, runID)
	switch {
	case err != nil:
		return err
	case r.CompletedAt != nil && r.Status == as:
		return nil
	default:
		return lost
	}
}

func (l *Launcher) leaseTTL() time.Duration {
	if l.LeaseTTL > 0 {
		return l.LeaseTTL
	}
	return LeaseTTL
}
