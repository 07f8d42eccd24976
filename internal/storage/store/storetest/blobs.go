package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// hashOf returns the hash of this content.
func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

func blobOf(content, field string) slice.Blob {
	return slice.Blob{Field: field, SHA256: hashOf(content), Bytes: int64(len(content)), MIME: "text/plain",
		Name: content + ".txt"}
}

func blobbed(key, data string, blobs ...slice.Blob) slice.Record {
	return slice.Record{Stream: Stream, Key: key, Data: jsontext.Value(data), EmittedAt: "2026-03-04T05:06:07Z",
		Blobs: append([]slice.Blob{}, blobs...)}
}

// withFiles returns a slice with files that are all present.
func withFiles(records ...slice.Record) slice.Slice {
	return slice.Slice{Records: records, Present: func(context.Context, []string) ([]string, error) { return nil, nil }}
}

func namesOf(t testing.TB, s store.Store, connection, key string) (names []string) {
	t.Helper()
	r, err := s.Record(t.Context(), connection, Stream, key)
	ok(t, err)
	all, err := s.RecordBlobs(t.Context(), []int64{r.ID})
	ok(t, err)
	for _, b := range all[r.ID] {
		names = append(names, b.Name)
	}
	return names
}

// unreferenced returns the files without references, by content, with the time since.
func unreferenced(t testing.TB, s store.Store, contents ...string) map[string]time.Time {
	t.Helper()
	all, err := s.ListBlobs(t.Context(), "", 0)
	ok(t, err)
	out := map[string]time.Time{}
	for _, b := range all {
		for _, c := range contents {
			if hashOf(c) == b.SHA256 && b.UnreferencedAt != nil {
				out[c] = *b.UnreferencedAt
			}
		}
	}
	return out
}

func testBlobs(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	commit(t, s, l, withFiles(blobbed("k", `{"f":1}`, blobOf("one", "f"), blobOf("two", "f")),
		blobbed("m", `{"f":1}`, blobOf("two", "f"))), Now)
	same(t, namesOf(t, s, "c", "k"), []string{"one.txt", "two.txt"})
	files, bytes, err := s.BlobTotals(t.Context())
	ok(t, err)
	same(t, []int64{files, bytes}, []int64{2, 6})

	same(t, commit(t, s, l, withFiles(blobbed("k", `{"f":1}`, blobOf("one", "f"), blobOf("two", "f"))), Now).Unchanged, 1)
	silent := blobbed("k", `{"f":2}`)
	silent.Blobs = nil // files are not mentioned
	commit(t, s, l, slice.Slice{Records: []slice.Record{silent}}, Now)
	same(t, namesOf(t, s, "c", "k"), []string{"one.txt", "two.txt"})

	later := Now.Add(time.Second)
	commit(t, s, l, withFiles(blobbed("k", `{"f":2}`, blobOf("three", "f"))), later)
	same(t, namesOf(t, s, "c", "k"), []string{"three.txt"})
	same(t, unreferenced(t, s, "one", "two", "three"), map[string]time.Time{"one": later})
	commit(t, s, l, withFiles(blobbed("k", `{"f":2}`)), later)
	same(t, namesOf(t, s, "c", "k"), nil)
	gone := slice.Record{Stream: Stream, Key: "m", Op: protocol.OpDelete, EmittedAt: "2026-03-04T05:06:07Z"}
	latest := later.Add(time.Second)
	commit(t, s, l, slice.Slice{Records: []slice.Record{gone}}, latest)
	same(t, namesOf(t, s, "c", "m"), nil)
	same(t, unreferenced(t, s, "one", "two", "three"), map[string]time.Time{"one": later, "two": latest, "three": later})
	commit(t, s, l, withFiles(blobbed("k", `{"f":2}`, blobOf("one", "f"))), latest)
	same(t, unreferenced(t, s, "one", "two", "three"), map[string]time.Time{"two": latest, "three": later})
	first, err := s.ListBlobs(t.Context(), "", 1)
	ok(t, err)
	rest, err := s.ListBlobs(t.Context(), first[0].SHA256, 0)
	ok(t, err)
	same(t, len(rest), 2)
}

