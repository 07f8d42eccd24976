package serve

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// The server hides what an owner deletes, and removes it for good when the seven days are over and not before.
func TestDeletionIsPurgedInTime(t *testing.T) {
	const week = 7 * 24 * time.Hour
	onBoth(t, func(g *ground) {
		g.install("beds", needing("beds", `{"bindings":{"network":{"required":true}}}`), saying(""))
		g.connect("beds", "beds")
		now := time.Now()
		l, err := g.st.StartRun(g.t.Context(), store.RunStart{RunID: "r", ConnectionID: "beds", ConnectorID: "beds",
			Trigger: store.TriggerManual, Holder: "test", TTL: time.Hour,
			Streams: []store.StreamSpec{{Name: "beds"}}}, now)
		g.must(err)
		_, err = g.st.CommitSlice(g.t.Context(), l,
			slice.Slice{Records: []slice.Record{{Stream: "beds", Key: "b1", Data: []byte(`{"id":"b1"}`),
				EmittedAt: "2026-01-02T03:04:05Z"}}}, now)
		g.must(err)
		g.must(g.st.FinishRun(g.t.Context(), l, store.RunOutcome{Status: store.RunSucceeded}, now))
		g.must(g.st.RequestDeletion(g.t.Context(),
			store.Deletion{ID: "d", DeletionScope: store.DeletionScope{Kind: store.DeleteStream, ConnectionID: "beds",
				Stream: "beds"},
				AskedAt: now, PurgeAfter: now.Add(week)}))
		// It comes after the first one, so that the first one's turn is over when it is removed.
		g.must(g.st.RequestDeletion(g.t.Context(),
			store.Deletion{ID: "sooner", DeletionScope: store.DeletionScope{Kind: store.DeleteRange, ConnectionID: "beds",
				Until: "2001"},
				AskedAt: now, PurgeAfter: now.Add(time.Hour)}))
		g.ahead.Store(int64(week - time.Hour))
	}, func(t *testing.T, g *ground) {
		state := func(id string) store.DeletionState {
			d, err := g.st.Deletion(t.Context(), id)
			g.must(err)
			return d.State
		}
		g.until("the other one is removed for good", func() bool { return state("sooner") == store.DeletionPurged })
		if r, err := g.st.Record(t.Context(), "beds", "beds", "b1"); err != nil || !r.Deleted ||
			state("d") != store.DeletionHidden {
			t.Errorf("before its time it is %s; its record: %+v %v", state("d"), r, err)
		}
		g.ahead.Store(int64(week + time.Minute))
		g.until("it is removed for good", func() bool { return state("d") == store.DeletionPurged })
		d, err := g.st.Deletion(t.Context(), "d")
		g.must(err)
		changes, err := g.st.Changes(t.Context(),
			store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: "beds", Stream: "beds"},
				Limit: 10})
		g.must(err)
		if d.Purged != 1 || d.EndedAt == nil || len(changes) != 0 {
			t.Errorf("%+v, left: %+v", d, changes)
		}
	})
}
