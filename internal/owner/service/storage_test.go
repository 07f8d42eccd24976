package service

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/owner/diskuse"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// pictured is a bed with a file.
func pictured(key, content string) slice.Record {
	r := dugRecordJSON(key, "2026-02-03")
	sum := sha256.Sum256([]byte(content))
	r.Blobs = []slice.Blob{{Field: "id", SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(content)),
		MIME: "text/plain", Name: content}}
	return r
}

// Storage returns the space that each source uses and what can be freed. It counts a file of two sources once.
func TestStorage(t *testing.T) {
	b := newServiceHarness(t)
	ctx := t.Context()
	b.Home = t.TempDir()
	b.at = time.Date(2026, 2, 20, 8, 0, 0, 0, time.UTC)
	b.plot("little", `{"streams":[]}`, nil, dugRecordJSON("a", "2026-02-01"))
	b.plot("much", `{"streams":[]}`, nil, dugRecordJSON("a", "2026-02-01"), dugRecordJSON("b", "2026-02-02"))
	b.plot("none", `{"streams":[]}`, nil)
	b.requireNoError(b.Revoke(ctx, "none"))
	for id, files := range map[string][]slice.Record{"little": {pictured("p", "a picture")},
		"much": {pictured("p", "a picture"), pictured("q", "another picture")}} {
		l, err := b.Store.StartRun(ctx, store.RunStart{RunID: "again_" + id, ConnectionID: id, ConnectorID: "garden",
			Trigger: store.TriggerManual,
			Holder:  "w1", TTL: time.Hour, Streams: []store.StreamSpec{{Name: "beds", TimeField: "dug_at"}}}, b.at)
		b.requireNoError(err)
		_, err = b.Store.CommitSlice(ctx, l,
			slice.Slice{Records: files, Present: func(context.Context, []string) ([]string, error) { return nil, nil }}, b.at)
		b.requireNoError(err)
		if id == "much" { // one of its files goes again
			gone := dugRecordJSON("q", "2026-02-03")
			gone.Blobs = []slice.Blob{}
			_, err = b.Store.CommitSlice(ctx, l, slice.Slice{Records: []slice.Record{gone}}, b.at)
			b.requireNoError(err)
		}
	}
	b.requireNoError(b.Store.AddImport(ctx, store.Import{ID: "i", ConnectionID: "little", Path: "x.zip", Name: "x.zip",
		SHA256: "ab",
		Bytes:  new(int64(5000)), ReceivedAt: b.at}))
	got, err := b.Storage(ctx)
	b.requireNoError(err)
	if got.DiskFreeBytes == nil || *got.DiskFreeBytes <= 0 || *got.DiskBytes < *got.DiskFreeBytes {
		t.Errorf("of the disk %v are free, of %v", got.DiskFreeBytes, got.DiskBytes)
	}
	if got.DatabaseBytes == nil || *got.DatabaseBytes < *got.RecordBytes {
		t.Errorf("the database takes %v", got.DatabaseBytes)
	}
	one, two := int64(len(dugRecordJSON("a", "2026-02-01").Data)), int64(2*len(dugRecordJSON("a", "2026-02-01").Data))
	const picture, other = int64(len("a picture")), int64(len("another picture"))
	wantSources := []diskuse.StorageSource{
		{ConnectionID: "little", Name: "Garden little", ConnectorID: "garden", Status: "active", Bytes: two + picture + 5000,
			RecordBytes: &two, FileBytes: picture, ImportBytes: 5000,
			Mostly: "Files as you imported them",
			Streams: []diskuse.StorageStream{{Name: "beds", Label: "Flower beds", Records: 2, RecordBytes: &two, Files: 1,
				FileBytes: picture}}},
		{ConnectionID: "much", Name: "Garden much", ConnectorID: "garden", Status: "active", Bytes: 4*one + picture,
			RecordBytes: new(4 * one), FileBytes: picture,
			Mostly: "Flower beds", Streams: []diskuse.StorageStream{{Name: "beds", Label: "Flower beds", Records: 4,
				RecordBytes: new(4 * one), Files: 1, FileBytes: picture}}},
	}
	if diff := cmp.Diff(wantSources, got.Sources); diff != "" {
		t.Error(diff)
	}
	if *got.RecordBytes != 6*one || got.FileBytes != picture+other || got.SharedFileBytes != picture ||
		got.ImportBytes != 5000 {
		t.Errorf("records take %d, files %d and save %d, imports %d", *got.RecordBytes, got.FileBytes, got.SharedFileBytes,
			got.ImportBytes)
	}
	wantFree := []diskuse.Freeable{
		{Kind: "unreferenced_files", Bytes: other, What: "1 file without a record",
			How: "They go by themselves 30 days after their last record, the first from 22 March 2026 on."},
		{Kind: "imports", Bytes: 5000, What: "Files as you imported them",
			How: "Undo an import on the page of its source. Its records go with it."},
	}
	if diff := cmp.Diff(wantFree, got.Freeable); diff != "" {
		t.Error(diff)
	}
}