// testBlobsMissing checks that nothing of a slice with missing files is committed.
func testBlobsMissing(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1")
	part := withFiles(blobbed("k", `{"f":1}`, blobOf("one", "f")),
		blobbed("m", `{"f":1}`, blobOf("two", "f"), blobOf("one", "f")))
	var asked []string
	part.Present = func(_ context.Context, hashes []string) ([]string, error) {
		asked = hashes
		return []string{hashOf("two")}, nil
	}
	_, err := s.CommitSlice(t.Context(), l, part, Now)
	fails(t, err, store.ErrBlobMissing)
	want := []string{hashOf("one"), hashOf("two")}
	slices.Sort(want)
	same(t, asked, want)
	broken := errors.New("the disk is gone")
	part.Present = func(context.Context, []string) ([]string, error) { return nil, broken }
	_, err = s.CommitSlice(t.Context(), l, part, Now)
	fails(t, err, broken)
	part.Present = nil
	if _, err = s.CommitSlice(t.Context(), l, part, Now); err == nil {
		t.Error("a slice was committed whose files nobody looked for")
	}
	_, err = s.Record(t.Context(), "c", Stream, "k")
	fails(t, err, store.ErrNotFound)
	files, _, err := s.BlobTotals(t.Context())
	ok(t, err)
	same(t, files, 0)
}

// testBlobsWithin checks that a file is found only through a record and field that the filters allow.
func testBlobsWithin(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1", store.StreamSpec{Name: Stream, TimeField: "at"}, store.StreamSpec{Name: "notes"})
	other := begin(t, s, "d", "r2")
	in := blobbed("k", `{"f":1,"who":"ann"}`, blobOf("one", "f"))
	in.SemanticTime = "2026-02-01T00:00:00.000000Z"
	commit(t, s, l, withFiles(in), Now)
	commit(t, s, other, withFiles(blobbed("k", `{"f":1}`, blobOf("theirs", "f"))), Now)
	part := store.AccessFilter{ConnectionID: "c", Stream: Stream}
	hash := hashOf("one")
	find := func(hash string, in ...store.AccessFilter) error {
		b, err := s.FindBlob(t.Context(), hash, in)
		if err == nil {
			same(t, b.SHA256, hash)
		}
		return err
	}
	change := func(f func(*store.AccessFilter)) store.AccessFilter {
		p := part
		f(&p)
		return p
	}
	ok(t, find(hash))
	ok(t, find(hash, part))
	ok(t, find(hash, store.AccessFilter{ConnectionID: "d", Stream: Stream}, part))
	for name, p := range map[string]store.AccessFilter{
		"field": change(func(p *store.AccessFilter) { p.Fields = []string{"f"} }),
		"key":   change(func(p *store.AccessFilter) { p.Keys = []string{"k"} }),
		"time":  change(func(p *store.AccessFilter) { p.Since, p.Until = "2026-02-01", "2026-02-02" }),
		"value": change(func(p *store.AccessFilter) {
			p.AllowedValues = &store.AllowedValues{Field: "who", Values: []string{"ann"}}
		}),
		"whole": {ConnectionID: "c"},
		"declared times": change(func(p *store.AccessFilter) {
			p.Since, p.Declared = "2026-02-01", &store.StreamSpec{Name: Stream, TimeField: "at"}
		}),
	} {
		if err := find(hash, p); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, p := range map[string]store.AccessFilter{
		"connection": {ConnectionID: "d", Stream: Stream},
		"stream":     {ConnectionID: "c", Stream: "notes"},
		"field":      change(func(p *store.AccessFilter) { p.Fields = []string{"who", "F", "f\x00"} }),
		"no field":   change(func(p *store.AccessFilter) { p.Fields = []string{} }),
		"key":        change(func(p *store.AccessFilter) { p.Keys = []string{"m"} }),
		"too early":  change(func(p *store.AccessFilter) { p.Until = "2026-02-01" }),
		"too late":   change(func(p *store.AccessFilter) { p.Since = "2026-02-02" }),
		"value": change(func(p *store.AccessFilter) {
			p.AllowedValues = &store.AllowedValues{Field: "who", Values: []string{"bob"}}
		}),
		"declared times": change(func(p *store.AccessFilter) {
			p.Since, p.Declared = "2026-02-01", &store.StreamSpec{Name: Stream, TimeField: "when"}
		}),
		"nul": {ConnectionID: "c\x00", Stream: Stream},
	} {
		if err := find(hash, p); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("outside by its %s, and found: %v", name, err)
		}
	}
	fails(t, find(hash, []store.AccessFilter{}...), store.ErrNotFound) // a reader without any access
	fails(t, find(hashOf("nobody's")), store.ErrNotFound)
	for _, odd := range []string{"", "\x00", strings.ToUpper(hash), hash + " ", "%", "'; DROP TABLE blobs; --"} {
		fails(t, find(odd, part), store.ErrNotFound)
	}
	commit(t, s, l, slice.Slice{Records: []slice.Record{{Stream: Stream, Key: "k", Op: protocol.OpDelete,
		EmittedAt: "2026-03-04"}}}, Now)
	fails(t, find(hash, part), store.ErrNotFound)
	fails(t, find(hash), store.ErrNotFound)
}

