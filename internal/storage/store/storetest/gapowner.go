package storetest

import (
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

func testGapRetry(t *testing.T, s store.Store) {
	ctx := t.Context()
	_, err := s.RetryGap(ctx, "gap_0", Now)
	fails(t, err, store.ErrNotFound)
	l := begin(t, s, "c", "r1")
	report(t, s, l, Now, missingGap("a"), missingGap("b"))
	floor := Now.Add(time.Hour)
	for _, g := range leaseGaps(t, s, l, 1, Now) {
		w := missingGap(g.RecordKey)
		w.GapID, w.LeaseID, w.Retryable, w.NotBefore = g.ID, g.LeaseID, g.RecordKey == "b", &floor
		report(t, s, l, Now, w)
	}
	at := Now.Add(time.Minute)
	for _, key := range []string{"a", "b"} { // one terminal, one waiting
		g, err := s.RetryGap(ctx, gapOf(t, s, "c", key).ID, at)
		ok(t, err)
		same(t, g, gapOf(t, s, "c", key))
		same(t, g.Status, protocol.GapPending)
		same(t, g.AttemptCount, 0)
		same(t, g.NotBefore, nil)
		same(t, g.UpdatedAt, at)
	}
	again := leaseGaps(t, s, l, 2, at) // at once, by the active run
	same(t, len(again), 2)
	commit(t, s, l, slice.Slice{Recovered: []slice.GapRef{refOf(again[0])}}, at)
	_, err = s.RetryGap(ctx, again[0].ID, at)
	fails(t, err, store.ErrNotFound)

	// A leased gap stays with its run, under the same token.
	g, err := s.RetryGap(ctx, again[1].ID, at)
	ok(t, err)
	same(t, g.Status, protocol.GapInProgress)
	commit(t, s, l, slice.Slice{Recovered: []slice.GapRef{refOf(again[1])}}, at)
}

func testGapIgnore(t *testing.T, s store.Store) {
	ctx := t.Context()
	_, err := s.IgnoreGap(ctx, "gap_0", "why", Now)
	fails(t, err, store.ErrNotFound)
	l := begin(t, s, "c", "r1")
	report(t, s, l, Now, missingGap("a"), missingGap("b"), missingGap("c"))
	id := gapOf(t, s, "c", "a").ID
	if _, err := s.IgnoreGap(ctx, id, " ", Now); err == nil {
		t.Error("a gap was ignored without a reason")
	}
	g, err := s.IgnoreGap(ctx, id, "an old draft", Now.Add(time.Second))
	ok(t, err)
	same(t, g, gapOf(t, s, "c", "a"))
	same(t, []string{string(g.Status), g.IgnoredWhy}, []string{"terminal", "an old draft"})
	report(t, s, l, Now, missingGap("a")) // reported again, still ignored
	g = gapOf(t, s, "c", "a")
	same(t, []string{string(g.Status), g.IgnoredWhy}, []string{"terminal", "an old draft"})

	// For gaps that the run holds, its tokens stay valid and the owner's decision applies.
	leased := leaseGaps(t, s, l, 1, Now)
	same(t, len(leased), 2)
	for _, g := range leased {
		_, err := s.IgnoreGap(ctx, g.ID, "enough", Now)
		ok(t, err)
	}
	w := missingGap(leased[0].RecordKey)
	w.GapID, w.LeaseID = leased[0].ID, leased[0].LeaseID
	commit(t, s, l, slice.Slice{Gaps: []slice.Gap{w}, Attempts: []slice.GapRef{refOf(leased[1])}}, Now)
	l = next(t, s, l, "r2", Now)
	for _, g := range leased {
		same(t, gapOf(t, s, "c", g.RecordKey).Status, protocol.GapTerminal)
	}
	same(t, leaseGaps(t, s, l, 1, Now), nil)

	g, err = s.RetryGap(ctx, id, Now)
	ok(t, err)
	same(t, []string{string(g.Status), g.IgnoredWhy}, []string{"pending", ""})
	commit(t, s, l, slice.Slice{Recovered: []slice.GapRef{{GapID: id}}}, Now)
	_, err = s.IgnoreGap(ctx, id, "why", Now)
	fails(t, err, store.ErrNotFound)
}
