package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// week is how long a deletion of these tests can be undone.
const week = 7 * 24 * time.Hour

func ask(t testing.TB, s store.Store, id string, scope store.DeletionScope) {
	t.Helper()
	ok(t, s.RequestDeletion(t.Context(),
		store.Deletion{ID: id, DeletionScope: scope, AskedAt: Now, PurgeAfter: Now.Add(week)}))
}

// advance does all work that is due at a time.
func advance(t testing.TB, s store.Store, at time.Time) {
	t.Helper()
	for idle := false; !idle; {
		var err error
		idle, err = s.AdvanceDeletion(t.Context(), at)
		ok(t, err)
	}
}

// removeFiles removes deleted files, like the file storage.
func removeFiles(t testing.TB, s store.Store) (removed []string) {
	t.Helper()
	all, err := s.DeletedFiles(t.Context(), 0)
	ok(t, err)
	for _, hash := range all {
		ok(t, s.FileDeleted(t.Context(), hash))
	}
	return all
}

func deletionOf(t testing.TB, s store.Store, id string) store.Deletion {
	t.Helper()
	d, err := s.Deletion(t.Context(), id)
	ok(t, err)
	return d
}

// everyReader returns everything that an owner can read of a connection, except sequence numbers and times.
func everyReader(t testing.TB, s store.Store, connection string) (lines []string) {
	t.Helper()
	streams, err := s.Streams(t.Context(), connection)
	ok(t, err)
	for _, st := range streams {
		_, room := diskUsageOf(t, s, connection, st.Name)
		lines = append(lines, fmt.Sprint(st.Name, " has ", st.Records, " records, ", st.Deleted, " deleted, ", room.Files,
			" files of ", room.FileBytes))
		part := store.AccessFilter{ConnectionID: connection, Stream: st.Name}
		all, err := s.ListRecords(t.Context(), store.RecordQuery{AccessFilter: part, Limit: 1 << 20})
		ok(t, err)
		var of []string
		for _, r := range all {
			files, err := s.RecordBlobs(t.Context(), []int64{r.ID})
			ok(t, err)
			of = append(of, fmt.Sprint(r.Key, " ", string(r.Data), " ", r.EmittedAt, " ", r.SemanticTime, " ", r.Version, " ",
				r.RunID, " ", files[r.ID]))
		}
		feed, err := s.Changes(t.Context(), store.RecordQuery{AccessFilter: part, Limit: 1 << 20})
		ok(t, err)
		for _, r := range feed {
			history, err := s.History(t.Context(), connection, st.Name, r.Key, 0)
			ok(t, err)
			for _, v := range history {
				of = append(of, fmt.Sprint(r.Key, " had ", v.Version, " ", string(v.Data), " ", v.SemanticTime, " ", v.RunID))
			}
			if r.Deleted {
				of = append(of, fmt.Sprint(r.Key, " is deleted"))
			}
		}
		slices.Sort(of)
		lines = append(lines, of...)
		days, err := s.DayCounts(t.Context(), store.DayQuery{ConnectionID: connection, Stream: st.Name})
		ok(t, err)
		for _, d := range days {
			lines = append(lines, fmt.Sprint(d.Day, " ", d.Records))
		}
	}
	for _, word := range []string{"pear", "plum"} {
		hits, err := s.Search(t.Context(), store.SearchQuery{In: []store.AccessFilter{{ConnectionID: connection}},
			Text: word})
		ok(t, err)
		keys := keysOf(hits)
		slices.Sort(keys)
		lines = append(lines, word+": "+strings.Join(keys, " "))
	}
	return lines
}

