package storetest

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// testGapLeaseTokens checks that only the token of the newest lease is accepted, and only once.
func testGapLeaseTokens(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1")
	report(t, s, l, Now, missingGap("a"), missingGap("b"))
	stale := leaseGaps(t, s, l, 1, Now)
	ok(t, s.ReleaseGaps(ctx, l, []string{stale[0].ID}, Now))
	reLeased := leaseGaps(t, s, l, 2, Now)
	same(t, len(reLeased), 1)

	settle := func(ref slice.GapRef) []slice.Slice {
		w := missingGap("a")
		w.GapID, w.LeaseID = ref.GapID, ref.LeaseID
		return []slice.Slice{{Attempts: []slice.GapRef{ref}}, {Recovered: []slice.GapRef{ref}}, {Gaps: []slice.Gap{w}}}
	}
	refused := func(ref slice.GapRef) {
		t.Helper()
		for _, part := range settle(ref) {
			_, err := s.CommitSlice(ctx, l, part, Now)
			fails(t, err, store.ErrGapLease)
		}
	}
	refused(refOf(stale[0]))                                             // of the previous lease
	refused(slice.GapRef{GapID: stale[0].ID, LeaseID: stale[1].LeaseID}) // of another gap
	refused(slice.GapRef{GapID: reLeased[0].ID, LeaseID: "x"})           // unknown
	commit(t, s, l, slice.Slice{Recovered: []slice.GapRef{refOf(reLeased[0])}}, Now)
	refused(refOf(reLeased[0])) // already returned

	// A release after the gap was returned changes nothing.
	before := everything(t, s, "c")
	ok(t, s.ReleaseGaps(ctx, l, []string{reLeased[0].ID}, Now))
	same(t, everything(t, s, "c"), before)

	// Nor does the lease of an earlier run.
	at := Now.Add(2 * ttl)
	l = start(t, s, "c", "r2", at)
	refused(refOf(stale[1]))
}

func testGapAttempts(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	report(t, s, l, Now, missingGap("a"))
	ref := refOf(leaseGaps(t, s, l, 1, Now)[0])
	first := Now.Add(time.Second)
	commit(t, s, l, slice.Slice{Attempts: []slice.GapRef{ref}}, first)
	commit(t, s, l, slice.Slice{Attempts: []slice.GapRef{ref, ref}}, Now.Add(time.Minute))
	g := gapOf(t, s, "c", "a")
	same(t, g.AttemptCount, 1)
	same(t, g.LastAttemptAt, &first)
	same(t, g.LeaseAttempted, true)
	same(t, g.Status, protocol.GapInProgress)

	// The next lease may count one more attempt.
	l = next(t, s, l, "r2", Now)
	ref = refOf(leaseGaps(t, s, l, 1, Now)[0])
	same(t, gapOf(t, s, "c", "a").LeaseAttempted, false)
	second := Now.Add(time.Hour)
	commit(t, s, l, slice.Slice{Attempts: []slice.GapRef{ref}}, second)
	g = gapOf(t, s, "c", "a")
	same(t, g.AttemptCount, 2)
	same(t, g.LastAttemptAt, &second)
}

// testGapSettle returns leased gaps.
func testGapSettle(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	report(t, s, l, Now, missingGap("a"), missingGap("b"), missingGap("c"), missingGap("d"))
	l = next(t, s, l, "r2", Now)
	refs := map[string]slice.GapRef{}
	for _, g := range leaseGaps(t, s, l, 1, Now) {
		refs[g.RecordKey] = refOf(g)
	}
	back := func(key string) slice.Gap {
		w := missingGap(key)
		w.Reason, w.GapID, w.LeaseID, w.LastError = protocol.ReasonUpstreamPressure, refs[key].GapID, refs[key].LeaseID,
			jsontext.Value(`{"n":1}`)
		return w
	}
	at, floor := Now.Add(time.Second), Now.Add(time.Hour)
	reported, unreported, final, held := back("a"), back("b"), back("c"), missingGap("d")
	unreported.NotBefore = &floor
	final.Retryable = false
	commit(t, s, l, slice.Slice{Attempts: []slice.GapRef{refs["a"]}, Gaps: []slice.Gap{reported, unreported, final, held}},
		at)

	for key, want := range map[string]store.Gap{
		"a": {Status: protocol.GapPending, AttemptCount: 1, LastAttemptAt: &at},                    // one attempt, reported
		"b": {Status: protocol.GapPending, AttemptCount: 1, LastAttemptAt: &at, NotBefore: &floor}, // one attempt, implied
		"c": {Status: protocol.GapTerminal, AttemptCount: 1, LastAttemptAt: &at},                   // not retryable
	} {
		g := gapOf(t, s, "c", key)
		t.Log(key)
		same(t, g.Status, want.Status)
		same(t, g.AttemptCount, want.AttemptCount)
		same(t, g.LastAttemptAt, want.LastAttemptAt)
		same(t, g.NotBefore, want.NotBefore)
		same(t, []string{g.LeaseRun, g.LeaseID, g.LastRun, g.DiscoveredRun}, []string{"", "", "r2", "r1"})
		same(t, g.Reason, protocol.ReasonUpstreamPressure)
		same(t, string(g.LastError), `{"n":1}`)
	}
	// Reported again without its token, a gap stays leased to the run.
	same(t, gapOf(t, s, "c", "d").LeaseID, refs["d"].LeaseID)

	// None of them is leased again in this run, even after their earliest time; all retryable ones are in the next.
	late := Now.Add(2 * time.Hour)
	same(t, leaseGaps(t, s, l, 2, late), nil)
	l = next(t, s, l, "r3", late)
	same(t, len(leaseGaps(t, s, l, 1, late)), 3)
}

