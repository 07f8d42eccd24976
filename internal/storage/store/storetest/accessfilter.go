package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// dated returns a record of Stream with its own time.
func dated(key, semantic string) slice.Record {
	r := live(key, semantic)
	r.SemanticTime = semantic
	return r
}

// wholeStream is all of Stream in connection c.
var wholeStream = store.AccessFilter{ConnectionID: "c", Stream: Stream}

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
	odd := []string{"a", "A", " a", "a ", `"`, `'`, `\`, "%", "_", "?", "$1", "1", "1.0", "null", "[1]", `["x","y"]`, "ä",
		"a\u0308", "\u2028", "\U0001f600", "a\nb"}
	for _, key := range odd {
		put(t, s, l, live(key, key))
	}
	in := func(keys ...string) []string {
		t.Helper()
		p := wholeStream
		p.Keys = append([]string{}, keys...) // an empty list is not the same as nil
		return listed(t, s, store.RecordQuery{AccessFilter: p})
	}
	same(t, listed(t, s, store.RecordQuery{AccessFilter: wholeStream}), odd)
	for _, key := range odd {
		same(t, in(key), []string{key})
	}
	same(t, in(odd...), odd)
	same(t, in("ä", "a", "a", "missing"), []string{"a", "ä"}) // in the order of the stream
	same(t, in(), nil)
	same(t, in("missing"), nil)
	same(t, in("nul\x00", "bad\xff", ""), nil)
	same(t, in("bad\xff", "a"), []string{"a"})
	many := make([]string, 0, 70_000) // more than either database accepts as parameters
	for len(many) < cap(many) {
		many = append(many, "no such key")
	}
	same(t, in(append(many, "a")...), []string{"a"})
	for _, p := range []store.AccessFilter{{}, {ConnectionID: "c"}, {Stream: Stream},
		{ConnectionID: "c", Stream: "items\x00"}, {ConnectionID: "c\xff", Stream: Stream}} {
		same(t, listed(t, s, store.RecordQuery{AccessFilter: p}), nil)
		same(t, changed(t, s, store.RecordQuery{AccessFilter: p}), nil)
	}
}

func testPartWindow(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	put(t, s, l, dated("none", ""), dated("jan", "2026-01-01T00:00:00.000000Z"),
		dated("feb", "2026-02-01T00:00:00.000000Z"),
		dated("gone", "2026-01-15T00:00:00.000000Z"), dated("moved", "2026-01-20T00:00:00.000000Z"), tombstone("never"))
	put(t, s, l, tombstone("gone"), dated("moved", "2026-03-01T00:00:00.000000Z"))
	for _, c := range []struct {
		since, until string
		list, feed   []string
	}{
		{"", "", []string{"none", "jan", "feb", "moved"}, []string{"none", "jan", "feb", "never", "gone", "moved"}},
		{"2026-01-01T00:00:00.000000Z", "", []string{"jan", "feb", "moved"}, []string{"jan", "feb", "gone", "moved"}},
		{"2026-01-01T00:00:00.000001Z", "", []string{"feb", "moved"}, []string{"feb", "gone", "moved"}},
		{"", "2026-02-01T00:00:00.000000Z", []string{"jan"}, []string{"jan", "gone", "moved"}},
		{"", "2026-02-01T00:00:00.000001Z", []string{"jan", "feb"}, []string{"jan", "feb", "gone", "moved"}},
		{"2026-01-02", "2026-02-01", nil, []string{"gone", "moved"}},
		{"2026-01-16", "2026-03", []string{"feb"}, []string{"feb", "moved"}},
		{"2027", "2026", nil, nil},
		{"~", "", nil, nil},
		{"", "\x01", nil, nil},
		{"\x00", "", nil, nil}, // no database accepts it as a parameter
		{"", "\xff", nil, nil},
	} {
		p := wholeStream
		p.Since, p.Until = c.since, c.until
		same(t, listed(t, s, store.RecordQuery{AccessFilter: p}), c.list)
		same(t, changed(t, s, store.RecordQuery{AccessFilter: p}), c.feed)
	}
	// A record that moves to another time has departed.
	put(t, s, l, dated("gone", ""))
	p := wholeStream
	p.Since, p.Until = "2026-01-02", "2026-02-01"
	same(t, changed(t, s, store.RecordQuery{AccessFilter: p}), []string{"moved", "gone"})
}

// testAllowedValues checks that AllowedValues compares values as they are written, in lists and in searches, and that
// no other spelling gives access.
func testAllowedValues(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1", store.StreamSpec{Name: Stream, SearchFields: []string{"w"}})
	for key, data := range map[string]string{
		"text": `"a":"x"`, "escaped": `"\u0061":"\u0078"`, "number": `"a":1`, "textOne": `"a":"1"`, "decimal": `"a":1.0`,
		"true": `"a":true`,
		"null": `"a":null`, "list": `"a":["x"]`, "inner": `"b":{"a":"x"}`, "none": `"b":"x"`, "twice": `"a":"x","a":"y"`,
		"again": `"a":"y","a":"x"`,
		"nul":   `"a":"x\u0000"`, "nulElsewhere": `"a":"x","b":"\u0000"`, "smile": `"a":"\ud83d\ude00"`,
		"half":   `"a":"\ud83d"`,
		"halves": `"a":"\ude00\ud83d"`, "halfElsewhere": `"a":"x","b":"\ud83d\ud83d\ude00\ude00"`,
		"backslash": `"a":"\\u0000"`, "two": `"a":"\\\u0000"`,
	} {
		put(t, s, l, slice.Record{Stream: Stream, Key: key, Data: []byte(`{"w":"word",` + data + `}`), EmittedAt: "x"})
	}
	for _, c := range []struct {
		field  string
		values []string
		want   []string
	}{
		{"a", []string{"x"}, []string{"again", "escaped", "halfElsewhere", "nulElsewhere", "text"}},
		{"a", []string{"y", "1"}, []string{"number", "textOne", "twice"}},
		{"a", []string{"\U0001f600"}, []string{"smile"}}, {"a", []string{"\ufffd"}, []string{"half"}},
		{"a", []string{"\ufffd\ufffd"}, []string{"halves"}},
		{"a", []string{`\u0000`}, []string{"backslash"}},
		{"a", []string{"x\x00", "x\xff", `x\u0000`, "X", "", "true", "null", `["x"]`, "x' OR '1'='1", "%"}, nil},
		{"a", []string{}, nil}, {"a", nil, nil}, {"A", []string{"x"}, nil}, {"", []string{"x"}, nil},
		{"a\x00", []string{"x"}, nil}, {"$.a", []string{"x"}, nil},
	} {
		p := wholeStream
		p.AllowedValues = &store.AllowedValues{Field: c.field, Values: c.values}
		counted, err := s.Aggregate(t.Context(), store.AggregateQuery{AccessFilter: p, Metric: store.MetricCount})
		ok(t, err)
		if want := fmt.Sprint(len(c.want)); len(counted.Groups) > 0 && string(counted.Groups[0].Value) != want ||
			len(counted.Groups) == 0 && len(c.want) > 0 {
			t.Errorf("counted where %q is among %q: %+v, want %s", c.field, c.values, counted, want)
		}
		for how, got := range map[string][]string{
			"listed":   listed(t, s, store.RecordQuery{AccessFilter: p}),
			"changed":  changed(t, s, store.RecordQuery{AccessFilter: p}),
			"searched": searched(t, s, store.SearchQuery{In: []store.AccessFilter{p}, Text: "word"}),
		} {
			if fmt.Sprint(sorted(got)) != fmt.Sprint(c.want) {
				t.Errorf("%s where %q is among %q: %v, want %v", how, c.field, c.values, got, c.want)
			}
		}
	}
}

// testDepartures checks that a reader of changes learns once that a record stopped matching, without its new content,
// and nothing about records that departed before it started.
func testDepartures(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	step := 0
	at := func() time.Time { return Now.Add(time.Duration(step) * time.Minute) }
	places := func(pairs ...string) {
		step++
		var all []slice.Record
		for i := 0; i < len(pairs); i += 2 {
			r := tombstone(pairs[i])
			if pairs[i+1] != "" {
				r = slice.Record{Stream: Stream, Key: pairs[i], EmittedAt: fmt.Sprint("secret ", step),
					Data: []byte(fmt.Sprintf(`{"place":%q,"step":%d}`, pairs[i+1], step))}
			}
			all = append(all, r)
		}
		commit(t, s, l, slice.Slice{Records: all}, at())
	}
	part := wholeStream
	part.AllowedValues = &store.AllowedValues{Field: "place", Values: []string{"home", "work"}}
	hears := func(q store.RecordQuery, want ...string) (last int64) {
		t.Helper()
		q.AccessFilter = part
		rows, err := s.Changes(t.Context(), q)
		ok(t, err)
		var got []string
		for _, r := range rows {
			word := r.Key
			if r.Deleted {
				word += " left"
				if r.Data != nil || r.RunID != "" || strings.Contains(r.EmittedAt, "secret") || r.Version != 0 {
					t.Errorf("a record that left tells %+v", r)
				}
				word += " at " + fmt.Sprint(int(r.ChangedAt.Sub(Now).Minutes()))
			}
			got, last = append(got, word), r.Seq
		}
		same(t, got, want)
		return last
	}
	places("a", "home", "b", "work", "c", "away", "d", "home")
	known := hears(store.RecordQuery{}, "a", "b", "d")
	places("a", "away", "c", "home", "d", "")
	began := store.RecordQuery{AfterSeq: known, Known: known}
	places("a", "further", "b", "home")
	hears(began, "c", "d left at 2", "a left at 2", "b")
	hears(store.RecordQuery{}, "c", "d left at 2", "a left at 2", "b")
	hears(store.RecordQuery{KnownAt: at()}, "c", "b") // both departed before the grant existed
	// A paged read reports it at the record's current position, and knows it from then on.
	paged := began
	paged.Limit = 2
	paged.AfterSeq = hears(paged, "c", "d left at 2")
	now := hears(paged, "a left at 2", "b")
	places("a", "nowhere", "d", "away")
	hears(store.RecordQuery{AfterSeq: now, Known: now})
	places("a", "home", "d", "home", "b", "")
	hears(store.RecordQuery{AfterSeq: now, Known: now}, "a", "d", "b left at 5")
}

func testRecordOrder(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	put(t, s, l, live("a", "1"), live("b", "1"), live("c", "1"), live("d", "1"))
	put(t, s, l, live("b", "2"), tombstone("c"))
	seq := func(key string) int64 { return record(t, s, "c", key).Seq }
	newest := store.RecordQuery{AccessFilter: wholeStream, NewestFirst: true}
	same(t, listed(t, s, newest), []string{"b", "d", "a"})
	same(t, changed(t, s, newest), []string{"c", "b", "d", "a"})
	newest.Limit, newest.AfterSeq = 2, seq("b")
	same(t, listed(t, s, newest), []string{"d", "a"})
	newest.AfterSeq = seq("a")
	same(t, listed(t, s, newest), nil)
	upTo := store.RecordQuery{AccessFilter: wholeStream, UpToSeq: seq("d")}
	same(t, changed(t, s, upTo), []string{"a", "d"})
	upTo.NewestFirst = true
	same(t, changed(t, s, upTo), []string{"d", "a"})
	upTo.AfterSeq = seq("d")
	same(t, changed(t, s, upTo), []string{"a"})
	upTo = store.RecordQuery{AccessFilter: wholeStream, UpToSeq: seq("b"), AfterSeq: seq("a")}
	same(t, changed(t, s, upTo), []string{"d", "b"})
}

// testStreamsOfAll checks that without a connection the streams of all are listed and counted.
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
		{ConnectionID: "c", Name: Stream, Records: 1, Deleted: 2, LastSeq: all[0].LastSeq, ChangedAt: &Now},
		{ConnectionID: "c", Name: "notes"},
	})
	for i, id := range []string{"c", "d"} {
		one, err := s.Streams(t.Context(), id)
		ok(t, err)
		same(t, one, all[2*i:2*i+2])
	}
	streamInfos, err := s.Streams(t.Context(), "nobody")
	ok(t, err)
	same(t, streamInfos, nil)
}
