package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// testFilterFields checks that only the fields of the filter are read, whatever the rest of a record is.
func testFilterFields(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1", store.StreamSpec{Name: Stream, SearchFields: []string{"word"}})
	for i, data := range []string{
		`{"a":1.0,"word":"pear","hidden":"x","b":{"hidden":1}}`,
		`{"hidden":"\u0000\ud800","word":"pear","a":"\ud83d\ude00"}`,
		`{"\u0061":"escaped","word":"pear"}`,
		`{"word":"pear","hidden":1}`,
		`{ "a" : [1, 2] , "word":"pear" }`,
		`{"q\"'.$[0]":"x","word":"pear"}`,
	} {
		put(t, s, l, slice.Record{Stream: Stream, Key: fmt.Sprint("k", i), Data: []byte(data), EmittedAt: "x"})
	}
	want := []string{`{"a":1.0,"b":{"hidden":1}}`, `{"a":"\ud83d\ude00"}`, `{"a":"escaped"}`, `{}`, `{"a":[1, 2]}`,
		`{"q\"'.$[0]":"x"}`}
	part := wholeStream
	part.Fields = []string{"b", "a", `q"'.$[0]`, "missing", "bad\x00name"}
	data := func(all []store.StoredRecord, err error) (got []string) {
		t.Helper()
		ok(t, err)
		for _, r := range all {
			got = append(got, string(r.Data))
		}
		return got
	}
	same(t, data(s.ListRecords(ctx, store.RecordQuery{AccessFilter: part})), want)
	same(t, data(s.Changes(ctx, store.RecordQuery{AccessFilter: part})), want)
	found := data(s.Search(ctx, store.SearchQuery{In: []store.AccessFilter{part}, Text: "pear"}))
	same(t, sorted(found), sorted(slices.Clone(want)))
	// A field that is only filtered by is not returned.
	same(t, data(s.ListRecords(ctx,
		store.RecordQuery{AccessFilter: part, Where: []store.FieldValue{{Field: "hidden", Value: "x"}}})), want[:1])
	same(t, data(s.ListRecords(ctx,
		store.RecordQuery{AccessFilter: part, Where: []store.FieldValue{{Field: "word", Value: "pear"}}})), want)
	part.Fields = []string{}
	same(t, data(s.ListRecords(ctx, store.RecordQuery{AccessFilter: part}))[0], "{}")
	put(t, s, l, tombstone("k0"))
	gone, err := s.Changes(ctx, store.RecordQuery{AccessFilter: part, AfterSeq: 6})
	ok(t, err)
	same(t, []any{len(gone), gone[0].Deleted, string(gone[0].Data)}, []any{1, true, ""})
	// Two filters of one search have their own fields.
	elsewhere := begin(t, s, "d", "r2", store.StreamSpec{Name: Stream, SearchFields: []string{"word"}})
	put(t, s, elsewhere, slice.Record{Stream: Stream, Key: "e", Data: []byte(`{"word":"quince","a":1,"b":2}`),
		EmittedAt: "x"})
	put(t, s, l, slice.Record{Stream: Stream, Key: "f", Data: []byte(`{"word":"quince","a":1,"b":2}`), EmittedAt: "x"})
	two := []store.AccessFilter{{ConnectionID: "c", Stream: Stream, Fields: []string{"a"}},
		{ConnectionID: "d", Stream: Stream, Fields: []string{"b"}}}
	same(t, data(s.Search(ctx, store.SearchQuery{In: two, Text: "quince"})), []string{`{"a":1}`, `{"b":2}`})
	two[1].Fields = nil
	same(t, data(s.Search(ctx, store.SearchQuery{In: two, Text: "quince"})),
		[]string{`{"a":1}`, `{"word":"quince","a":1,"b":2}`})
}

// testPageBytes checks that a page ends with the record that reaches MaxBytes, counted by the returned fields.
func testPageBytes(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1", store.StreamSpec{Name: Stream, SearchFields: []string{"word"}})
	const n = 40
	for i := range n {
		put(t, s, l, slice.Record{Stream: Stream, Key: fmt.Sprintf("k%02d", i), EmittedAt: "x",
			Data: fmt.Appendf(nil, `{"word":"pear","large":"%s"}`, strings.Repeat("x", 1000))})
	}
	size := func(q store.RecordQuery) int { t.Helper(); return len(listed(t, s, q)) }
	some := wholeStream
	some.Fields = []string{"word"}
	where := []store.FieldValue{{Field: "word", Value: "pear"}}
	for _, c := range []struct {
		q    store.RecordQuery
		want int
	}{
		{store.RecordQuery{AccessFilter: wholeStream, MaxBytes: 1}, 1},
		{store.RecordQuery{AccessFilter: wholeStream, MaxBytes: 5000}, 5},
		{store.RecordQuery{AccessFilter: wholeStream, MaxBytes: 25_000}, 25},
		{store.RecordQuery{AccessFilter: wholeStream, MaxBytes: 25_000, Limit: 7}, 7},
		{store.RecordQuery{AccessFilter: wholeStream, MaxBytes: 1 << 20}, n},
		{store.RecordQuery{AccessFilter: some, MaxBytes: 500}, 34}, // of 15 bytes each
		{store.RecordQuery{AccessFilter: some, MaxBytes: 500, Where: where, NewestFirst: true}, 34},
	} {
		same(t, size(c.q), c.want)
	}
	search := func(p store.AccessFilter, before int64, most int) (keys []string, last int64) {
		got, err := s.Search(ctx, store.SearchQuery{In: []store.AccessFilter{p}, Text: "pear", BeforeID: before,
			MaxBytes: most})
		ok(t, err)
		return keysOf(got), got[len(got)-1].ID
	}
	first, last := search(wholeStream, 0, 20_000)
	second, _ := search(wholeStream, last, 1<<20)
	same(t, []any{len(first), first[0], len(second), second[n-21]}, []any{20, "k39", 20, "k00"})
	third, _ := search(some, 0, 500)
	same(t, len(third), 34)
}
