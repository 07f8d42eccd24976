package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// titled returns a record with a searchable title and a note that is not.
func titled(key, title, note string) slice.Record {
	return slice.Record{Stream: Stream, Key: key, Data: fmt.Appendf(nil, `{"title":%q,"note":%q}`, title, note),
		EmittedAt: "x"}
}

var titles = store.StreamSpec{Name: Stream, SearchFields: []string{"title"}}

// searchedKeys returns the sorted keys of a search's results.
func searchedKeys(t *testing.T, s store.Store, text string) []string {
	t.Helper()
	records, err := s.Search(t.Context(), store.SearchQuery{In: []store.AccessFilter{{ConnectionID: "c"}}, Text: text})
	ok(t, err)
	keys := keysOf(records)
	slices.Sort(keys)
	return keys
}

func testSearch(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1", titles)
	put(t, s, l,
		titled("a", "The quick brown Fox, jumping", "lazy"),
		titled("b", "quick-fire round: 42 questions (foo@example.org)", "brown"),
		titled("c", "Überraschung am Äquator", ""))
	for text, want := range map[string][]string{
		"quick":         {"a", "b"},
		"QUICK":         {"a", "b"},
		"brown quick":   {"a"},
		"fox!":          {"a"},
		"fire":          {"b"},
		"quick-fire":    {"b"},
		"42":            {"b"},
		"example":       {"b"},
		"überraschung":  {"c"},
		"ÄQUATOR":       {"c"},
		"qui":           nil, // whole words
		"lazy":          nil, // not an indexed field
		"quick missing": nil,
		"":              nil,
		" \"' * ( -":    nil,
		"quick OR lazy": nil, // no operators
		"title":         nil, // names are not text
	} {
		if got := searchedKeys(t, s, text); !slices.Equal(got, want) {
			t.Errorf("search %q finds %v, want %v", text, got, want)
		}
	}
}

func testSearchUpdates(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1", titles)
	put(t, s, l, titled("a", "first words", ""), titled("b", "first words", ""))
	put(t, s, l, titled("a", "second words", ""))
	same(t, searchedKeys(t, s, "first"), []string{"b"})
	same(t, searchedKeys(t, s, "second"), []string{"a"})
	put(t, s, l, titled("a", "second words", ""), titled("c", "third words", "")) // one unchanged, one new
	same(t, searchedKeys(t, s, "words"), []string{"a", "b", "c"})
	put(t, s, l, tombstone("a"), tombstone("z"))
	same(t, searchedKeys(t, s, "words"), []string{"b", "c"})
	put(t, s, l, titled("a", "fourth words", ""))
	same(t, searchedKeys(t, s, "second"), nil)
	same(t, searchedKeys(t, s, "fourth words"), []string{"a"})
}

func testSearchScope(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1", titles, store.StreamSpec{Name: "others", SearchFields: []string{"note", "title"}},
		store.StreamSpec{Name: "plain"})
	elsewhere := begin(t, s, "d", "r2", titles)
	put(t, s, elsewhere, titled("x", "word", ""))
	other, plain := titled("o", "two", "word"), titled("p", "word", "word")
	other.Stream, plain.Stream = "others", "plain"
	put(t, s, l, titled("a", "word", ""), other, plain)
	commit(t, s, l, slice.Slice{Records: []slice.Record{titled("b", "word", "")}}, Now.Add(time.Second))

	search := func(stream, text string, limit int) []string {
		records, err := s.Search(ctx, store.SearchQuery{In: []store.AccessFilter{{ConnectionID: "c", Stream: stream}},
			Text: text, Limit: limit})
		ok(t, err)
		return keysOf(records)
	}
	same(t, search("", "word", 0), []string{"b", "o", "a"}) // newest stored first
	same(t, search("", "word", 1), []string{"b"})
	same(t, search("others", "word", 0), []string{"o"})
	same(t, search("", "word two", 0), []string{"o"}) // words from both fields
	same(t, search("plain", "word", 0), nil)
}

