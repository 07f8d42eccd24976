package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/storetest"
)

// measureDeletion deletes one record of a store without delay, then all of them, and asks for pages of the console
// meanwhile.
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
		streams, err := st.Streams(ctx, "")
		if err != nil {
			return err
		}
		part := store.AccessFilter{ConnectionID: streams[0].ConnectionID, Stream: streams[0].Name}
		one, err := st.ListRecords(ctx, store.RecordQuery{AccessFilter: part, Limit: 1})
		if err != nil {
			return err
		}
		single := store.DeletionScope{Kind: store.DeleteRecord, ConnectionID: part.ConnectionID, Stream: part.Stream,
			Key: one[0].Key}
		err = r.deleting(ctx, fmt.Sprintf("%s, deleting 1 record of %d for good", kind, c.Kept), st, h, single, now())
		if err != nil {
			return err
		}
		all := store.DeletionScope{Kind: store.DeleteEverything}
		return r.deleting(ctx, fmt.Sprintf("%s, deleting %d records for good", kind, c.Kept), st, h, all, now())
	})
}

// deleting measures one deletion.
func (r *report) deleting(ctx context.Context, name string, st store.Store, h http.Handler, scope store.DeletionScope,
	now time.Time) error {
	size := func() float64 {
		room, err := st.DiskUsage(ctx)
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
	phases, err := deleteNow(ctx, st, scope, now)
	meanwhile, refused := stop()
	if err != nil {
		return err
	}
	if len(refused) > 0 {
		return fmt.Errorf("%d of %d pages failed meanwhile: %w", len(refused), len(refused)+len(meanwhile), refused[0])
	}
	slowest := slices.MaxFunc(meanwhile, func(a, b pageVisit) int { return cmp.Compare(a.ms, b.ms) })
	var busy []float64
	for _, v := range meanwhile {
		busy = append(busy, v.ms)
	}
	slices.Sort(busy)
	r.tell(figure{Name: name, Value: phases.ended.Sub(phases.began).Seconds(), Unit: "s",
		Note: fmt.Sprintf("%s; %.0f MiB before, %.0f MiB after", phases, before, size())})
	r.tell(figure{Name: name + ", the console's first page meanwhile, p95", Value: percentile(busy, 0.95), Unit: "ms",
		Note: fmt.Sprintf("p50 %.1f ms, p99 %.1f ms, longest %.0f ms of %d while %s; before p50 %.1f ms, p95 %.1f ms",
			percentile(busy, 0.5), percentile(busy, 0.99), slowest.ms, len(busy), phases.at(slowest.began),
			percentile(idle, 0.5), percentile(idle, 0.95))})
	return nil
}

// deletionPhases are the moments at which a deletion reached its states.
type deletionPhases struct {
	began, hidden, purged, ended time.Time
	delayed                      int // how often compacting had to be tried again
}

// mostDelays bounds how often compacting is tried again.
const mostDelays = 60

func (p deletionPhases) String() string {
	return fmt.Sprintf("hidden in %.1f s, removed in %.1f s, compacted in %.1f s after %d delays",
		p.hidden.Sub(p.began).Seconds(), p.purged.Sub(p.hidden).Seconds(), p.ended.Sub(p.purged).Seconds(), p.delayed)
}

// at returns the phase of a moment.
func (p deletionPhases) at(moment time.Time) string {
	switch {
	case moment.Before(p.hidden):
		return "hiding"
	case moment.Before(p.purged):
		return "removing"
	}
	return "compacting"
}

// deleteNow deletes without a way back.
func deleteNow(ctx context.Context, st store.Store, scope store.DeletionScope, now time.Time) (
	p deletionPhases, err error) {
	p.began = time.Now()
	id := "bench-" + string(scope.Kind)
	err = st.RequestDeletion(ctx, store.Deletion{ID: id, DeletionScope: scope, AskedAt: now, PurgeAfter: now})
	for idle := false; err == nil && !idle; {
		if idle, err = st.AdvanceDeletion(ctx, now); err != nil {
			return p, err
		}
		if p.hidden.IsZero() {
			d, err := st.Deletion(ctx, id)
			if err != nil {
				return p, err
			}
			if d.State != store.DeletionHiding {
				p.hidden = time.Now()
			}
		}
	}
	if err != nil {
		return p, err
	}
	p.purged = time.Now()
	for ; ; p.delayed++ { // as the server does, but sooner
		err = st.FinishDeletions(ctx, now)
		if err == nil || p.delayed == mostDelays {
			break
		}
		time.Sleep(time.Second)
	}
	p.ended = time.Now()
	return p, err
}

// pageVisit is one request for a page.
type pageVisit struct {
	began time.Time
	ms    float64
}

// visitUntil asks for the console's first page again and again until it is stopped.
func visitUntil(ctx context.Context, h http.Handler) (stop func() (answered []pageVisit, refused []error)) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	var answered []pageVisit
	var refused []error
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			began := time.Now()
			if ms, _, err := get(h, "/"); err != nil {
				refused = append(refused, err)
			} else {
				answered = append(answered, pageVisit{began, ms})
			}
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return func() ([]pageVisit, []error) { cancel(); <-done; return answered, refused }
}
