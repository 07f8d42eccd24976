package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pdpp/internal/keep/store"
	"pdpp/internal/keep/store/storetest"
	"pdpp/internal/slice"
)

// What the owner of the measured stores keeps: sources with streams, over years.
const (
	keptSources = 14
	keptStreams = 3
	keptYears   = 17
	keptFew     = 50_000
)

// measureOverview asks for the overview of many records and of few, spread over the same sources
// and years by the writer that runs use.
func measureOverview(ctx context.Context, c config, dir string, r *report) error {
	return onBoth(ctx, c, dir, "overview", func(kind string, st store.Store, settle func() error) error {
		var p50 []float64
		now := func() time.Time { return storetest.Now.Add(time.Hour) }
		h, err := surface(ctx, st, now)
		if err != nil {
			return err
		}
		done := 0
		for _, n := range []int{keptFew, c.Kept} {
			if err := keep(ctx, st, done, n); err != nil {
				return fmt.Errorf("keep %d records: %w", n, err)
			}
			done = n
			if err := settle(); err != nil {
				return err
			}
			var took []float64
			size := 0
			for i := range visits + 5 {
				ms, bytes, err := get(h, "/records")
				if err != nil {
					return err
				}
				if i >= 5 { // the first prepare statements
					took, size = append(took, ms), bytes
				}
			}
			slices.Sort(took)
			p50 = append(p50, percentile(took, 0.5))
			r.tell(figure{Name: fmt.Sprintf("%s, overview of %d records, p95", kind, n), Value: percentile(took, 0.95), Unit: "ms", Below: 200,
				Note: fmt.Sprintf("p50 %.1f ms, %d KiB", percentile(took, 0.5), size>>10)})
		}
		r.tell(figure{Name: fmt.Sprintf("%s, overview of %d against that of %d", kind, c.Kept, keptFew), Value: p50[1] / p50[0], Unit: "x", Below: 1.5})
		return nil
	})
}

// keep stores the records from one number up to another: each source has its share and its years,
// the later ones more.
func keep(ctx context.Context, st store.Store, from, to int) error {
	specs := make([]store.StreamSpec, keptStreams)
	for i := range specs {
		specs[i] = store.StreamSpec{Name: fmt.Sprint("stream-", i), TimeField: "at"}
	}
	share := (to - from) / (keptSources * keptStreams)
	for source := range keptSources {
		id := fmt.Sprintf("cin_kept_%02d", source)
		if from == 0 {
			if err := st.CreateConnection(ctx, store.Connection{ID: id, ConnectorID: "kept", DisplayName: fmt.Sprint("Source ", source), Status: store.ConnectionActive,
				SourceKind: store.SourceAccount, CreatedAt: storetest.Now, UpdatedAt: storetest.Now}); err != nil {
				return err
			}
		}
		l, err := st.StartRun(ctx, store.RunStart{RunID: fmt.Sprint(id, "-", from), ConnectionID: id, ConnectorID: "kept", Trigger: store.TriggerManual, Holder: "bench", TTL: time.Hour, Streams: specs}, storetest.Now)
		if err != nil {
			return err
		}
		days := (keptYears - source) * 365
		for _, spec := range specs {
			for first := 0; first < share; first += 4000 {
				part := make([]slice.Record, min(4000, share-first))
				for i := range part {
					n := first + i
					at := storetest.Now.AddDate(0, 0, -days+int(int64(n)*int64(days)/int64(share))+1).UTC()
					part[i] = slice.Record{Stream: spec.Name, Key: fmt.Sprint(from, "-", n), Data: fmt.Appendf(nil, `{"id":%d,"at":%q}`, n, at.Format(time.DateOnly)),
						EmittedAt: "2026-01-02T03:04:05Z", SemanticTime: at.Format("2006-01-02") + "T10:00:00.000000Z"}
				}
				if _, err := st.CommitSlice(ctx, l, slice.Slice{Records: part}, storetest.Now); err != nil {
					return err
				}
			}
		}
		if err := st.FinishRun(ctx, l, store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, storetest.Now); err != nil {
			return err
		}
	}
	return nil
}