// testSearchFieldsChange checks that a new version of a connector indexes other fields, and finds old records by
// them, more than one transaction indexes.
//
//pdpp:tier unraced TestStore/SearchFieldsChange
func testSearchFieldsChange(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	const n = 2100
	records := make([]slice.Record, n)
	for i := range records {
		records[i] = titled(fmt.Sprintf("k%04d", i), fmt.Sprint("heading", i), fmt.Sprint("remark", i))
	}
	put(t, s, l, records...)
	// sees reports which of the first, the last and one between are found.
	sees := func(text string) (seen []bool) {
		for _, i := range []int{0, 1950, n - 1} {
			seen = append(seen, len(searchedKeys(t, s, fmt.Sprint(text, i))) == 1)
		}
		return seen
	}
	all, none := []bool{true, true, true}, []bool{false, false, false}
	same(t, sees("heading"), none)
	again := func(run string, fields ...string) {
		finish(t, s, l, Now)
		l = start(t, s, "c", run, Now, store.StreamSpec{Name: Stream, SearchFields: fields})
	}
	again("r2", "title")
	same(t, sees("heading"), []bool{true, true, false})
	put(t, s, l, titled("new", "fresh", "")) // any commit continues with the rest
	same(t, [][]bool{sees("heading"), sees("remark")}, [][]bool{all, none})
	same(t, searchedKeys(t, s, "fresh"), []string{"new"})
	again("r3")
	same(t, [][]bool{sees("heading"), sees("remark")}, [][]bool{none, none})
	put(t, s, l, titled("k0000", "heading0", "changed"), tombstone("k2000"))
	again("r4", "note")
	same(t, searchedKeys(t, s, "heading2000"), nil) // deleted, although its old entry still exists
	put(t, s, l)
	put(t, s, l, titled("new", "fresh", "remark"))
	same(t, [][]bool{sees("heading"), sees("remark")}, [][]bool{none, {false, true, true}})
	same(t, searchedKeys(t, s, "changed"), []string{"k0000"})
	same(t, searchedKeys(t, s, "fresh"), nil)
}

// testSearchOddText checks that unusual text is stored, and the rest of it is found.
func testSearchOddText(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1", store.StreamSpec{Name: Stream, SearchFields: []string{"title", `ti"t.l$e`, "missing"}})
	words := make([]string, 20_000)
	for i := range words {
		words[i] = fmt.Sprintf("w%dx", i)
	}
	for key, data := range map[string]string{
		"nul":     `{"title":"nul \u0000 needle"}`,
		"quote":   `{"ti\"t.l$e":"quoted needle"}`,
		"list":    `{"title":["one needle","two"]}`,
		"number":  `{"title":4711}`,
		"object":  `{"title":{"a":"inner needle"}}`,
		"null":    `{"title":null}`,
		"long":    `{"title":"needle ` + strings.Join(words, " ") + `"}`,
		"oneword": `{"title":"needle ` + strings.Repeat("x", 5000) + `"}`,
		"empty":   `{}`,
	} {
		put(t, s, l, slice.Record{Stream: Stream, Key: key, Data: []byte(data), EmittedAt: "x"})
	}
	same(t, searchedKeys(t, s, "needle"), []string{"list", "long", "nul", "object", "oneword", "quote"})
	same(t, searchedKeys(t, s, "4711"), []string{"number"})
	same(t, searchedKeys(t, s, "w0x w9999x"), []string{"long"})
}

// testSearchUploads checks that an upload that opens a run under other search fields indexes the earlier records
// together with its own.
func testSearchUploads(t *testing.T, s store.Store) {
	u := uploaderOf(t, s, "1", "home")
	u.Streams = []store.StreamSpec{titles}
	first := batchOf(u, 1, titled("a", "first words", "one remark"), titled("b", "second words", "other remark"))
	first.Ends = &store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}
	upload(t, s, first, Now)
	u.Streams = []store.StreamSpec{{Name: Stream, SearchFields: []string{"note"}}}
	upload(t, s, batchOf(u, 2, titled("b", "second words", "changed remark"), titled("c", "third words", "new remark")),
		Now.Add(24*time.Hour))
	for text, want := range map[string][]string{"remark": {"a", "b", "c"}, "changed": {"b"}, "other": nil, "words": nil} {
		found, err := s.Search(t.Context(), store.SearchQuery{In: []store.AccessFilter{{ConnectionID: u.ConnectionID}},
			Text: text})
		ok(t, err)
		keys := keysOf(found)
		slices.Sort(keys)
		same(t, keys, want)
	}
}
