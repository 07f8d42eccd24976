package scheduler

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/keep/store"
)

// Settle records how long to wait after a run that ended: one of the schedule, by
// itself or by the death of its process, or any that succeeded. Nothing is recorded
// when another run has come after it: that one decides.
func Settle(ctx context.Context, st store.Store, connectionID, runID string, now time.Time) error {
	found, err := st.Evidence(ctx, evidence.Query{ConnectionIDs: []string{connectionID}})
	if err != nil {
		return wrap(err, "read evidence")
	}
	if len(found) == 0 || found[0].LastRun == nil || found[0].LastRun.ID != runID {
		return nil
	}
	e := &found[0]
	previous := cadence.Standing(e)
	next := cadence.AfterRun(previous, *e.LastRun, cadence.Every(e), now)
	switch {
	case next == nil && e.Backoff != nil:
		return wrap(st.ClearBackoff(ctx, connectionID), "end the wait")
	case next == previous: // nothing was learnt, or there is no wait
		return nil
	default:
		return wrap(st.PutBackoff(ctx, store.Backoff{ConnectionID: connectionID, Backoff: *next}), "record the wait")
	}
}
