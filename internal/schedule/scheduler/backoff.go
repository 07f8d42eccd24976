package scheduler

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/cadence"
	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// RecordBackoff records how long to wait after a finished run: a scheduled or abandoned run, or any that succeeded.
// If another run has ended since, it records nothing.
func RecordBackoff(ctx context.Context, st store.Store, connectionID, runID string, now time.Time) error {
	found, err := st.Evidence(ctx, evidence.Query{ConnectionIDs: []string{connectionID}})
	if err != nil {
		return wrapError(err, "read evidence")
	}
	if len(found) == 0 || found[0].LastRun == nil || found[0].LastRun.ID != runID {
		return nil
	}
	e := &found[0]
	previous := cadence.CurrentBackoff(e)
	next := cadence.AfterRun(previous, *e.LastRun, cadence.RunInterval(e), now)
	switch {
	case next == nil && e.Backoff != nil:
		return wrapError(st.ClearBackoff(ctx, connectionID), "end the wait")
	case next == previous: // unchanged
		return nil
	default:
		return wrapError(st.PutBackoff(ctx, store.Backoff{ConnectionID: connectionID, Backoff: *next}), "record the wait")
	}
}
