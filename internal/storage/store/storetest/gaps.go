package storetest

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// missingGap returns a retryable gap of Stream.
func missingGap(key string) slice.Gap {
	return slice.Gap{Stream: Stream, ParentStream: "lists", RecordKey: key, Reason: protocol.ReasonRateLimited,
		Retryable: true,
		Locator:   jsontext.Value(`{"id":"` + key + `"}`)}
}

// report commits gaps.
func report(t testing.TB, s store.Store, l store.Lease, at time.Time, gaps ...slice.Gap) {
	t.Helper()
	commit(t, s, l, slice.Slice{Gaps: gaps}, at)
}

func leaseGaps(t testing.TB, s store.Store, l store.Lease, page int, at time.Time) []store.Gap {
	t.Helper()
	gaps, err := s.LeaseGaps(t.Context(), l, store.GapPage{Page: page, Limit: 100, TTL: time.Hour}, at)
	ok(t, err)
	return gaps
}

func refOf(g store.Gap) slice.GapRef { return slice.GapRef{GapID: g.ID, LeaseID: g.LeaseID} }

// gapOf reads the gap of a key that miss made.
func gapOf(t testing.TB, s store.Store, connection, key string) store.Gap {
	t.Helper()
	g, err := s.Gap(t.Context(), store.GapID(connection, "", missingGap(key)))
	ok(t, err)
	return g
}

func gapKeys(gaps []store.Gap) (keys []string) {
	for _, g := range gaps {
		keys = append(keys, g.RecordKey)
	}
	return keys
}

func testGapDiscovery(t *testing.T, s store.Store) {
	ctx := t.Context()
	_, err := s.Gap(ctx, "gap_0")
	fails(t, err, store.ErrNotFound)
	l := begin(t, s, "c", "r1")
	floor := Now.Add(time.Minute)
	full := missingGap("a")
	full.ListCursor, full.LastError, full.NotBefore = jsontext.Value(`{"page": 3}`), jsontext.Value(`{"status":429}`),
		&floor
	gone := missingGap("b")
	gone.Retryable, gone.Reason = false, "not_found"
	report(t, s, l, Now, full, gone)

	a := gapOf(t, s, "c", "a")
	same(t, a, store.Gap{
		ID: store.GapID("c", "", full), ConnectionID: "c", ConnectorID: "example", Stream: Stream, ParentStream: "lists",
		RecordKey: "a",
		Reason:    protocol.ReasonRateLimited, Status: protocol.GapPending, Locator: jsontext.Value(`{"id":"a"}`),
		ListCursor: jsontext.Value(`{"page": 3}`), LastError: jsontext.Value(`{"status":429}`), NotBefore: &floor,
		DiscoveredRun: "r1", LastRun: "r1", CreatedAt: Now, UpdatedAt: Now,
	})
	b := gapOf(t, s, "c", "b")
	same(t, b.Status, protocol.GapTerminal)
	all, err := s.ListGaps(ctx, store.GapQuery{})
	ok(t, err)
	same(t, len(all), 2)

	// A later run reports both again.
	l = next(t, s, l, "r2", Now.Add(time.Hour))
	later := Now.Add(2 * time.Hour)
	again := missingGap("a")
	again.Reason, again.Locator = protocol.ReasonUpstreamPressure, nil
	report(t, s, l, later, again, missingGap("b"))
	a.Reason, a.LastRun, a.UpdatedAt, a.NotBefore, a.LastError = protocol.ReasonUpstreamPressure, "r2", later, nil, nil
	same(t, gapOf(t, s, "c", "a"), a)
	same(t, gapOf(t, s, "c", "b").Status, protocol.GapPending)

	for _, c := range []struct {
		q    store.GapQuery
		want []string
	}{
		{store.GapQuery{ConnectionID: "c"}, []string{"a", "b"}},
		{store.GapQuery{ConnectionID: "d"}, nil},
		{store.GapQuery{Stream: Stream, Status: protocol.GapPending}, []string{"a", "b"}},
		{store.GapQuery{Stream: "others"}, nil},
		{store.GapQuery{Status: protocol.GapTerminal}, nil},
		{store.GapQuery{Status: protocol.GapPending, Limit: 1}, nil},
	} {
		got, err := s.ListGaps(ctx, c.q)
		ok(t, err)
		if c.q.Limit == 1 {
			same(t, len(got), 1)
			continue
		}
		keys := map[string]bool{}
		for _, g := range got {
			keys[g.RecordKey] = true
		}
		same(t, len(keys), len(c.want))
		for _, k := range c.want {
			same(t, keys[k], true)
		}
	}
}