// testBlobsForgotten checks that only files without references for long are pruned.
func testBlobsForgotten(t *testing.T, s store.Store) {
	ctx := t.Context()
	l := begin(t, s, "c", "r1")
	commit(t, s, l, withFiles(blobbed("k", `{"f":1}`, blobOf("one", "f")), blobbed("m", `{"f":1}`, blobOf("two", "f"))),
		Now)
	commit(t, s, l, withFiles(blobbed("k", `{"f":1}`)), Now)
	known := func() []string {
		t.Helper()
		unknown, err := s.UnknownBlobs(ctx, []string{hashOf("one"), hashOf("two"), hashOf("never")})
		ok(t, err)
		return unknown
	}
	done, err := s.PruneBlobs(ctx, Now)
	ok(t, err)
	same(t, done, true)
	same(t, known(), []string{hashOf("never")}) // not before that time
	_, err = s.PruneBlobs(ctx, Now.Add(time.Microsecond))
	ok(t, err)
	same(t, known(), []string{hashOf("one"), hashOf("never")})

	taken := 0
	ok(t, s.LockUnknownBlob(ctx, hashOf("two"), func() error { taken++; return nil }))
	same(t, taken, 0)
	ok(t, s.LockUnknownBlob(ctx, hashOf("one"), func() error { taken++; return nil }))
	same(t, taken, 1)
	broken := errors.New("no permission")
	fails(t, s.LockUnknownBlob(ctx, hashOf("one"), func() error { return broken }), broken)
	same(t, known(), []string{hashOf("one"), hashOf("never")}) // locking leaves no row
}

