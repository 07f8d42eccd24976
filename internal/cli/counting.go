package cli

import (
	"context"
	"sync/atomic"
	"time"

	"pdpp/internal/store"
)

// countingStore passes everything on and counts what the commits of a run change.
type countingStore struct {
	store.Store
	written, unchanged   atomic.Int64
	gapsOpened, gapsDone atomic.Int64
}

func (c *countingStore) CommitSlice(ctx context.Context, l store.Lease, s store.Slice, now time.Time) (store.Committed, error) {
	done, err := c.Store.CommitSlice(ctx, l, s, now)
	if err != nil {
		return done, err
	}
	c.written.Add(int64(done.Written))
	c.unchanged.Add(int64(done.Unchanged))
	for _, g := range s.Gaps {
		if g.LeaseID == "" {
			c.gapsOpened.Add(1)
		}
	}
	c.gapsDone.Add(int64(len(s.Recovered)))
	return done, nil
}