// testDeletion follows a stream's deletion to its end.
func testDeletion(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1", titles, store.StreamSpec{Name: "notes"})
	commit(t, s, l, withFiles(
		slice.Record{Stream: Stream, Key: "a", Data: []byte(`{"title":"pear one"}`), EmittedAt: "x",
			Blobs: []slice.Blob{blobOf("only here", "title"), blobOf("both", "title")}},
		slice.Record{Stream: Stream, Key: "b", Data: []byte(`{"title":"pear two"}`), EmittedAt: "x"},
		slice.Record{Stream: Stream, Key: "gone", Data: []byte(`{"title":"pear three"}`), EmittedAt: "x"},
		slice.Record{Stream: "notes", Key: "n", Data: []byte(`{"f":1}`), EmittedAt: "x",
			Blobs: []slice.Blob{blobOf("both", "f")}}), Now)
	move(t, s, l, `{"at":1}`, titled("b", "plum two", ""), tombstone("gone"))
	before := everyReader(t, s, "c")
	scope := store.DeletionScope{Kind: store.DeleteStream, ConnectionID: "c", Stream: Stream}
	counts, err := s.PreviewDeletion(ctx, scope)
	ok(t, err)
	same(t, counts, store.DeletionCounts{Records: 2, Tombstones: 1, Versions: 2, Bytes: counts.Bytes, Files: 1,
		FileBytes: 9})

	ask(t, s, "d1", scope)
	fails(t, s.RequestDeletion(ctx,
		store.Deletion{ID: "d2", DeletionScope: store.DeletionScope{Kind: store.DeleteStream, ConnectionID: "c",
			Stream: "none"}}), store.ErrNotFound)
	fails(t, s.RequestDeletion(ctx,
		store.Deletion{ID: "d2", DeletionScope: store.DeletionScope{Kind: store.DeleteConnection, ConnectionID: "none"}}),
		store.ErrNotFound)
	// the run goes on
	same(t, put(t, s, l, titled("new", "pear", ""), titled("b", "pear", "")), store.Committed{Unchanged: 2})
	advance(t, s, Now)
	d := deletionOf(t, s, "d1")
	same(t, []any{d.State, d.DeletionCounts, d.TurnedAway, d.BlocksReturn},
		[]any{store.DeletionHidden, counts, int64(2), true})
	for _, line := range everyReader(t, s, "c") {
		if strings.Contains(line, "pear one") || strings.Contains(line, "plum two") || strings.Contains(line, "pear three") {
			t.Errorf("a reader still has %s", line)
		}
	}
	same(t, len(changes(t, s, "c")), 3) // readers of changes see it
	for _, r := range changes(t, s, "c") {
		same(t, []any{r.Deleted, r.Data == nil}, []any{true, true})
	}
	_, err = s.FindBlob(ctx, hashOf("only here"), nil)
	fails(t, err, store.ErrNotFound)
	CountsAreTrue(t, s, "c", Stream)
	same(t, len(removeFiles(t, s)), 0)

	ok(t, s.UndoDeletion(ctx, "d1", Now.Add(time.Hour)))
	advance(t, s, Now.Add(time.Hour)) // the run is active, and its cursor has passed rejected records
	same(t, deletionOf(t, s, "d1").State, store.DeletionUndoing)
	finish(t, s, l, Now.Add(time.Hour))
	advance(t, s, Now.Add(time.Hour))
	same(t, []any{deletionOf(t, s, "d1").State, deletionOf(t, s, "d1").TurnedAway}, []any{store.DeletionUndone, int64(2)})
	same(t, cmp.Diff(before, everyReader(t, s, "c")), "")
	same(t, cursors(t, s, "c", ""), map[string]string{})
	CountsAreTrue(t, s, "c", Stream)
	fails(t, s.UndoDeletion(ctx, "d1", Now), store.ErrTooLate)
	fails(t, s.PurgeDeletion(ctx, "d1", Now), store.ErrTooLate)

	ask(t, s, "d3", scope)
	ok(t, s.PurgeDeletion(ctx, "d3", Now))
	advance(t, s, Now)
	fails(t, s.UndoDeletion(ctx, "d3", Now), store.ErrTooLate)
	d = deletionOf(t, s, "d3")
	same(t, []any{d.State, d.DeletionCounts, d.Purged}, []any{store.DeletionCompacting, counts, int64(3)})
	ok(t, s.FinishDeletions(ctx, Now))
	same(t, deletionOf(t, s, "d3").State, store.DeletionCompacting) // a file is left
	same(t, removeFiles(t, s), []string{hashOf("only here")})
	ok(t, s.FinishDeletions(ctx, Now.Add(time.Minute)))
	d = deletionOf(t, s, "d3")
	same(t, []any{d.State, d.EndedAt, d.Trouble}, []any{store.DeletionPurged, ptr(Now.Add(time.Minute)), ""})
	same(t, len(changes(t, s, "c")), 0)
	_, err = s.Record(ctx, "c", Stream, "a")
	fails(t, err, store.ErrNotFound)
	info, err := s.Streams(ctx, "c")
	ok(t, err)
	same(t, []int64{info[0].Records, info[0].Deleted, info[0].PurgedSeq}, []int64{0, 0, info[0].LastSeq})
	same(t, namesOfStream(t, s, "c", "notes", "n"), []string{"both.txt"})
	CountsAreTrue(t, s, "c", Stream)

	l = start(t, s, "c", "r2", Now.Add(2*time.Hour), titles, store.StreamSpec{Name: "notes"})
	same(t, put(t, s, l, titled("a", "pear one", "")), store.Committed{Unchanged: 1}) // it is not stored again
	fails(t, s.ReadmitDeleted(ctx, "d3", Now), store.ErrRunActive)
	finish(t, s, l, Now.Add(3*time.Hour))
	ok(t, s.ReadmitDeleted(ctx, "d3", Now.Add(3*time.Hour)))
	l = start(t, s, "c", "r3", Now.Add(4*time.Hour), titles, store.StreamSpec{Name: "notes"})
	same(t, put(t, s, l, titled("a", "pear one", "")), store.Committed{Written: 1})
	same(t, searchedKeys(t, s, "pear"), []string{"a"})
	all, err := s.Deletions(ctx, "c")
	ok(t, err)
	same(t, []string{all[0].ID, all[1].ID}, []string{"d3", "d1"})
	_, err = s.Deletion(ctx, "none")
	fails(t, err, store.ErrNotFound)
}

