package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// testGapRotation uses more gaps than a page holds, all of them failing. Each page must be in the order of
// RotationRank over all pending gaps.
//
//pdpp:tier unraced TestStore/GapRotation
func testGapRotation(t *testing.T, s store.Store) {
	t.Attr("spec", "PB-A10")
	const total, limit, runs = 30, 13, 16
	l := begin(t, s, "c", "r0")
	for i := range 3 {
		var gaps []slice.Gap
		for j := range total / 3 {
			gaps = append(gaps, missingGap(fmt.Sprintf("k%d-%02d", i, j)))
		}
		report(t, s, l, Now.Add(time.Duration(i)*7*time.Minute), gaps...)
	}
	served := map[string]int{}
	for n := range runs {
		now := Now.Add(30*time.Minute + time.Duration(n)*4*time.Minute)
		l = next(t, s, l, fmt.Sprint("r", n+1), now)
		waiting, err := s.ListGaps(t.Context(), store.GapQuery{ConnectionID: "c", Status: protocol.GapPending, Limit: total})
		ok(t, err)
		same(t, len(waiting), total)
		slices.SortFunc(waiting, func(a, b store.Gap) int {
			return cmp.Or(rank(a, now)-rank(b, now), since(a).Compare(since(b)), cmp.Compare(a.ID, b.ID))
		})
		page := failPage(t, s, l, limit, now)
		same(t, page, gapKeys(waiting[:limit]))
		for _, key := range page {
			served[key]++
		}
	}
	same(t, len(served), total)
	for key, n := range served {
		if n < runs*limit/total-2 {
			t.Errorf("gap %s was served %d times in %d runs", key, n, runs)
		}
	}
}

// testGapOldest checks that 256 failing gaps, the oldest, do not block the others.
//
//pdpp:tier unraced TestStore/GapOldest
func testGapOldest(t *testing.T, s store.Store) {
	t.Attr("spec", "PB-A10")
	l := begin(t, s, "c", "r0")
	var gaps []slice.Gap
	for i := range 256 {
		gaps = append(gaps, missingGap(fmt.Sprintf("old-%03d", i)))
	}
	report(t, s, l, Now, gaps...)
	report(t, s, l, Now.Add(time.Minute), missingGap("young-1"), missingGap("young-2"))
	at := Now.Add(time.Hour)
	l = next(t, s, l, "r1", at)
	same(t, len(failPage(t, s, l, 256, at)), 256)
	at = at.Add(time.Minute)
	l = next(t, s, l, "r2", at)
	page, err := s.LeaseGaps(t.Context(), l, store.GapPage{Page: 1, Limit: 3, TTL: time.Hour}, at)
	ok(t, err)
	keys := gapKeys(page)
	slices.Sort(keys[:2])
	same(t, keys[:2], []string{"young-1", "young-2"})
}

// failPage leases a page, returns all of it after a failed attempt, and lists its keys.
func failPage(t *testing.T, s store.Store, l store.Lease, limit int, at time.Time) []string {
	t.Helper()
	page, err := s.LeaseGaps(t.Context(), l, store.GapPage{Page: 1, Limit: limit, TTL: time.Hour}, at)
	ok(t, err)
	var part slice.Slice
	for _, g := range page {
		w := missingGap(g.RecordKey)
		w.GapID, w.LeaseID = g.ID, g.LeaseID
		part.Gaps = append(part.Gaps, w)
	}
	commit(t, s, l, part, at)
	return gapKeys(page)
}

func since(g store.Gap) time.Time {
	if g.LastAttemptAt != nil {
		return *g.LastAttemptAt
	}
	return g.CreatedAt
}

func rank(g store.Gap, now time.Time) int {
	var last time.Time
	if g.LastAttemptAt != nil {
		last = *g.LastAttemptAt
	}
	return store.RotationRank(g.AttemptCount, last, g.CreatedAt, now)
}

