package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// leaseWrites are all methods that take a lease. Each would change something if the lease were valid.
var leaseWrites = map[string]func(context.Context, store.Store, store.Lease, time.Time) error{
	"RenewLease": func(ctx context.Context, s store.Store, l store.Lease, now time.Time) error {
		_, err := s.RenewLease(ctx, l, time.Hour, now)
		return err
	},
	"FinishRun": func(ctx context.Context, s store.Store, l store.Lease, now time.Time) error {
		return s.FinishRun(ctx, l, store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}},
			now)
	},
	"CommitSlice": func(ctx context.Context, s store.Store, l store.Lease, now time.Time) error {
		_, err := s.CommitSlice(ctx, l, slice.Slice{
			Records: []slice.Record{live("a", "stale"), live("new", "1")},
			Gaps:    []slice.Gap{missingGap("other")},
			Cursors: []slice.Cursor{{Stream: Stream, Cursor: []byte(`{"n":99}`)}},
			Events:  []slice.Event{{Type: "run.state_advanced"}},
		}, now)
		return err
	},
	"LeaseGaps": func(ctx context.Context, s store.Store, l store.Lease, now time.Time) error {
		_, err := s.LeaseGaps(ctx, l, store.GapPage{Page: 1, Limit: 10, TTL: time.Hour}, now)
		return err
	},
	"ReleaseGaps": func(ctx context.Context, s store.Store, l store.Lease, now time.Time) error {
		return s.ReleaseGaps(ctx, l, []string{store.GapID(l.ConnectionID, "", missingGap("g"))}, now)
	},
	"OpenInteraction": func(ctx context.Context, s store.Store, l store.Lease, now time.Time) error {
		return s.OpenInteraction(ctx, l, store.Interaction{RequestID: "q2", Kind: protocol.AskOTP, OpenedAt: now}, now)
	},
	"CloseInteraction": func(ctx context.Context, s store.Store, l store.Lease, now time.Time) error {
		return s.CloseInteraction(ctx, l, "q", protocol.ResponseSuccess, now)
	},
}

// testFencing takes a connection over and tries every write of the old run.
func testFencing(t *testing.T, s store.Store) {
	t.Attr("spec", "PB-08")
	old := begin(t, s, "c", "r1")
	commit(t, s, old, slice.Slice{
		Records: []slice.Record{live("a", "1")},
		Gaps:    []slice.Gap{missingGap("g")},
		Cursors: []slice.Cursor{{Stream: Stream, Cursor: []byte(`{"n":1}`)}},
	}, Now)
	at := Now.Add(2 * ttl)
	fresh := start(t, s, "c", "r2", at)
	ok(t, s.OpenInteraction(t.Context(), fresh, store.Interaction{RequestID: "q", Kind: protocol.AskOTP, OpenedAt: at},
		at))
	before := everything(t, s, "c")

	foreign := fresh
	foreign.RunID = "r1" // the right generation, the wrong run
	early := fresh
	early.Generation--
	elsewhere := fresh
	elsewhere.ConnectionID = "d"
	for _, l := range []store.Lease{old, foreign, early, elsewhere} {
		for name, write := range leaseWrites {
			if err := write(t.Context(), s, l, at); err == nil {
				t.Errorf("%s was allowed for %+v", name, l)
			} else {
				fails(t, err, store.ErrLeaseLost)
			}
		}
	}
	same(t, everything(t, s, "c"), before)
	put(t, s, fresh, live("a", "2"))
}

// testExpiredLeaseStillWrites checks that a slow run may continue while no other has taken over.
func testExpiredLeaseStillWrites(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	late := Now.Add(time.Hour)
	commit(t, s, l, slice.Slice{Records: []slice.Record{live("a", "1")}}, late)
	_, err := s.RenewLease(t.Context(), l, ttl, late)
	ok(t, err)
	_, err = s.StartRun(t.Context(), runStart("c", "r2"), late)
	fails(t, err, store.ErrRunActive)
}

// snapshot is what an observer can see of a connection.
type snapshot struct {
	Changes      []store.StoredRecord
	Streams      []store.StreamInfo
	Cursors      []store.Cursor
	Log          []store.CursorCommit
	Gaps         []store.Gap
	Runs         []store.Run
	Events       map[string][]store.Event
	Interactions []store.Interaction
	Lease        store.Lease
}

// everything reads all that a run could have changed.
func everything(t testing.TB, s store.Store, connection string) (v snapshot) {
	t.Helper()
	ctx := t.Context()
	var err error
	v.Changes = changes(t, s, connection)
	v.Streams, err = s.Streams(ctx, connection)
	ok(t, err)
	v.Cursors, err = s.Cursors(ctx, connection, "")
	ok(t, err)
	v.Log, err = s.CursorLog(ctx, store.CursorID{ConnectionID: connection, Stream: Stream}, 0)
	ok(t, err)
	v.Gaps, err = s.ListGaps(ctx, store.GapQuery{ConnectionID: connection})
	ok(t, err)
	v.Runs, err = s.ListRuns(ctx, store.RunQuery{ConnectionID: connection})
	ok(t, err)
	v.Events = map[string][]store.Event{}
	for _, r := range v.Runs {
		v.Events[r.ID], err = s.RunEvents(ctx, r.ID, 0, 0)
		ok(t, err)
	}
	v.Interactions, err = s.OpenInteractions(ctx, connection)
	ok(t, err)
	v.Lease, err = s.ActiveLease(ctx, connection)
	ok(t, err)
	return v
}
