package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

func sorted(keys []string) []string {
	slices.Sort(keys)
	return keys
}

func searched(t testing.TB, s store.Store, q store.SearchQuery) []string {
	t.Helper()
	records, err := s.Search(t.Context(), q)
	ok(t, err)
	return keysOf(records)
}

func testSearchParts(t *testing.T, s store.Store) {
	specs := []store.StreamSpec{titles, {Name: "notes", SearchFields: []string{"title"}}}
	for _, id := range []string{"c", "d"} {
		l := begin(t, s, id, "run-"+id, specs...)
		for _, stream := range []string{Stream, "notes"} {
			for i, time := range []string{"", "2026-01-01", "2026-02-01"} {
				r := titled(fmt.Sprint(id, " ", stream, " ", i), "word", "")
				r.Stream, r.SemanticTime = stream, time
				put(t, s, l, r)
			}
		}
	}
	same(t, len(searched(t, s, store.SearchQuery{Text: "word"})), 12) // nil means everything
	checkSearchParts(t, s)
	// The same among many others, where checking the filtered records is faster.
	l := begin(t, s, "e", "run-e", specs...)
	others := make([]slice.Record, 300)
	for i := range others {
		others[i] = titled(fmt.Sprint("other ", i), "word", "")
	}
	put(t, s, l, others...)
	checkSearchParts(t, s)
	one := store.SearchQuery{In: []store.AccessFilter{wholeStream}, Text: "word", Limit: 1}
	page, err := s.Search(t.Context(), one)
	ok(t, err)
	same(t, keysOf(page), []string{"c items 2"})
	one.BeforeID = page[0].ID
	same(t, searched(t, s, one), []string{"c items 1"})
	one.Text = "word missing"
	same(t, searched(t, s, one), nil)
}

// checkSearchParts checks that nothing outside the filters is found.
func checkSearchParts(t *testing.T, s store.Store) {
	t.Helper()
	in := func(parts ...store.AccessFilter) []string {
		t.Helper()
		return sorted(searched(t, s, store.SearchQuery{In: parts, Text: "word"}))
	}
	same(t, searched(t, s, store.SearchQuery{In: []store.AccessFilter{}, Text: "word"}), nil)
	same(t, in(wholeStream), []string{"c items 0", "c items 1", "c items 2"})
	same(t, len(in(store.AccessFilter{ConnectionID: "c"})), 6)
	same(t, in(store.AccessFilter{ConnectionID: "c", Since: "2026-01-15"}), []string{"c items 2", "c notes 2"})
	// a record without a time does not match
	same(t, in(store.AccessFilter{ConnectionID: "c", Until: "2026-02-01"}), []string{"c items 1", "c notes 1"})
	same(t, in(store.AccessFilter{ConnectionID: "c", Stream: Stream, Since: "2026-01-01", Until: "2026-02-01"}),
		[]string{"c items 1"})
	same(t, in(store.AccessFilter{ConnectionID: "c", Keys: []string{"c items 0", "c notes 2", "d items 0"}}),
		[]string{"c items 0", "c notes 2"})
	same(t, in(store.AccessFilter{ConnectionID: "c", Keys: []string{}}), nil)
	same(t, in(store.AccessFilter{ConnectionID: "c", Keys: []string{"\x00", "\xff"}}), nil)
	// Each filter has its own limits, and overlapping ones return a record once.
	same(t, in(store.AccessFilter{ConnectionID: "c", Stream: Stream, Since: "2026-02-01"},
		store.AccessFilter{ConnectionID: "d", Stream: "notes", Keys: []string{"d notes 0"}},
		store.AccessFilter{ConnectionID: "c", Stream: Stream, Keys: []string{"c items 2"}}),
		[]string{"c items 2", "d notes 0"})
	for _, p := range []store.AccessFilter{{}, {Stream: Stream}, {ConnectionID: "nobody"},
		{ConnectionID: "c", Stream: "nothing"}, {ConnectionID: "c\x00"}, {ConnectionID: "c", Since: "\xff"}} {
		same(t, in(p), nil) // an unknown name matches nothing
		same(t, in(p, wholeStream), []string{"c items 0", "c items 1", "c items 2"})
	}
}

// testSearchPaging checks that the newest stored come first, also after a change, and that pages follow each other
// without a gap.
//
//pdpp:tier unraced TestStore/SearchPaging
func testSearchPaging(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1", titles)
	const n = 120
	var want []string
	for i := range n {
		title := "common"
		if i%7 == 0 {
			title += " seldom"
		}
		put(t, s, l, titled(fmt.Sprintf("k%03d", i), title, ""))
		want = append([]string{fmt.Sprintf("k%03d", i)}, want...)
	}
	put(t, s, l, titled("k005", "common again", ""), tombstone("k112"))
	want = slices.DeleteFunc(want, func(key string) bool { return key == "k112" })
	for text, limit := range map[string]int{"common": 50, "seldom": 10, "common seldom": 7} {
		var got []string
		q := store.SearchQuery{Text: text, Limit: limit}
		for {
			page, err := s.Search(t.Context(), q)
			ok(t, err)
			got = append(got, keysOf(page)...)
			if len(page) < limit {
				break
			}
			q.BeforeID = page[len(page)-1].ID
		}
		if text == "common" {
			same(t, got, want)
		} else {
			same(t, len(got), 17)
			same(t, got[0], "k119")
			same(t, slices.IsSortedFunc(got, func(a, b string) int { return strings.Compare(b, a) }), true)
		}
	}
	same(t, searched(t, s, store.SearchQuery{Text: "common", BeforeID: 1}), nil)
	same(t, len(searched(t, s, store.SearchQuery{Text: "common"})), 100)
}
