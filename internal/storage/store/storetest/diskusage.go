package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

// diskUsageOf returns the disk usage of one stream.
func diskUsageOf(t testing.TB, s store.Store, connection, stream string) (store.DiskUsage, store.StreamDiskUsage) {
	t.Helper()
	r, err := s.DiskUsage(t.Context())
	ok(t, err)
	for _, st := range r.Streams {
		if st.ConnectionID == connection && st.Stream == stream {
			return r, st
		}
	}
	t.Fatalf("stream %s of %s takes no room", stream, connection)
	return r, store.StreamDiskUsage{}
}

// testDiskUsage checks the size of the database, of the search index, and of unreferenced files.
func testDiskUsage(t *testing.T, s store.Store) {
	l := begin(t, s, "c", "r1", store.StreamSpec{Name: Stream, SearchFields: []string{"title"}})
	empty, err := s.DiskUsage(t.Context())
	ok(t, err)
	if empty.Database == nil || *empty.Database <= 0 {
		t.Fatalf("the size of the database is %v", empty.Database)
	}
	var records []slice.Record
	for i := range 400 {
		var words strings.Builder
		for w := range 40 {
			fmt.Fprintf(&words, "w%dx%d ", i, w)
		}
		records = append(records, slice.Record{Stream: Stream, Key: fmt.Sprint(i), EmittedAt: "x",
			Data: fmt.Appendf(nil, `{"title":%q}`, words.String())})
	}
	records[0].Blobs = []slice.Blob{blobOf("one", "title")}
	commit(t, s, l, withFiles(records...), Now)
	full, st := diskUsageOf(t, s, "c", Stream)
	bytes := int64(0)
	for _, r := range records {
		bytes += int64(len(r.Data))
	}
	same(t, st, store.StreamDiskUsage{ConnectionID: "c", Stream: Stream, Records: 400, Bytes: &bytes, Files: 1,
		FileBytes: 3})
	if *full.Database <= *empty.Database {
		t.Errorf("the database grew from %d to %d", *empty.Database, *full.Database)
	}
	// Every word is different, so that the index is not much smaller than the text.
	if full.Search == nil || *full.Search < bytes/2 || *full.Search > 10*bytes {
		t.Errorf("the search index of %d bytes of text takes %v", bytes, full.Search)
	}
	same(t, []any{full.Unreferenced, full.UnreferencedSince}, []any{int64(0), (*time.Time)(nil)})
	commit(t, s, l, slice.Slice{Records: []slice.Record{{Stream: Stream, Key: "0", Op: protocol.OpDelete,
		EmittedAt: "x"}}}, Now)
	full, st = diskUsageOf(t, s, "c", Stream)
	same(t, []any{full.Unreferenced, full.UnreferencedBytes, full.UnreferencedSince}, []any{int64(1), int64(3), ptr(Now)})
	same(t, []int64{st.Files, st.FileBytes}, []int64{0, 0})

	same(t, full.Imports, nil)
	ok(t, s.AddImport(t.Context(), store.Import{ID: "i1", ConnectionID: "c", Path: "a.zip", Name: "a.zip",
		SHA256: hashOf("a"), Bytes: ptr(int64(70)), ReceivedAt: Now}))
	ok(t, s.AddImport(t.Context(), store.Import{ID: "i2", ConnectionID: "c", Path: "b.zip", Name: "b.zip",
		ReceivedAt: Now}))
	same(t, full.Profiles, nil)
	ok(t, s.SaveBrowserProfile(t.Context(), l, store.BrowserProfile{ConnectionID: "c", Name: "p", Sealed: []byte("sealed"),
		Bytes: 4000}, Now))
	full, _ = diskUsageOf(t, s, "c", Stream)
	same(t, []map[string]int64{full.Imports, full.Profiles}, []map[string]int64{{"c": 70}, {"c": 6}})
}

// testDiskUsageModel compares the file sizes of streams with a count by hand, over random histories in which records
// come and go, and files are shared between records, streams and connections.
//
//pdpp:tier unraced TestStore/RoomModel
func testDiskUsageModel(t *testing.T, s store.Store) {
	streams, keys, contents := []string{Stream, "notes"}, []string{"a", "b"}, []string{"one", "two", "seven"}
	specs := []store.StreamSpec{{Name: Stream}, {Name: "notes"}}
	run, sharedBefore := 0, int64(0)
	rapid.Check(t, func(rt *rapid.T) {
		run++
		ids := []string{fmt.Sprint("c", run), fmt.Sprint("d", run)}
		leases := []store.Lease{begin(t, s, ids[0], "r"+ids[0], specs...), begin(t, s, ids[1], "r"+ids[1], specs...)}
		for range rapid.IntRange(1, 6).Draw(rt, "slices") {
			part := withFiles()
			for range rapid.IntRange(1, 4).Draw(rt, "records") {
				r := slice.Record{Stream: rapid.SampledFrom(streams).Draw(rt, "stream"),
					Key: rapid.SampledFrom(keys).Draw(rt, "key"), EmittedAt: "x"}
				switch rapid.IntRange(0, 4).Draw(rt, "kind") {
				case 0:
					r.Op = protocol.OpDelete
				case 1:
					r.Data = []byte(`{"f":1}`)
				default:
					r.Data, r.Blobs = []byte(`{"f":2}`), []slice.Blob{}
					for _, c := range rapid.SliceOfN(rapid.SampledFrom(contents), 0, 3).Draw(rt, "files") {
						r.Blobs = append(r.Blobs, blobOf(ids[0]+c, "f"))
					}
				}
				part.Records = append(part.Records, r)
			}
			commit(t, s, leases[rapid.IntRange(0, 1).Draw(rt, "who")], part, Now)
		}
		once, sum := map[string]int64{}, int64(0)
		for _, id := range ids {
			for _, stream := range streams {
				_, got := diskUsageOf(t, s, id, stream)
				files := filesByHand(t, s, id, stream)
				bytes := int64(0)
				for hash, n := range files {
					bytes += n
					once[hash] = n
				}
				sum += bytes
				if got.Files != int64(len(files)) || got.FileBytes != bytes {
					rt.Fatalf("%s of %s has %d files of %d bytes, want %d of %d", stream, id, got.Files, got.FileBytes, len(files),
						bytes)
				}
			}
		}
		for _, n := range once {
			sum -= n
		}
		r, err := s.DiskUsage(t.Context())
		ok(t, err)
		if r.SharedBytes != sharedBefore+sum {
			rt.Fatalf("%d bytes are shared, want %d more than %d", r.SharedBytes, sum, sharedBefore)
		}
		sharedBefore = r.SharedBytes
	})
}

// filesByHand returns the files of a stream's live records, with their bytes.
func filesByHand(t testing.TB, s store.Store, connection, stream string) map[string]int64 {
	t.Helper()
	all, err := s.ListRecords(t.Context(),
		store.RecordQuery{AccessFilter: store.AccessFilter{ConnectionID: connection, Stream: stream}, Limit: 1000})
	ok(t, err)
	files := map[string]int64{}
	for _, r := range all {
		of, err := s.RecordBlobs(t.Context(), []int64{r.ID})
		ok(t, err)
		for _, b := range of[r.ID] {
			files[b.SHA256] = b.Bytes
		}
	}
	return files
}