// testBlobModel compares references with a model over random histories.
//
//pdpp:tier unraced TestStore/BlobModel
func testBlobModel(t *testing.T, s store.Store) {
	keys, contents := []string{"a", "b", "c"}, []string{"one", "two", "three", "four"}
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		id := fmt.Sprintf("c%d", run)
		l := begin(t, s, id, "r"+id)
		// The content is unique to this history, so that others do not refer to it.
		own := func(c string) string { return id + c }
		model, now := map[string][]string{}, Now
		for range rapid.IntRange(1, 8).Draw(rt, "slices") {
			now = now.Add(time.Second)
			part := withFiles()
			for range rapid.IntRange(1, 4).Draw(rt, "records") {
				key := rapid.SampledFrom(keys).Draw(rt, "key")
				switch rapid.IntRange(0, 3).Draw(rt, "kind") {
				case 0:
					part.Records = append(part.Records, slice.Record{Stream: Stream, Key: key, Op: protocol.OpDelete,
						EmittedAt: "2026-03-04"})
				case 1:
					r := blobbed(key, `{"f":1}`)
					r.Blobs = nil
					part.Records = append(part.Records, r)
				default:
					r := blobbed(key, `{"f":2}`)
					for _, c := range rapid.SliceOfN(rapid.SampledFrom(contents), 0, 3).Draw(rt, "files") {
						r.Blobs = append(r.Blobs, blobOf(own(c), "f"))
					}
					part.Records = append(part.Records, r)
				}
			}
			commit(t, s, l, part, now)
			last := map[string]slice.Record{} // the last of a key counts
			for _, r := range part.Records {
				last[r.Key] = r
			}
			for key, r := range last {
				if r.Deleted() {
					delete(model, key)
				} else if r.Blobs != nil {
					model[key] = nil
					for _, b := range r.Blobs {
						model[key] = append(model[key], b.Name)
					}
				}
			}
		}
		referred := map[string]bool{}
		for _, key := range keys {
			r, err := s.Record(t.Context(), id, Stream, key)
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			ok(t, err)
			found, err := s.RecordBlobs(t.Context(), []int64{r.ID})
			ok(t, err)
			var names []string
			for _, b := range found[r.ID] {
				names = append(names, b.Name)
				referred[b.SHA256] = true
			}
			if !slices.Equal(names, model[key]) {
				rt.Fatalf("%s has %v, want %v", key, names, model[key])
			}
		}
		all, err := s.ListBlobs(t.Context(), "", 0)
		ok(t, err)
		for _, b := range all {
			for _, c := range contents {
				if b.SHA256 == hashOf(own(c)) && (b.UnreferencedAt == nil) != referred[b.SHA256] {
					rt.Fatalf("%s is referred to: %t, and unreferenced since %v", c, referred[b.SHA256], b.UnreferencedAt)
				}
			}
		}
	})
}

// testBlobRace commits and removes files while others sweep. The files are in a map; a commit that reports a missing
// file puts it there again.
func testBlobRace(t *testing.T, s store.Store) {
	const runs, rounds = 3, 12
	contents := []string{"one", "two"}
	var mu sync.Mutex
	files := map[string]bool{}
	put := func(hash string) { mu.Lock(); defer mu.Unlock(); files[hash] = true }
	present := func(_ context.Context, hashes []string) (missing []string, err error) {
		mu.Lock()
		defer mu.Unlock()
		for _, h := range hashes {
			if !files[h] {
				missing = append(missing, h)
			}
		}
		return missing, nil
	}
	over := make(chan struct{})
	var sweeping, committing sync.WaitGroup
	sweeping.Go(func() {
		for {
			_, err := s.PruneBlobs(t.Context(), Now.Add(time.Hour))
			ok(t, err)
			for _, c := range contents {
				ok(t, s.LockUnknownBlob(t.Context(), hashOf(c), func() error {
					mu.Lock()
					defer mu.Unlock()
					delete(files, hashOf(c))
					return nil
				}))
			}
			select {
			case <-over:
				return
			default:
			}
		}
	})
	for n := range runs {
		l := begin(t, s, fmt.Sprint("c", n), fmt.Sprint("r", n))
		committing.Go(func() {
			for round := range rounds {
				content := contents[(n+round)%len(contents)]
				part := withFiles(blobbed("k", fmt.Sprintf(`{"f":%d}`, round), blobOf(content, "f")))
				part.Present = present
				for {
					put(hashOf(content))
					_, err := s.CommitSlice(t.Context(), l, part, Now)
					if err == nil {
						break
					}
					if !errors.Is(err, store.ErrBlobMissing) {
						t.Error(err)
						return
					}
				}
				if missing, _ := present(t.Context(), []string{hashOf(content)}); len(missing) > 0 {
					t.Errorf("a file is gone that a record refers to")
				}
				if round%2 == 0 {
					commit(t, s, l, withFiles(blobbed("k", `{}`)), Now)
				}
			}
		})
	}
	committing.Wait()
	close(over)
	sweeping.Wait()
	all, err := s.ListBlobs(t.Context(), "", 0)
	ok(t, err)
	for _, b := range all {
		if !files[b.SHA256] {
			t.Errorf("a row has no file")
		}
	}
}
