package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"pdpp/internal/keep/store"
	"pdpp/internal/keep/store/storetest"
)

// measureDeletion deletes all records of a store without delay, and asks for pages of the console meanwhile.
func measureDeletion(ctx context.Context, c config, dir string, r *report) error {
	return onBoth(ctx, c, dir, "deletion", func(kind string, st store.Store, settle func() error) error {
		now := func() time.Time { return storetest.Now.Add(time.Hour) }
		h, err := surface(ctx, st, now)
		if err != nil {
			return err
		}
		if err := keep(ctx, st, 0, c.Kept); err != nil {
			return fmt.Errorf("keep %d records: %w", c.Kept, err)
		}
		if err := settle(); err != nil {
			return err
		}
		size := func() float64 {
			room, err := st.Room(ctx)
			if err != nil || room.Database == nil {
				return 0
			}
			return float64(*room.Database) / (1 << 20)
		}
		before := size()
		idle, _, err := visit(h, func(int) string { return "/" })
		if err != nil {
			return err
		}
		stop := visitUntil(ctx, h)
		began := time.Now()
		hidden, err := deleteAll(ctx, st, now())
		took := time.Since(began)
		busy := stop()
		if err != nil {
			return err
		}
		slices.Sort(busy)
		r.tell(figure{Name: fmt.Sprintf("%s, deleting %d records for good", kind, c.Kept), Value: took.Seconds(), Unit: "s",
			Note: fmt.Sprintf("hidden after %.0f s; %.0f MiB before, %.0f MiB after", hidden.Seconds(), before, size())})
		r.tell(figure{Name: kind + ", the console's first page meanwhile, p95", Value: percentile(busy, 0.95), Unit: "ms",
			Note: fmt.Sprintf("p50 %.1f ms, longest %.0f ms of %d; before p50 %.1f ms, p95 %.1f ms", percentile(busy, 0.5), percentile(busy, 1), len(busy), percentile(idle, 0.5), percentile(idle, 0.95))})
		return nil
	})
}

// deleteAll deletes everything at once, and returns after how long it was hidden.
func deleteAll(ctx context.Context, st store.Store, now time.Time) (hidden time.Duration, err error) {
	began := time.Now()
	err = st.AskDeletion(ctx, store.Deletion{ID: "bench", DeletionScope: store.DeletionScope{Kind: store.DeleteEverything}, AskedAt: now, PurgeAfter: now})
	for idle := false; err == nil && !idle; {
		if idle, err = st.AdvanceDeletion(ctx, now); err != nil {
			return hidden, err
		}
		if hidden == 0 {
			d, err := st.Deletion(ctx, "bench")
			if err != nil {
				return hidden, err
			}
			if d.State != store.DeletionHiding {
				hidden = time.Since(began)
			}
		}
	}
	if err != nil {
		return hidden, err
	}
	return hidden, st.FinishDeletions(ctx, now)
}

// visitUntil asks for the console's first page again and again until it is stopped.
func visitUntil(ctx context.Context, h http.Handler) (stop func() []float64) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	var took []float64
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if ms, _, err := get(h, "/"); err == nil {
				took = append(took, ms)
			}
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() []float64 { cancel(); <-done; return took }
}