func namesOfStream(t testing.TB, s store.Store, connection, stream, key string) (names []string) {
	t.Helper()
	r, err := s.Record(t.Context(), connection, stream, key)
	ok(t, err)
	all, err := s.RecordBlobs(t.Context(), []int64{r.ID})
	ok(t, err)
	for _, b := range all[r.ID] {
		names = append(names, b.Name)
	}
	return names
}

// testDeletionModel deletes something at random and undoes it, or purges it. After an undo every reader finds the
// earlier state; after a purge what is outside the scope is unchanged, and the rest is gone.
//
//pdpp:tier unraced TestStore/DeletionModel
func testDeletionModel(t *testing.T, s store.Store) {
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		ids := []string{fmt.Sprint("c", n), fmt.Sprint("d", n)}
		for _, id := range ids {
			fillForDeletion(t, rt, s, id)
		}
		scope := store.DeletionScope{Kind: rapid.SampledFrom([]store.DeletionKind{store.DeleteConnection, store.DeleteStream,
			store.DeleteRange, store.DeleteRecord}).Draw(rt, "kind"), ConnectionID: ids[0]}
		switch scope.Kind {
		case store.DeleteStream:
			scope.Stream = Stream
		case store.DeleteRange:
			scope.Since, scope.Until = "2026-02-01", rapid.SampledFrom([]string{"", "2026-03-01"}).Draw(rt, "until")
			scope.Stream = rapid.SampledFrom([]string{"", Stream}).Draw(rt, "stream")
		case store.DeleteRecord:
			scope.Stream, scope.Key = Stream, rapid.SampledFrom(deletionKeys).Draw(rt, "key")
		}
		before, other := everyReader(t, s, ids[0]), everyReader(t, s, ids[1])
		counts, err := s.PreviewDeletion(t.Context(), scope)
		ok(t, err)
		id := fmt.Sprint("del", n)
		asked := s.RequestDeletion(t.Context(),
			store.Deletion{ID: id, DeletionScope: scope, AskedAt: Now, PurgeAfter: Now.Add(week)})
		if scope.Kind == store.DeleteRecord && counts == (store.DeletionCounts{}) {
			fails(t, asked, store.ErrNotFound)
			return
		}
		ok(t, asked)
		advance(t, s, Now)
		same(t, deletionOf(t, s, id).DeletionCounts, counts)
		left, err := s.PreviewDeletion(t.Context(), scope)
		ok(t, err)
		same(t, left, store.DeletionCounts{})
		CountsOfConnection(t, s, ids[0], Stream, "notes")
		if rapid.Bool().Draw(rt, "undo") {
			ok(t, s.UndoDeletion(t.Context(), id, Now.Add(time.Hour)))
			advance(t, s, Now.Add(time.Hour))
			same(t, deletionOf(t, s, id).State, store.DeletionUndone)
			if diff := cmp.Diff(before, everyReader(t, s, ids[0])); diff != "" {
				rt.Fatalf("after undoing %+v: %s", scope, diff)
			}
		} else {
			advance(t, s, Now.Add(week))
			removeFiles(t, s)
			same(t, []any{deletionOf(t, s, id).State, deletionOf(t, s, id).Purged},
				[]any{store.DeletionCompacting, counts.Records + counts.Tombstones})
			for _, r := range changes(t, s, ids[0]) {
				if scope.Kind == store.DeleteStream || scope.Kind == store.DeleteConnection || r.Key == scope.Key {
					rt.Fatalf("after purging %+v there is %+v", scope, r)
				}
			}
		}
		CountsOfConnection(t, s, ids[0], Stream, "notes")
		if diff := cmp.Diff(other, everyReader(t, s, ids[1])); diff != "" {
			rt.Fatalf("another connection changed: %s", diff)
		}
	})
}

