package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// testCorrespondents compares who wrote how much in which month with the records. What the owner wrote, deletions and
// records of other streams are left out.
func testCorrespondents(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	for i, r := range []struct{ author, address, mine, at string }{
		{`"Ida"`, `"ida@boats.example"`, `false`, "2026-01-03T08:00:00Z"},
		{`"Ida"`, `"ida@boats.example"`, `false`, "2026-01-31T23:59:59.5Z"},
		{`"Ida"`, `"ida@boats.example"`, `null`, "2026-02-01T00:00:00Z"},
		{`"Ida"`, `null`, `false`, "2026-02-01T00:00:00Z"},
		{`"Me"`, `"me@home.example"`, `true`, "2026-02-01T00:00:00Z"},
		{`null`, `null`, `false`, "2026-02-01T00:00:00Z"},
		{`7`, `""`, `false`, ""},
		{`"Gone"`, `""`, `false`, "2026-02-02T00:00:00Z"},
	} {
		put(t, s, l, slice.Record{Stream: Stream, Key: fmt.Sprintf("k%d", i), EmittedAt: "x", SemanticTime: r.at,
			Data: fmt.Appendf(nil, `{"who":%s,"where":%s,"own":%s}`, r.author, r.address, r.mine)})
	}
	put(t, s, l, tombstone("k7"))
	finish(t, s, l, Now)
	ask := func(q store.CorrespondentQuery) (got []store.Correspondence) {
		ok(t, s.EachCorrespondence(t.Context(), q, func(c store.Correspondence) { got = append(got, c) }))
		slices.SortFunc(got, func(a, b store.Correspondence) int {
			return cmp.Or(cmp.Compare(a.Author, b.Author), cmp.Compare(a.Address, b.Address), cmp.Compare(a.Month, b.Month))
		})
		return got
	}
	base := store.CorrespondentQuery{ConnectionID: "c", Stream: Stream, Author: "who", Address: "where", Mine: "own"}
	same(t, ask(base), []store.Correspondence{
		{Author: "7", Records: 1},
		{Author: "Ida", Month: "2026-02", Records: 1, First: "2026-02-01T00:00:00Z", Last: "2026-02-01T00:00:00Z"},
		{Author: "Ida", Address: "ida@boats.example", Month: "2026-01", Records: 2, First: "2026-01-03T08:00:00Z",
			Last: "2026-01-31T23:59:59.5Z"},
		{Author: "Ida", Address: "ida@boats.example", Month: "2026-02", Records: 1, First: "2026-02-01T00:00:00Z",
			Last: "2026-02-01T00:00:00Z"},
	})
	byAddress := base
	byAddress.Author, byAddress.Mine = "", ""
	if got := ask(byAddress); len(got) != 3 || got[2].Address != "me@home.example" || got[0].Author != "" {
		t.Errorf("by address %+v", got)
	}
	for name, q := range map[string]store.CorrespondentQuery{
		"another stream":     {ConnectionID: "c", Stream: "none", Author: "who"},
		"another connection": {ConnectionID: "d", Stream: Stream, Author: "who"},
		"a name with zero":   {ConnectionID: "c", Stream: Stream, Author: "w\x00"},
		"no field":           {ConnectionID: "c", Stream: Stream},
	} {
		if got := ask(q); len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
