package storetest

import (
	"slices"
	"testing"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// testRecordKeys reads the keys of live records page by page. Keys with an open gap, and records from files, must be
// left out.
func testRecordKeys(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	old, young := live("old", "1"), live("young", "1")
	old.SemanticTime, young.SemanticTime = "2026-03-03T23:59:59.999999Z", "2026-03-04T00:00:00.000000Z"
	put(t, s, l, live("b", "1"), live("a", "1"), live("é", "1"), live("gone", "1"), live("missed", "1"),
		live("fetched", "1"), old, young,
		importedRecord("a.txt", "filed", "1"), importedRecord("a.txt", "both", "1"))
	put(t, s, l, tombstone("gone"), live("both", "1"))
	report(t, s, l, Now, missingGap("missed"), missingGap("fetched"))
	for _, g := range leaseGaps(t, s, l, 1, Now) {
		if g.RecordKey == "fetched" {
			commit(t, s, l, slice.Slice{Recovered: []slice.GapRef{refOf(g)}}, Now)
		}
	}
	read := func(connection, since string, limit int) (all []string) {
		for after := ""; ; after = all[len(all)-1] {
			page, err := s.RecordKeys(t.Context(), connection, Stream, since, after, limit)
			ok(t, err)
			if all = append(all, page...); len(page) < limit {
				slices.Sort(all)
				return all
			}
		}
	}
	want := []string{"a", "b", "fetched", "old", "young", "é"}
	same(t, read("c", "", 100), want)
	same(t, read("c", "", 2), want)
	same(t, read("c", "2026-03-04T00:00:00.000000Z", 100), []string{"young"})
	same(t, read("d", "", 100), nil)
}
