package serve

import (
	"context"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// backfillEvery is how often stored records are compared with the declarations.
const backfillEvery = 15 * time.Second

// backfillPause lets other writers proceed between two steps.
const backfillPause = 20 * time.Millisecond

// backfill updates stored records and field indexes to the connectors' current declarations, step by step, for as
// long as the process runs. A failed step is retried after backfillEvery.
func (s *process) backfill(ctx context.Context) {
	for {
		done, err := s.Store.BackfillDerived(ctx)
		if done && err == nil {
			done, err = s.Store.IndexFields(ctx, store.IndexAbove, s.Now())
		}
		pause := backfillPause
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.Log.WarnContext(ctx, "updating stored records to their declaration failed; it is retried", "error", err)
			pause = backfillEvery
		case done:
			pause = backfillEvery
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}
