package storetest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// importedRecord returns a record that came from a file.
func importedRecord(file, key, value string) slice.Record {
	r := live(key, value)
	r.File = file
	return r
}

func importOf(t testing.TB, s store.Store, connection, path string) store.Import {
	t.Helper()
	all, err := s.Imports(t.Context(), connection)
	ok(t, err)
	for _, i := range all {
		if i.Path == path && i.UndoneAt == nil {
			return i
		}
	}
	t.Fatalf("there is no receipt for %s among %+v", path, all)
	return store.Import{}
}

func counted(i store.Import) []int64 { return []int64{i.New, i.Changed, i.Same} }

func testImports(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1")
	put(t, s, l, live("source first", "1"))
	size := int64(7)
	given := store.Import{ID: "imp_b", ConnectionID: "c", Path: "b.zip", Name: "Export (2).zip", SHA256: "beef",
		Bytes: &size, ReceivedAt: Now}
	ok(t, s.AddImport(ctx, given))
	other := given
	other.ID = "imp_other"
	fails(t, s.AddImport(ctx, other), store.ErrExists)
	other.SHA256 = "cafe" // and the same path
	fails(t, s.AddImport(ctx, other), store.ErrExists)
	other.ConnectionID = "nowhere"
	fails(t, s.AddImport(ctx, other), store.ErrNotFound)

	put(t, s, l, importedRecord("a.txt", "both", "1"), importedRecord("a.txt", "a alone", "1"),
		importedRecord("a.txt", "source later", "1"))
	put(t, s, l, importedRecord("b.zip", "both", "2"), importedRecord("b.zip", "b alone", "1"),
		importedRecord("b.zip", "source first", "1"),
		importedRecord("b.zip", "buried", "1"))
	// a repetition counts nothing
	put(t, s, l, importedRecord("b.zip", "b alone", "1"), live("source later", "1"), tombstone("buried"))
	finish(t, s, l, Now.Add(time.Minute))
	byHand, b := importOf(t, s, "c", "a.txt"), importOf(t, s, "c", "b.zip")
	same(t, counted(byHand), []int64{3, 0, 0})
	same(t, []string{byHand.Name, byHand.SHA256, byHand.RunID, string(byHand.RunStatus)},
		[]string{"a.txt", "", "r1", "succeeded"})
	same(t, counted(b), []int64{2, 1, 1})
	same(t, []string{b.ID, b.Name, b.SHA256, b.RunID, b.ReadRunID, b.LastRunID},
		[]string{"imp_b", "Export (2).zip", "beef", "r1", "r1", "r1"})
	same(t, *b.Bytes, 7)
	alone, shared, err := s.ImportRecords(ctx, "imp_b")
	ok(t, err)
	same(t, []int64{alone, shared}, []int64{1, 2})
	_, err = s.Import(ctx, "imp_none")
	fails(t, err, store.ErrNotFound)

	undo := runStart("c", "undo1")
	undo.Trigger = store.TriggerUndo
	ok(t, s.BeginImportUndo(ctx, "imp_b", Now.Add(2*time.Minute)))
	lease, err := s.StartRun(ctx, undo, Now.Add(2*time.Minute))
	ok(t, err)
	pages := 0
	for done := false; !done; pages++ {
		done, err = s.UndoImport(ctx, lease, "imp_b", 3, Now.Add(2*time.Minute))
		ok(t, err)
	}
	same(t, pages, 2)
	finish(t, s, lease, Now.Add(3*time.Minute))
	_, err = s.UndoImport(ctx, lease, "imp_b", 3, Now)
	fails(t, err, store.ErrLeaseLost)
	b, err = s.Import(ctx, "imp_b")
	ok(t, err)
	same(t, []any{b.Deleted, b.UndoneAt != nil, b.UndoBegunAt != nil, b.LastRunID}, []any{int64(1), true, true, "r1"})
	for key, gone := range map[string]bool{"both": false, "b alone": true, "source first": false, "a alone": false,
		"source later": false} {
		if record(t, s, "c", key).Deleted != gone {
			t.Errorf("%s is deleted: %t", key, !gone)
		}
	}
	history, err := s.History(ctx, "c", Stream, "b alone", 0)
	ok(t, err)
	same(t, len(history), 1) // its content is in the history
	alone, shared, err = s.ImportRecords(ctx, byHand.ID)
	ok(t, err)
	same(t, []int64{alone, shared}, []int64{2, 1}) // what came from both is left to this one

	given.ID = "imp_again"
	ok(t, s.AddImport(ctx, given)) // the same content, after the undo
	l = start(t, s, "c", "r2", Now.Add(4*time.Minute))
	put(t, s, l, importedRecord("b.zip", "b alone", "1"))
	same(t, counted(importOf(t, s, "c", "b.zip")), []int64{1, 0, 0})
	same(t, record(t, s, "c", "b alone").Deleted, false)
}

