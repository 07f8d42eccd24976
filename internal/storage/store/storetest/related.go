package storetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

const relating = `{"protocol_version":"0.1.0","connector_id":"example","version":"1.0.0","display_name":"Example",
		"runtime_requirements":{"bindings":{}},
 "streams":[{"name":"items","semantics":"mutable_state","primary_key":"id","schema":{"type":"object",
 "properties":{"id":{"type":"string"},"of":{"type":"string"}}}},
  {"name":"lists","semantics":"mutable_state","primary_key":"id","schema":{"type":"object",
  "properties":{"id":{"type":"string"}}},
   "relationships":[{"name":"items","stream":"items","foreign_key":"of","cardinality":"has_many"}],
   "query":{"expand":[{"name":"items"}]}}]}`

// testRelated reads what belongs to several records, by a scan and by the index of the relationship.
func testRelated(t *testing.T, s store.Store) {
	_, err := s.PutManifest(t.Context(), "example", []byte(relating), Now)
	ok(t, err)
	l := begin(t, s, "c", "r", store.StreamSpec{Name: Stream, TimeField: "at"}, store.StreamSpec{Name: "lists"})
	item := func(key, of, day string) slice.Record {
		return slice.Record{Stream: Stream, Key: key, Data: fmt.Appendf(nil, `{"id":%q,"of":%s,"v":"much"}`, key, of),
			EmittedAt: "x", SemanticTime: "2026-03-" + day + "T00:00:00.000000Z"}
	}
	put(t, s, l, item("a1", `"a"`, "01"), item("b1", `"b"`, "02"), item("a2", `"a"`, "03"), item("n1", `7`, "04"),
		item("a3", `"a"`, "05"), item("x", `null`, "06"),
		item("y", `["a"]`, "07"), item("gone", `"b"`, "08"), item("moved", `"b"`, "09"), item("z", `"z"`, "10"))
	put(t, s, l, tombstone("gone"), item("moved", `"a"`, "09"))
	finish(t, s, l, Now)
	read := func(q store.RelatedQuery) map[string][]string {
		t.Helper()
		found, err := s.Related(t.Context(), q)
		ok(t, err)
		out := map[string][]string{}
		for value, records := range found.By {
			for _, r := range records {
				out[value] = append(out[value], r.Key)
			}
		}
		return out
	}
	some := store.AccessFilter{ConnectionID: "c", Stream: Stream, Since: "2026-03-02", Until: "2026-03-09"}
	among := wholeStream
	among.AllowedValues = &store.AllowedValues{Field: "id", Values: []string{"a2", "b1"}}
	chosen := wholeStream
	chosen.Keys = []string{"a3", "n1"}
	for _, indexed := range []bool{false, true} {
		if indexed {
			same(t, index(t, s, 1), 1)
		}
		same(t, read(store.RelatedQuery{AccessFilter: wholeStream, Field: "of", Values: []string{"a", "b", "7", "none"},
			Each: 2}),
			map[string][]string{"a": {"a1", "a2", "a3"}, "b": {"b1"}, "7": {"n1"}})
		same(t, read(store.RelatedQuery{AccessFilter: wholeStream, Field: "of", Values: []string{"a"}, Each: 9}),
			map[string][]string{"a": {"a1", "a2", "a3", "moved"}})
		same(t, read(store.RelatedQuery{AccessFilter: some, Field: "of", Values: []string{"a", "b"}, Each: 9}),
			map[string][]string{"a": {"a2", "a3"}, "b": {"b1"}})
		same(t, read(store.RelatedQuery{AccessFilter: among, Field: "of", Values: []string{"a", "b"}, Each: 9}),
			map[string][]string{"a": {"a2"}, "b": {"b1"}})
		same(t, read(store.RelatedQuery{AccessFilter: chosen, Field: "of", Values: []string{"a", "7"}, Each: 9}),
			map[string][]string{"a": {"a3"}, "7": {"n1"}})
		same(t, read(store.RelatedQuery{AccessFilter: wholeStream, Field: "of", Values: []string{"\x00", "a\xff"}, Each: 9}),
			map[string][]string{})
		narrow := wholeStream
		narrow.Fields = []string{"v"}
		found, err := s.Related(t.Context(), store.RelatedQuery{AccessFilter: narrow, Field: "of", Values: []string{"a", "b"},
			Each: 9})
		ok(t, err)
		same(t, string(found.By["b"][0].Data), `{"v":"much"}`)
		same(t, found.Cut, false)
		found, err = s.Related(t.Context(),
			store.RelatedQuery{AccessFilter: wholeStream, Field: "of", Values: []string{"a", "b"},
				Each: 9, MaxBytes: 1})
		ok(t, err)
		same(t, found.Cut, true)
		same(t, len(slices.Concat(found.By["a"], found.By["b"])), 1)
	}
}
