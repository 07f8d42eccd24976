package storetest

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/internal/storage/store/sqlstore"
)

// numberedRecords is how many records belong to one numbered slice.
const numberedRecords = 40

// BeginNumbered starts the first run of a new connection for numbered slices.
func BeginNumbered(t testing.TB, s store.Store) store.Lease {
	t.Helper()
	return begin(t, s, "c", "numbered", titles)
}

// NumberedSlice has its own records and gap, and changes one record that all slices share, which it moves to another
// day.
func NumberedSlice(n int) slice.Slice {
	part := slice.Slice{
		Records: []slice.Record{titled("latest", "word", fmt.Sprint(n))},
		Gaps:    []slice.Gap{missingGap(fmt.Sprint(n))},
		Cursors: []slice.Cursor{{Stream: Stream, Cursor: strconv.AppendInt(nil, int64(n), 10)}},
	}
	part.Records[0].SemanticTime = Now.AddDate(0, 0, n).UTC().Format(sqlstore.TimeLayout)
	for i := range numberedRecords {
		r := titled(fmt.Sprintf("%d-%d", n, i), "word", "x")
		r.SemanticTime = Now.AddDate(0, 0, n+i).UTC().Format(sqlstore.TimeLayout)
		part.Records = append(part.Records, r)
	}
	return part
}

// WholeSlices requires that the store contains exactly the slices up to its cursor, and counts them.
func WholeSlices(t testing.TB, s store.Store) int {
	t.Helper()
	n := 0
	if cursor, moved := cursors(t, s, "c", "")["items/"]; moved {
		var err error
		n, err = strconv.Atoi(cursor)
		ok(t, err)
	}
	stored := map[string]store.StoredRecord{}
	for _, r := range changes(t, s, "c") {
		stored[r.Key] = r
	}
	gaps, err := s.ListGaps(t.Context(), store.GapQuery{ConnectionID: "c", Limit: n + 2})
	ok(t, err)
	same(t, len(gaps), n)
	found, err := s.Search(t.Context(), store.SearchQuery{In: []store.AccessFilter{{ConnectionID: "c"}}, Text: "word",
		Limit: len(stored) + 1})
	ok(t, err)
	same(t, len(found), len(stored))
	if !CountsAreTrue(t, s, "c", Stream) {
		t.Fatal("not all is counted")
	}
	if n == 0 {
		same(t, len(stored), 0)
		return 0
	}
	same(t, len(stored), n*numberedRecords+1)
	same(t, stored["latest"].Version, int64(n))
	for part := 1; part <= n; part++ {
		for i := range numberedRecords {
			if _, there := stored[fmt.Sprintf("%d-%d", part, i)]; !there {
				t.Fatalf("record %d of slice %d of %d is not stored", i, part, n)
			}
		}
	}
	return n
}
