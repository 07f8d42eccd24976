package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

func testReclaim(t *testing.T, s store.Store) {
	ctx := t.Context()
	reclaim := func(at time.Time, limit int) (ids []string) {
		t.Helper()
		ended, err := s.AbandonExpiredRuns(ctx, at, limit)
		ok(t, err)
		for _, r := range ended {
			ids = append(ids, r.ID)
			got, err := s.Run(ctx, r.ID)
			ok(t, err)
			same(t, r, got)
			same(t, r.Status, store.RunAbandoned)
			same(t, r.CompletedAt, &at)
		}
		return ids
	}
	same(t, reclaim(farFuture, 10), nil)
	l := begin(t, s, "c", "r1")
	report(t, s, l, Now, missingGap("g"))
	same(t, len(leaseGaps(t, s, l, 1, Now)), 1)
	ok(t, s.OpenInteraction(ctx, l, store.Interaction{RequestID: "q", Kind: protocol.AskOTP, OpenedAt: Now}, Now))
	ok(t, s.RequestCancel(ctx, "r1", Now))
	done := begin(t, s, "done", "r2")
	finish(t, s, done, Now)
	connect(t, s, "idle")
	at := Now.Add(ttl) // the lease ends at this moment
	same(t, reclaim(at.Add(-time.Microsecond), 10), nil)
	same(t, reclaim(at, 10), []string{"r1"})
	same(t, reclaim(at, 10), nil)

	// The result of a takeover, without another run.
	events, err := s.RunEvents(ctx, "r1", 0, 0)
	ok(t, err)
	same(t, eventTypes(events), []string{"1 run.started", "2 run.abandoned"})
	same(t, gapOf(t, s, "c", "g").Status, protocol.GapPending)
	open, err := s.OpenInteractions(ctx, "")
	ok(t, err)
	same(t, open, nil)
	_, err = s.ActiveLease(ctx, "c")
	fails(t, err, store.ErrNotFound)
	signals, err := s.Signals(ctx, Now)
	ok(t, err)
	same(t, signals, store.Signals{})
	for name, write := range leaseWrites {
		if err := write(ctx, s, l, at); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("%s after Reclaim: %v", name, err)
		}
	}
	same(t, start(t, s, "c", "r3", at).Generation, l.Generation+1)

	// The earliest expired come first.
	for i, id := range []string{"x", "y", "z"} {
		connect(t, s, id)
		start(t, s, id, "r-"+id, Now.Add(time.Duration(i)*time.Second))
	}
	same(t, reclaim(at.Add(time.Minute-time.Second), 2), []string{"r-x", "r-y"})
	same(t, reclaim(at.Add(time.Minute-time.Second), 2), []string{"r-z"})
}

// testAbandonRace checks that a run that renews its lease during the reclaim keeps it or loses it completely, and
// that only one of several processes reclaims it.
func testAbandonRace(t *testing.T, d shared) {
	stores := d.stores(t, 3)
	var leases []store.Lease
	for i := range 12 {
		leases = append(leases, begin(t, stores[0], fmt.Sprint("c", i), fmt.Sprint("r", i)))
	}
	at := Now.Add(ttl)
	renewed := make([]error, len(leases))
	ended := make([][]store.Run, 2)
	var wg sync.WaitGroup
	for i, l := range slices.Backward(leases) {
		wg.Go(func() { _, renewed[i] = stores[0].RenewLease(t.Context(), l, ttl, at) })
	}
	for i := range ended {
		wg.Go(func() {
			var err error
			if ended[i], err = stores[1+i].AbandonExpiredRuns(t.Context(), at, 100); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	times := map[string]int{}
	for _, r := range slices.Concat(ended...) {
		times[r.ID]++
	}
	for i, l := range leases {
		active, err := stores[0].ActiveLease(t.Context(), l.ConnectionID)
		if renewed[i] == nil {
			ok(t, err)
			same(t, active.RunID, l.RunID)
			same(t, times[l.RunID], 0)
			put(t, stores[0], l, live("a", "1"))
			continue
		}
		fails(t, renewed[i], store.ErrLeaseLost)
		fails(t, err, store.ErrNotFound)
		same(t, times[l.RunID], 1)
	}
}

func testSignals(t *testing.T, s store.Store) {
	ctx := t.Context()
	reported := func() store.Signals {
		t.Helper()
		got, err := s.Signals(ctx, Now)
		ok(t, err)
		return got
	}
	same(t, reported(), store.Signals{})
	l, m := begin(t, s, "c", "r1"), begin(t, s, "d", "r2")
	same(t, reported(), store.Signals{})
	ok(t, s.RequestCancel(ctx, "r2", Now))
	ok(t, s.RequestCancel(ctx, "r1", Now))
	for _, id := range []string{"q2", "q1"} {
		ok(t, s.OpenInteraction(ctx, m, store.Interaction{RequestID: id, Kind: protocol.AskOTP, Key: []byte("k"),
			OpenedAt: Now}, Now))
	}
	same(t, reported(), store.Signals{Cancelled: []string{"r1", "r2"}})
	ok(t, s.AnswerInteraction(ctx, "r2", "q2", []byte("sealed"), Now))
	ok(t, s.AnswerInteraction(ctx, "r2", "q1", []byte("sealed"), Now))
	finish(t, s, l, Now)
	same(t, reported(), store.Signals{Cancelled: []string{"r2"},
		Answered: []store.AnsweredQuestion{{RunID: "r2", RequestID: "q1"}, {RunID: "r2", RequestID: "q2"}}})
	ok(t, s.CloseInteraction(ctx, m, "q1", protocol.ResponseSuccess, Now))
	same(t, reported(), store.Signals{Cancelled: []string{"r2"},
		Answered: []store.AnsweredQuestion{{RunID: "r2", RequestID: "q2"}}})
	finish(t, s, m, Now)
	same(t, reported(), store.Signals{})
}
