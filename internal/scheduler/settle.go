package scheduler

import (
	"context"

	"pdpp/internal/cadence"
	"pdpp/internal/evidence"
	"pdpp/internal/store"
	"time"
)

// Settle records how long to wait after a scheduled run that ended. Before is the
// evidence from before it. Nothing is recorded when another run has taken over:
// that one decides.
func Settle(ctx context.Context, st store.Store, before *evidence.Evidence, runID string, now time.Time) error {
	id := before.Connection.ID
	found, err := st.Evidence(ctx, evidence.Query{ConnectionIDs: []string{id}})
	if err != nil {
		return wrap(err, "read evidence")
	}
	if len(found) == 0 || found[0].LastRun == nil || found[0].LastRun.ID != runID {
		return nil
	}
	previous := cadence.Standing(before)
	return keepWait(ctx, st, id, previous, cadence.AfterRun(previous, *found[0].LastRun, cadence.Every(before), now))
}

func keepWait(ctx context.Context, st store.Store, connectionID string, previous, next *evidence.Backoff) error {
	switch next {
	case previous:
		return nil
	case nil:
		return wrap(st.ClearBackoff(ctx, connectionID), "end the wait")
	default:
		return wrap(st.PutBackoff(ctx, store.Backoff{ConnectionID: connectionID, Backoff: *next}), "record the wait")
	}
}