func testGapRecovered(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1")
	elsewhere := begin(t, s, "d", "r9")
	report(t, s, elsewhere, Now, missingGap("x"))
	report(t, s, l, Now, missingGap("a"), missingGap("b"))
	l = next(t, s, l, "r2", Now)
	ref := refOf(leaseGaps(t, s, l, 1, Now)[0])
	at := Now.Add(time.Second)
	commit(t, s, l, slice.Slice{Attempts: []slice.GapRef{ref}, Recovered: []slice.GapRef{ref}}, at)
	g, err := s.Gap(ctx, ref.GapID)
	ok(t, err)
	same(t, []string{string(g.Status), g.RecoveredRun, g.LastRun, g.LeaseRun, g.LeaseID},
		[]string{"recovered", "r2", "r2", "", ""})
	same(t, g.AttemptCount, 1)

	// The forward walk may fetch an item without having leased its gap.
	for _, key := range []string{"a", "b", "b"} { // a repetition changes nothing
		commit(t, s, l, slice.Slice{Recovered: []slice.GapRef{{GapID: store.GapID("c", "", missingGap(key))}}},
			at.Add(time.Minute))
	}
	same(t, gapOf(t, s, "c", "b").Status, protocol.GapRecovered)
	same(t, gapOf(t, s, "c", "a").UpdatedAt.After(at.Add(time.Minute)), false)
	_, err = s.CommitSlice(ctx, l, slice.Slice{Recovered: []slice.GapRef{{GapID: store.GapID("d", "", missingGap("x"))}}},
		at)
	fails(t, err, store.ErrNotFound) // of another connection
	same(t, gapOf(t, s, "d", "x").Status, protocol.GapPending)
}

// testGapReopen checks that a recovered gap reopens for a later run, not for the one that recovered it.
func testGapReopen(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	report(t, s, l, Now, missingGap("a"))
	ref := refOf(leaseGaps(t, s, l, 1, Now)[0])
	commit(t, s, l, slice.Slice{Attempts: []slice.GapRef{ref}, Recovered: []slice.GapRef{ref}}, Now)
	recovered := gapOf(t, s, "c", "a")
	report(t, s, l, Now.Add(time.Second), missingGap("a"))
	same(t, gapOf(t, s, "c", "a"), recovered)

	l = next(t, s, l, "r2", Now)
	report(t, s, l, Now.Add(time.Minute), missingGap("a"))
	g := gapOf(t, s, "c", "a")
	same(t, g.Status, protocol.GapPending)
	same(t, g.RecoveredRun, "")
	same(t, g.AttemptCount, 0)
	same(t, g.LastAttemptAt, nil)
	same(t, g.CreatedAt, Now)
	same(t, len(leaseGaps(t, s, l, 1, Now)), 1)
}

func testGapReleasedByFinish(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	report(t, s, l, Now, missingGap("a"))
	ref := refOf(leaseGaps(t, s, l, 1, Now)[0])
	commit(t, s, l, slice.Slice{Attempts: []slice.GapRef{ref}}, Now)
	finish(t, s, l, Now)
	g := gapOf(t, s, "c", "a")
	same(t, []string{string(g.Status), g.LeaseRun, g.LeaseID}, []string{"pending", "", ""})
	same(t, g.AttemptCount, 1) // counted, although the outcome is unknown
	l = start(t, s, "c", "r2", Now)
	same(t, len(leaseGaps(t, s, l, 1, Now)), 1)
}
