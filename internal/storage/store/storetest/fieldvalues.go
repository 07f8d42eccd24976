package storetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// testFieldValues checks that a value is found as it is written, with any names and values, also next to unusual
// other fields.
func testFieldValues(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	long := strings.Repeat("long ", 1000)
	for key, data := range map[string]string{
		"text":      `{"a":"x","b":"y"}`,
		"escaped":   `{"\u0061":"\u0078"}`,
		"number":    `{"a":1}`,
		"decimal":   `{"a":1.0}`,
		"power":     `{"a":1e2}`,
		"large":     `{"a":12345678901234567890123456789}`,
		"huge":      `{"a":1e400}`,
		"negative":  `{"a":-0}`,
		"true":      `{"a":true}`,
		"textTrue":  `{"a":"true"}`,
		"textOne":   `{"a":"1"}`,
		"null":      `{"a":null}`,
		"textNull":  `{"a":"null"}`,
		"list":      `{"a":["x"]}`,
		"object":    `{"a":{"a":"x"}}`,
		"inner":     `{"c":{"a":"x"}}`,
		"empty":     `{"a":""}`,
		"nothing":   `{}`,
		"noName":    `{"":"x"}`,
		"quoted":    `{"q\"'.$[0]":"x"}`,
		"backslash": `{"a":"\\"}`,
		"quote":     `{"a":"\""}`,
		"nul":       `{"a":"\u0000"}`,
		"surrogate": `{"z":"\ud800"}`,
		"umlaut":    `{"a":"ä"}`,
		"question":  `{"a":"? $1 % _"}`,
		"line":      `{"a":"one\ntwo"}`,
		"long":      `{"a":"` + long + `"}`,
		"spaced":    "{ \"a\" :\t\"sp\" }",
	} {
		put(t, s, l, slice.Record{Stream: Stream, Key: key, Data: []byte(data), EmittedAt: "x"})
	}
	for _, c := range []struct {
		field, value string
		want         []string
	}{
		{"a", "x", []string{"escaped", "text"}}, {"b", "y", []string{"text"}}, {"a", "y", nil}, {"A", "x", nil},
		{"a", "X", nil},
		{"a", "1", []string{"number", "textOne"}}, {"a", "1.0", []string{"decimal"}}, {"a", "1e2", []string{"power"}},
		{"a", "100", nil},
		{"a", "12345678901234567890123456789", []string{"large"}}, {"a", "1e400", []string{"huge"}},
		{"a", "-0", []string{"negative"}},
		{"a", "0", nil}, {"a", "true", []string{"textTrue", "true"}}, {"a", "null", []string{"textNull"}},
		{"a", "", []string{"empty"}},
		{"", "x", []string{"noName"}}, {`q"'.$[0]`, "x", []string{"quoted"}}, {`q\"'.$[0]`, "x", nil}, {"c", "x", nil},
		{"a", `\`, []string{"backslash"}}, {"a", `"`, []string{"quote"}}, {"a", "\x00", []string{"nul"}},
		{"a", "ä", []string{"umlaut"}},
		{"a", "? $1 % _", []string{"question"}}, {"a", "one\ntwo", []string{"line"}}, {"a", long, []string{"long"}},
		{"a", "sp", []string{"spaced"}},
		{"a", `["x"]`, nil}, {"a", `{"a":"x"}`, nil}, {"a", "\xff", nil}, {"a\xff", "x", nil}, {"a\x00", "x", nil},
		{"$.a", "x", nil}, {"a' OR '1'='1", "x", nil}, {"a", "x' OR '1'='1", nil}, {"a", "%", nil}, {"?", "?", nil},
	} {
		where := []store.FieldValue{{Field: c.field, Value: c.value}}
		got, err := s.ListRecords(t.Context(), store.RecordQuery{AccessFilter: wholeStream, Where: where})
		ok(t, err)
		keys := sorted(keysOf(got))
		if fmt.Sprint(keys) != fmt.Sprint(c.want) {
			t.Errorf("where %.40q is %.40q: %v, want %v", c.field, c.value, keys, c.want)
		}
	}
	both := []store.FieldValue{{Field: "a", Value: "x"}, {Field: "b", Value: "y"}}
	same(t, listed(t, s, store.RecordQuery{AccessFilter: wholeStream, Where: both}), []string{"text"})
	both[1].Value = "x"
	same(t, listed(t, s, store.RecordQuery{AccessFilter: wholeStream, Where: both}), nil)
}

// testFieldValuesOfTombstones checks that in the change feed a tombstone is compared by its last data.
func testFieldValuesOfTombstones(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	put(t, s, l, live("a", "x"), live("b", "y"), live("c", "x"), tombstone("never"))
	put(t, s, l, live("c", "y"))
	put(t, s, l, tombstone("a"), tombstone("c"))
	where := []store.FieldValue{{Field: "v", Value: "x"}}
	same(t, changed(t, s, store.RecordQuery{AccessFilter: wholeStream, Where: where}), []string{"a"})
	same(t, listed(t, s, store.RecordQuery{AccessFilter: wholeStream, Where: where}), nil)
	got, err := s.Changes(t.Context(), store.RecordQuery{AccessFilter: wholeStream, Where: where})
	ok(t, err)
	same(t, got, []store.StoredRecord{record(t, s, "c", "a")}) // without its last data
	where[0].Value = "y"
	same(t, changed(t, s, store.RecordQuery{AccessFilter: wholeStream, Where: where}), []string{"b", "c"})
}

// testFieldValuesFarApart checks that a page is filled from far more records than one statement reads.
func testFieldValuesFarApart(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	const n, every = 4000, 390
	records := make([]slice.Record, n)
	for i := range records {
		value := `back\slash` // an escape, which the statement itself cannot compare
		if i%every == 7 {
			value = "needle"
		}
		records[i] = live(fmt.Sprintf("k%04d", i), value)
	}
	put(t, s, l, records...)
	var want []string
	for i := 7; i < n; i += every {
		want = append(want, records[i].Key)
	}
	q := store.RecordQuery{AccessFilter: wholeStream, Where: []store.FieldValue{{Field: "v", Value: "needle"}},
		Limit: len(want) - 1}
	same(t, listed(t, s, q), want[:len(want)-1])
	q.AfterSeq = record(t, s, "c", want[len(want)-2]).Seq
	same(t, listed(t, s, q), want[len(want)-1:])
	q = store.RecordQuery{AccessFilter: wholeStream, Where: q.Where, Limit: 1, NewestFirst: true}
	same(t, listed(t, s, q), want[len(want)-1:])
}
