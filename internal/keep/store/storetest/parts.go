package storetest

import (
	"testing"

	"pdpp/internal/keep/store"
	"pdpp/internal/slice"
)

// dated is a record of Stream with a time of its own.
func dated(key, semantic string) slice.Record {
	r := live(key, semantic)
	r.SemanticTime = semantic
	return r
}

// whole is all of Stream in connection c.
var whole = store.Part{ConnectionID: "c", Stream: Stream}

func listed(t testing.TB, s store.Store, q store.RecordQuery) []string {
	t.Helper()
	records, err := s.ListRecords(t.Context(), q)
	ok(t, err)
	return keysOf(records)
}

func changed(t testing.TB, s store.Store, q store.RecordQuery) []string {
	t.Helper()
	records, err := s.Changes(t.Context(), q)
	ok(t, err)
	return keysOf(records)
}

func testPartKeys(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	odd := []string{"a", "A", " a", "a ", `"`, `'`, `\`, "%", "_", "?", "$1", "1", "1.0", "null", "[1]", `["x","y"]`, "ä", "a\u0308", "\u2028", "\U0001f600", "a\nb"}
	for _, key := range odd {
		put(t, s, l, live(key, key))
	}
	in := func(keys ...string) []string {
		t.Helper()
		p := whole
		p.Keys = append([]string{}, keys...) // no key is not the same as every key
		return listed(t, s, store.RecordQuery{Part: p})
	}
	same(t, listed(t, s, store.RecordQuery{Part: whole}), odd)
	for _, key := range odd {
		same(t, in(key), []string{key})
	}
	same(t, in(odd...), odd)
	same(t, in("ä", "a", "a", "missing"), []string{"a", "ä"}) // in the order of the stream
	same(t, in(), nil)
	same(t, in("missing"), nil)
	same(t, in("nul\x00", "bad\xff", ""), nil)
	same(t, in("bad\xff", "a"), []string{"a"})
	many := make([]string, 0, 70_000) // more than either database takes parameters
	for len(many) < cap(many) {
		many = append(many, "no such key")
	}
	same(t, in(append(many, "a")...), []string{"a"})
	for _, p := range []store.Part{{}, {ConnectionID: "c"}, {Stream: Stream}, {ConnectionID: "c", Stream: "items\x00"}, {ConnectionID: "c\xff", Stream: Stream}} {
		same(t, listed(t, s, store.RecordQuery{Part: p}), nil)
		same(t, changed(t, s, store.RecordQuery{Part: p}), nil)
	}
}

func testPartWindow(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	put(t, s, l, dated("none", ""), dated("jan", "2026-01-01T00:00:00.000000Z"), dated("feb", "2026-02-01T00:00:00.000000Z"),
		dated("gone", "2026-01-15T00:00:00.000000Z"), dated("moved", "2026-01-20T00:00:00.000000Z"), tombstone("never"))
	put(t, s, l, tombstone("gone"), dated("moved", "2026-03-01T00:00:00.000000Z"))
	for _, c := range []struct {
		since, until string
		list, feed   []string
	}{
		{"", "", []string{"none", "jan", "feb", "moved"}, []string{"none", "jan", "feb", "never", "gone", "moved"}},
		{"2026-01-01T00:00:00.000000Z", "", []string{"jan", "feb", "moved"}, []string{"jan", "feb", "gone", "moved"}},
		{"2026-01-01T00:00:00.000001Z", "", []string{"feb", "moved"}, []string{"feb", "gone", "moved"}},
		{"", "2026-02-01T00:00:00.000000Z", []string{"jan"}, []string{"jan", "gone"}},
		{"", "2026-02-01T00:00:00.000001Z", []string{"jan", "feb"}, []string{"jan", "feb", "gone"}},
		{"2026-01-02", "2026-02-01", nil, []string{"gone"}},
		{"2026-01-16", "2026-03", []string{"feb"}, []string{"feb"}},
		{"2027", "2026", nil, nil},
		{"~", "", nil, nil},
		{"", "\x01", nil, nil},
		{"\x00", "", nil, nil}, // no database can be asked for it
		{"", "\xff", nil, nil},
	} {
		p := whole
		p.Since, p.Until = c.since, c.until
		same(t, listed(t, s, store.RecordQuery{Part: p}), c.list)
		same(t, changed(t, s, store.RecordQuery{Part: p}), c.feed)
	}
	// A record that comes back counts by what it is, not by what it was.
	put(t, s, l, dated("gone", ""))
	p := whole
	p.Since, p.Until = "2026-01-02", "2026-02-01"
	same(t, changed(t, s, store.RecordQuery{Part: p}), nil)
}

func testRecordOrder(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	put(t, s, l, live("a", "1"), live("b", "1"), live("c", "1"), live("d", "1"))
	put(t, s, l, live("b", "2"), tombstone("c"))
	seq := func(key string) int64 { return record(t, s, "c", key).Seq }
	newest := store.RecordQuery{Part: whole, NewestFirst: true}
	same(t, listed(t, s, newest), []string{"b", "d", "a"})
	same(t, changed(t, s, newest), []string{"c", "b", "d", "a"})
	newest.Limit, newest.AfterSeq = 2, seq("b")
	same(t, listed(t, s, newest), []string{"d", "a"})
	newest.AfterSeq = seq("a")
	same(t, listed(t, s, newest), nil)
	upTo := store.RecordQuery{Part: whole, UpToSeq: seq("d")}
	same(t, changed(t, s, upTo), []string{"a", "d"})
	upTo.NewestFirst = true
	same(t, changed(t, s, upTo), []string{"d", "a"})
	upTo.AfterSeq = seq("d")
	same(t, changed(t, s, upTo), []string{"a"})
	upTo = store.RecordQuery{Part: whole, UpToSeq: seq("b"), AfterSeq: seq("a")}
	same(t, changed(t, s, upTo), []string{"d", "b"})
}

// testStreamsOfAll: without a connection the streams of all are listed, and counted as those of one.
func testStreamsOfAll(t *testing.T, s store.Store) {
	none, err := s.Streams(t.Context(), "")
	ok(t, err)
	same(t, none, nil)
	for _, id := range []string{"d", "c"} {
		l := begin(t, s, id, "run-"+id, store.StreamSpec{Name: "notes"}, store.StreamSpec{Name: Stream})
		put(t, s, l, live("a", "1"), live("b", "1"), tombstone("never"))
		put(t, s, l, tombstone("a"))
	}
	all, err := s.Streams(t.Context(), "")
	ok(t, err)
	same(t, len(all), 4)
	same(t, all[:2], []store.StreamInfo{
		{ConnectionID: "c", Name: Stream, Records: 1, Deleted: 2, LastSeq: all[0].LastSeq, ChangedAt: &Now}, {ConnectionID: "c", Name: "notes"},
	})
	for i, id := range []string{"c", "d"} {
		one, err := s.Streams(t.Context(), id)
		ok(t, err)
		same(t, one, all[2*i:2*i+2])
	}
	nobody, err := s.Streams(t.Context(), "nobody")
	ok(t, err)
	same(t, nobody, nil)
}