var deletionKeys = []string{"a", "b", "c", "d"}

func fillForDeletion(t *testing.T, rt *rapid.T, s store.Store, id string) {
	specs := []store.StreamSpec{{Name: Stream, SearchFields: []string{"title"}, TimeField: "time"},
		{Name: "notes", TimeField: "time"}}
	l := begin(t, s, id, "run-"+id, specs...)
	for range rapid.IntRange(1, 4).Draw(rt, "slices") {
		part := withFiles()
		for range rapid.IntRange(1, 6).Draw(rt, "records") {
			r := tombstone(rapid.SampledFrom(deletionKeys).Draw(rt, "key"))
			r.Stream = rapid.SampledFrom([]string{Stream, "notes"}).Draw(rt, "stream")
			if kind := rapid.IntRange(0, 4).Draw(rt, "kind"); kind > 0 {
				at := rapid.SampledFrom([]string{"", "2026-01-05T00:00:00.000000Z", "2026-02-05T00:00:00.000000Z",
					"2026-03-05T00:00:00.000000Z"}).Draw(rt, "time")
				r.Op, r.SemanticTime = "", at
				r.Data = fmt.Appendf(nil, `{"title":%q,"time":%q}`,
					rapid.SampledFrom([]string{"pear", "plum", "pear plum"}).Draw(rt, "title"), at)
				if kind == 1 {
					r.Blobs = []slice.Blob{blobOf(rapid.SampledFrom([]string{"one", "two"}).Draw(rt, "file")+id, "title")}
				}
			}
			part.Records = append(part.Records, r)
		}
		commit(t, s, l, part, Now)
	}
	finish(t, s, l, Now)
	backfillAll(t, s)
}

// testDeletionOfAll deletes everything of several connections, with what belongs to them.
func testDeletionOfAll(t *testing.T, s store.Store) {
	ctx := t.Context()
	for _, id := range []string{"c", "d"} {
		l := begin(t, s, id, "run-"+id, titles)
		move(t, s, l, `{"at":"secret place"}`, titled("k", "pear", ""))
		commit(t, s, l, slice.Slice{Gaps: []slice.Gap{missingGap("secret key")}}, Now)
		finish(t, s, l, Now)
	}
	ok(t, s.AddSearch(ctx, store.Search{ID: "s1", Name: "Pears", Address: "/records?connection=c&q=pear", CreatedAt: Now}))
	ok(t, s.AddSearch(ctx, store.Search{ID: "s2", Name: "Others", Address: "/records?connection=d&q=pear",
		CreatedAt: Now}))
	ask(t, s, "hidden", store.DeletionScope{Kind: store.DeleteStream, ConnectionID: "c", Stream: Stream})
	ask(t, s, "elsewhere", store.DeletionScope{Kind: store.DeleteRange, ConnectionID: "d", Since: "2026-01-01"})
	advance(t, s, Now)
	ok(t, s.RequestDeletion(ctx, store.Deletion{ID: "one", DeletionScope: store.DeletionScope{Kind: store.DeleteConnection,
		ConnectionID: "c"}, AskedAt: Now, PurgeAfter: Now}))
	advance(t, s, Now)
	same(t, []store.DeletionState{deletionOf(t, s, "hidden").State, deletionOf(t, s, "elsewhere").State},
		[]store.DeletionState{store.DeletionCompacting, store.DeletionHidden})
	saved, err := s.Searches(ctx)
	ok(t, err)
	same(t, len(saved), 1)
	same(t, cursors(t, s, "c", ""), map[string]string{})
	same(t, len(cursors(t, s, "d", "")), 1)
	ok(t, s.RequestDeletion(ctx,
		store.Deletion{ID: "all", DeletionScope: store.DeletionScope{Kind: store.DeleteEverything},
			AskedAt: Now, PurgeAfter: Now}))
	advance(t, s, Now)
	ok(t, s.FinishDeletions(ctx, Now))
	d := deletionOf(t, s, "all")
	same(t, []any{d.State, d.Records}, []any{store.DeletionPurged, int64(1)})
	for _, id := range []string{"c", "d"} {
		same(t, len(changes(t, s, id)), 0)
		gaps, err := s.ListGaps(ctx, store.GapQuery{ConnectionID: id})
		ok(t, err)
		same(t, len(gaps), 0)
	}
	saved, err = s.Searches(ctx)
	ok(t, err)
	same(t, len(saved), 0)
	l := begin(t, s, "later", "run-later", titles) // a later connection is collected
	same(t, put(t, s, l, titled("k", "pear", "")).Written, 1)
}