// testImportModel delivers random records from files and the source, undoes imports, in parts and by interrupted
// runs, and compares what is left with a model.
func testImportModel(t *testing.T, s store.Store) {
	keys, files := []string{"a", "b", "c", "d"}, []string{"one.zip", "two.zip", "three.zip"}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		id := fmt.Sprintf("c%d", n)
		l := begin(t, s, id, "r"+id)
		alive, from := map[string]bool{}, map[string]map[string]bool{}
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			if file := rapid.SampledFrom(files).Draw(rt, "file"); rapid.IntRange(0, 3).Draw(rt, "deed") == 0 {
				all, err := s.Imports(t.Context(), id)
				ok(t, err)
				at := slices.IndexFunc(all, func(i store.Import) bool { return i.Path == file && i.UndoneAt == nil })
				if at < 0 {
					continue
				}
				var gone int64
				for key, by := range from {
					if by[file] && len(by) == 1 && alive[key] {
						alive[key] = false
						gone++
					}
					delete(by, file)
				}
				size := rapid.IntRange(1, 5).Draw(rt, "page")
				for done := false; !done; {
					done, err = s.UndoImport(t.Context(), l, all[at].ID, size, Now)
					ok(t, err)
				}
				undone, err := s.Import(t.Context(), all[at].ID)
				ok(t, err)
				if undone.Deleted != gone {
					rt.Fatalf("undoing %s deleted %d records, want %d", file, undone.Deleted, gone)
				}
				continue
			}
			was := maps.Clone(alive)
			var part []slice.Record
			filed := map[string]bool{}
			for range rapid.IntRange(1, 5).Draw(rt, "records") {
				key, value := rapid.SampledFrom(keys).Draw(rt, "key"), fmt.Sprint(rapid.IntRange(1, 2).Draw(rt, "value"))
				r := live(key, value)
				switch rapid.IntRange(0, 3).Draw(rt, "kind") {
				case 0:
					r = tombstone(key)
				case 1, 2:
					r.File = rapid.SampledFrom(files).Draw(rt, "from")
					filed[key] = true
				}
				part = append(part, r)
			}
			put(t, s, l, part...)
			for _, r := range part {
				alive[r.Key] = !r.Deleted()
				if from[r.Key] == nil {
					from[r.Key] = map[string]bool{}
				}
				switch by := from[r.Key]; {
				case r.Deleted():
				case r.File != "":
					if was[r.Key] && len(by) == 0 {
						by[""] = true
					}
					by[r.File] = true
				case len(by) > 0 || filed[r.Key]:
					by[""] = true
				}
			}
		}
		for _, key := range keys {
			r, err := s.Record(t.Context(), id, Stream, key)
			if errors.Is(err, store.ErrNotFound) && !alive[key] {
				continue
			}
			ok(t, err)
			if r.Deleted == alive[key] {
				rt.Fatalf("%s is deleted: %t, from %v", key, r.Deleted, from[key])
			}
		}
		all, err := s.Imports(t.Context(), id)
		ok(t, err)
		for _, i := range all {
			if i.UndoneAt != nil {
				continue
			}
			var want, got [2]int64
			for key, by := range from {
				switch {
				case !by[i.Path] || !alive[key]:
				case len(by) == 1:
					want[0]++
				default:
					want[1]++
				}
			}
			got[0], got[1], err = s.ImportRecords(t.Context(), i.ID)
			ok(t, err)
			if got != want {
				rt.Fatalf("%s brought %v, want %v", i.Path, got, want)
			}
		}
	})
}