// testGapPages drains a backlog page by page in one run.
func testGapPages(t *testing.T, s store.Store) {
	t.Attr("spec", "PB-A10")
	l := begin(t, s, "c", "r1")
	var gaps []slice.Gap
	for i := range 57 {
		gaps = append(gaps, missingGap(fmt.Sprintf("k%02d", i)))
	}
	report(t, s, l, Now, gaps...)
	l = next(t, s, l, "r2", Now)
	served := map[string]bool{}
	for page := 1; ; page++ {
		got, err := s.LeaseGaps(t.Context(), l, store.GapPage{Page: page, Limit: 10, TTL: time.Hour}, Now)
		ok(t, err)
		if len(got) == 0 {
			same(t, page, 7)
			break
		}
		var part slice.Slice
		for i, g := range got {
			same(t, served[g.ID], false)
			served[g.ID] = true
			if i%2 == 0 {
				part.Recovered = append(part.Recovered, refOf(g))
				continue
			}
			w := missingGap(g.RecordKey)
			w.GapID, w.LeaseID = g.ID, g.LeaseID
			part.Gaps = append(part.Gaps, w)
		}
		commit(t, s, l, part, Now)
	}
	same(t, len(served), 57)
}

func testGapAccounting(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1")
	gone := missingGap("terminal")
	gone.Retryable = false
	other := missingGap("other parent")
	other.ParentStream = "threads"
	report(t, s, l, Now, missingGap("in progress"), missingGap("recovered"), gone, other)
	for _, g := range leaseGaps(t, s, l, 1, Now) {
		if g.RecordKey == "recovered" {
			commit(t, s, l, slice.Slice{Recovered: []slice.GapRef{refOf(g)}}, Now)
		}
	}
	report(t, s, l, Now, missingGap("pending"), missingGap(""))
	keys := []string{"pending", "in progress", "recovered", "terminal", "other parent", "never heard of", ""}
	for i := range 300 {
		keys = append(keys, fmt.Sprint("filler ", i))
	}
	got, err := s.AccountedKeys(ctx, "c", Stream, "lists", keys)
	ok(t, err)
	same(t, got, map[string]bool{"pending": true, "in progress": true, "recovered": true})
	for _, q := range [][3]string{{"d", Stream, "lists"}, {"c", "others", "lists"}, {"c", Stream, ""}} {
		got, err = s.AccountedKeys(ctx, q[0], q[1], q[2], keys)
		ok(t, err)
		same(t, len(got), 0)
	}
	got, err = s.AccountedKeys(ctx, "c", Stream, "threads", []string{"other parent"})
	ok(t, err)
	same(t, got, map[string]bool{"other parent": true})
	got, err = s.AccountedKeys(ctx, "c", Stream, "lists", nil)
	ok(t, err)
	same(t, len(got), 0)
}

// testGapSparesPressure checks that a page with SparePressure leaves out gaps that pressure deferred, and only those.
func testGapSparesPressure(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	var gaps []slice.Gap
	for key, reason := range map[string]protocol.Reason{
		"k1": protocol.ReasonRateLimited, "k2": protocol.ReasonUpstreamPressure, "k3": protocol.ReasonRetryExhausted,
		"k4": "odd",
	} {
		w := missingGap(key)
		w.Reason = reason
		gaps = append(gaps, w)
	}
	report(t, s, l, Now, gaps...)
	l = next(t, s, l, "r2", Now)
	keys := func(spare bool, page int) (found []string) {
		got, err := s.LeaseGaps(t.Context(), l, store.GapPage{SparePressure: spare, Page: page, Limit: 10, TTL: time.Hour},
			Now)
		ok(t, err)
		for _, g := range got {
			found = append(found, g.RecordKey)
		}
		slices.Sort(found)
		return found
	}
	same(t, keys(true, 1), []string{"k3", "k4"})
	same(t, keys(false, 2), []string{"k1", "k2"})
}
