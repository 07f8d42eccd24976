package storetest

import (
	"fmt"
	"testing"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// declaring returns a manifest of the connector "example" with one stream.
func declaring(timeField, searched string) []byte {
	return fmt.Appendf(nil, `{"protocol_version":"0.1.0","connector_id":"example","version":"1.0.0",
		"display_name":"Example","streams":[
		{"name":"items","semantics":"mutable_state","primary_key":"id","consent_time_field":%q,
		"schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"made":{"type":"string"},
		"moved":{"type":"string"},"title":{"type":"string"},"note":{"type":"string"}}},
		"query":{"search":[%q]}}]}`, timeField, searched)
}

// moving returns a record that was made in one year and moved in another.
func moving(key, made, moved string) slice.Record {
	return slice.Record{Stream: Stream, Key: key, EmittedAt: "x", SemanticTime: moved + "-01-01T00:00:00.000000Z",
		Data: fmt.Appendf(nil, `{"id":%q,"made":"%s-01-01","moved":"%s-01-01T00:00:00Z","title":"heading","note":"remark"}`,
			key, made, moved)}
}

// backfillAll runs the backfill until nothing is left.
func backfillAll(t testing.TB, s store.Store) (steps int) {
	t.Helper()
	for done := false; !done; steps++ {
		var err error
		done, err = s.BackfillDerived(t.Context())
		ok(t, err)
	}
	return steps
}

// testBackfill checks that records of an earlier declaration are not returned by time limits or searches until they are
// backfilled.
func testBackfill(t *testing.T, s store.Store) {
	ctx := t.Context()
	_, err := s.PutManifest(ctx, "example", declaring("moved", "note"), Now)
	ok(t, err)
	spec := store.StreamSpec{Name: Stream, SearchFields: []string{"note"}, TimeField: "moved"}
	l := begin(t, s, "c", "r1", spec)
	put(t, s, l, moving("old", "2020", "2026"), moving("new", "2026", "2026"), moving("dead", "2020", "2026"),
		moving("late", "2026", "2020"))
	put(t, s, l, tombstone("dead"))
	finish(t, s, l, Now)
	since := func(d store.StreamSpec) store.AccessFilter {
		return store.AccessFilter{ConnectionID: "c", Stream: Stream, Since: "2026-01-01T00:00:00.000000Z", Declared: &d}
	}
	searched := func(d store.StreamSpec, word string) []string {
		got, err := s.Search(ctx, store.SearchQuery{In: []store.AccessFilter{{ConnectionID: "c", Stream: Stream,
			Declared: &d}}, Text: word})
		ok(t, err)
		return sorted(keysOf(got))
	}
	same(t, listed(t, s, store.RecordQuery{AccessFilter: since(spec)}), []string{"old", "new"})
	same(t, changed(t, s, store.RecordQuery{AccessFilter: since(spec)}), []string{"old", "new", "dead"})
	same(t, searched(spec, "remark"), []string{"late", "new", "old"})
	same(t, backfillAll(t, s), 1)
	same(t, upkeep(t, s, 1).Streams, nil)
	before := history(t, s, "old")

	_, err = s.PutManifest(ctx, "example", declaring("made", "title"), Now)
	ok(t, err)
	today := store.StreamSpec{Name: Stream, SearchFields: []string{"title"}, TimeField: "made"}
	for _, declared := range []store.StreamSpec{spec, today} { // a reader may know either
		same(t, listed(t, s, store.RecordQuery{AccessFilter: since(declared)}), nil)
		same(t, changed(t, s, store.RecordQuery{AccessFilter: since(declared)}), nil)
		same(t, searched(declared, "remark"), nil)
		same(t, searched(declared, "heading"), nil)
	}
	behind := store.StreamUpkeep{ConnectionID: "c", Connection: "Example", Stream: Stream, Changes: 5}
	same(t, upkeep(t, s, 1).Streams, []store.StreamUpkeep{behind})
	holding := start(t, s, "c", "holding", Now, today)
	behind.Held, behind.Searchable = true, 5 // a run indexes what it finds first
	same(t, upkeep(t, s, 1).Streams, []store.StreamUpkeep{behind})
	finish(t, s, holding, Now)
	same(t, backfillAll(t, s), 2)
	same(t, upkeep(t, s, 1).Streams, nil)
	same(t, listed(t, s, store.RecordQuery{AccessFilter: since(today)}), []string{"new", "late"})
	// what is dead was made in 2020
	same(t, changed(t, s, store.RecordQuery{AccessFilter: since(today)}), []string{"new", "late"})
	same(t, searched(today, "heading"), []string{"late", "new", "old"})
	same(t, searched(today, "remark"), nil)
	same(t, history(t, s, "old"), before) // the record did not change
	same(t, record(t, s, "c", "old").Version, 1)

	// A stream without a declared time field has no times.
	_, err = s.PutManifest(ctx, "example", declaring("", "title"), Now)
	ok(t, err)
	backfillAll(t, s)
	today.TimeField = ""
	same(t, listed(t, s, store.RecordQuery{AccessFilter: since(today)}), nil)
	put(t, s, start(t, s, "c", "r2", Now, today), moving("old", "2026", "2026"))
	same(t, len(history(t, s, "old")), 1) // a change is added to the history as usual
}

func history(t testing.TB, s store.Store, key string) []store.StoredRecord {
	t.Helper()
	got, err := s.History(t.Context(), "c", Stream, key, 0)
	ok(t, err)
	return got
}

// testBackfillWaitsForRun checks that a run that started under the earlier declaration continues with it, and that
// none of its records is returned until it has ended.
func testBackfillWaitsForRun(t *testing.T, s store.Store) {
	ctx := t.Context()
	earlier := store.StreamSpec{Name: Stream, SearchFields: []string{"note"}, TimeField: "moved"}
	today := store.StreamSpec{Name: Stream, SearchFields: []string{"title"}, TimeField: "made"}
	_, err := s.PutManifest(ctx, "example", declaring("moved", "note"), Now)
	ok(t, err)
	l := begin(t, s, "c", "r1", earlier)
	put(t, s, l, moving("a", "2020", "2026"))
	_, err = s.PutManifest(ctx, "example", declaring("made", "title"), Now)
	ok(t, err)
	put(t, s, l, moving("b", "2020", "2026"), moving("c", "2026", "2026"))
	part := store.AccessFilter{ConnectionID: "c", Stream: Stream, Since: "2026-01-01T00:00:00.000000Z", Declared: &today}
	same(t, backfillAll(t, s), 1)
	same(t, listed(t, s, store.RecordQuery{AccessFilter: part}), nil)
	finish(t, s, l, Now)
	backfillAll(t, s)
	same(t, listed(t, s, store.RecordQuery{AccessFilter: part}), []string{"c"})

	// A run that starts with an outdated declaration writes by that declaration.
	l = start(t, s, "c", "r2", Now, earlier)
	put(t, s, l, moving("d", "2020", "2026"))
	same(t, listed(t, s, store.RecordQuery{AccessFilter: part}), nil)
	finish(t, s, l, Now)
	backfillAll(t, s)
	// backfilled, but not by the current declaration
	same(t, listed(t, s, store.RecordQuery{AccessFilter: part}), nil)
}

// testBackfillManyRows checks that a backfill in several transactions can be read meanwhile.
//
//pdpp:tier unraced TestStore/AlignManyRows
func testBackfillManyRows(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1", store.StreamSpec{Name: Stream, TimeField: "moved"})
	const n = 2500
	records := make([]slice.Record, n)
	for i := range records {
		records[i] = moving(fmt.Sprintf("k%04d", i), "2026", "2020")
	}
	put(t, s, l, records...)
	finish(t, s, l, Now)
	today := store.StreamSpec{Name: Stream, TimeField: "made"}
	finish(t, s, start(t, s, "c", "r2", Now, today), Now)
	part := store.AccessFilter{ConnectionID: "c", Stream: Stream, Since: "2026-01-01T00:00:00.000000Z", Declared: &today}
	read := func() int { return len(listed(t, s, store.RecordQuery{AccessFilter: part, Limit: 2 * n})) }
	seen := []int{read()}
	for done := false; !done; {
		var err error
		done, err = s.BackfillDerived(t.Context())
		ok(t, err)
		if now := read(); now != seen[len(seen)-1] {
			seen = append(seen, now)
		}
	}
	same(t, seen, []int{0, 1000, 2000, n})
}