// testGapIdentity checks that a known key takes precedence over the locator, and that parents separate gaps.
func testGapIdentity(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	drifted := missingGap("a")
	drifted.Locator = jsontext.Value(`{"url":"new shape"}`)
	otherParent := missingGap("a")
	otherParent.ParentStream = "threads"
	byLocator, sameLocator, otherLocator := missingGap(""), missingGap(""), missingGap("")
	otherLocator.Locator = jsontext.Value(`{"id":"else"}`)
	report(t, s, l, Now, missingGap("a"), drifted, otherParent, byLocator, sameLocator, otherLocator)
	all, err := s.ListGaps(t.Context(), store.GapQuery{})
	ok(t, err)
	same(t, len(all), 4)
	same(t, string(gapOf(t, s, "c", "a").Locator), `{"url":"new shape"}`)

	// A leased gap keeps its identity even when the report has another locator.
	leased := leaseGaps(t, s, l, 1, Now)
	for _, g := range leased {
		w := missingGap(g.RecordKey)
		w.Locator, w.GapID, w.LeaseID = jsontext.Value(`{"third":true}`), g.ID, g.LeaseID
		report(t, s, l, Now, w)
		got, err := s.Gap(t.Context(), g.ID)
		ok(t, err)
		same(t, string(got.Locator), `{"third":true}`)
	}
	all, err = s.ListGaps(t.Context(), store.GapQuery{})
	ok(t, err)
	same(t, len(all), 4)
}

func testGapEligibility(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1", store.StreamSpec{Name: Stream}, store.StreamSpec{Name: "others"})
	elsewhere := begin(t, s, "d", "r2")
	report(t, s, elsewhere, Now, missingGap("x"))
	waiting, gone, other := missingGap("waiting"), missingGap("gone"), missingGap("other")
	floor := Now.Add(time.Minute)
	waiting.NotBefore, gone.Retryable, other.Stream = &floor, false, "others"
	report(t, s, l, Now, waiting, gone, other, missingGap("a"))

	page := func(q store.GapPage, at time.Time) []string {
		q.Limit, q.Page, q.TTL = 100, 1, time.Hour
		gaps, err := s.LeaseGaps(t.Context(), l, q, at)
		ok(t, err)
		var ids []string
		for _, g := range gaps {
			ids = append(ids, g.ID)
		}
		ok(t, s.ReleaseGaps(t.Context(), l, ids, at))
		return gapKeys(gaps)
	}
	same(t, page(store.GapPage{Streams: []string{Stream}}, Now), []string{"a"})
	same(t, page(store.GapPage{Streams: []string{"others", "nothing"}}, Now), []string{"other"})
	same(t, len(page(store.GapPage{}, Now)), 2)
	same(t, len(page(store.GapPage{}, floor.Add(-time.Microsecond))), 2)
	same(t, len(page(store.GapPage{}, floor)), 3) // the earliest time itself is late enough
}

func testGapLeases(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1")
	report(t, s, l, Now, missingGap("a"), missingGap("b"), missingGap("c"))
	before := gapOf(t, s, "c", "a")
	gaps, err := s.LeaseGaps(ctx, l, store.GapPage{Page: 4, Limit: 2, TTL: time.Hour}, Now.Add(time.Second))
	ok(t, err)
	same(t, len(gaps), 2)
	for _, g := range gaps {
		same(t, g.LeaseID, "r1:detail-gap-page:4:gap:"+g.ID)
		same(t, g.LeaseRun, "r1")
		same(t, g.Status, protocol.GapInProgress)
		same(t, g.AttemptCount, 0)
		same(t, g.LastAttemptAt, nil)
	}
	rest := leaseGaps(t, s, l, 5, Now)
	same(t, len(rest), 1)
	same(t, leaseGaps(t, s, l, 6, Now), nil)

	// A released gap is unchanged and can be leased again; others are not affected.
	ok(t, s.ReleaseGaps(ctx, l, []string{before.ID, "gap_unknown"}, Now.Add(time.Minute)))
	same(t, gapOf(t, s, "c", "a"), before)
	again := leaseGaps(t, s, l, 7, Now)
	same(t, gapKeys(again), []string{"a"})
	same(t, again[0].LeaseID, "r1:detail-gap-page:7:gap:"+before.ID)

	// Reporting a gap again without its token leaves the token valid.
	met := missingGap("a")
	met.Reason = protocol.ReasonUpstreamPressure
	report(t, s, l, Now.Add(time.Hour), met)
	held := gapOf(t, s, "c", "a")
	same(t, held.Status, protocol.GapInProgress)
	same(t, held.Reason, protocol.ReasonUpstreamPressure)
	_, err = s.CommitSlice(ctx, l, slice.Slice{Recovered: []slice.GapRef{refOf(again[0])}}, Now.Add(time.Hour))
	ok(t, err)
	same(t, gapOf(t, s, "c", "a").Status, protocol.GapRecovered)
	missing, err := s.ListGaps(ctx, store.GapQuery{ConnectionID: "c", Missing: true})
	ok(t, err)
	same(t, len(missing), 2)
}
