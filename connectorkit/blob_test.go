package connectorkit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json"

	"github.com/pdpp-go/pdpp/protocol"
)

// fileManifest has a stream of records with a file.
const fileManifest = `{"protocol_version":"0.1.0","connector_id":"shelf","version":"1.0.0","display_name":"Shelf",
 "streams":[{"name":"scans","semantics":"mutable_state","checkpoint":"slice","primary_key":["id"],` +
	`"selection":{"fields":true},
  "schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"title":{"type":"string"},` +
	`"blob_ref":{"type":["object","null"]}}}}]}`

type scan struct {
	ID    string   `json:"id"`
	Title string   `json:"title"`
	Blob  *BlobRef `json:"blob_ref"`
}

// shelve is a connector that saves these contents, each for a record of its name.
func shelve(t tb, contents map[string]string, with func(scan, SavedBlob) Record) Connector {
	t.Helper()
	return withManifest(t, fileManifest, func(_ context.Context, s *Setup) ([]Collector, error) {
		return []Collector{PushSource{Streams: []string{"scans"}, Collect: func(ctx context.Context, f *Push) error {
			for id, content := range contents {
				saved, err := s.SaveBlob(ctx, iotest.HalfReader(strings.NewReader(content)))
				if err != nil {
					return err
				}
				if err := f.Record(ctx, "scans", with(scan{id, "Scan " + id, saved.Ref("application/pdf")}, saved)); err != nil {
					return err
				}
			}
			return f.State(ctx, "scans", Cursor{"n": "1"})
		}}}, nil
	})
}

func withFile(s scan, saved SavedBlob) Record {
	return Upsert(s).WithBlobs(saved.As("blob_ref", "application/pdf", s.ID+".pdf"))
}

// A saved file waits in the working directory under the path that its record names, whole, and the
// record contains its size and hash.
func TestSavedBlobs(t *testing.T) {
	t.Parallel()
	contents := map[string]string{"a": "the first", "b": "", "c": strings.Repeat("0123456789", 50_000)}
	dir := t.TempDir()
	r := succeeded(t, newVault().run(t, shelve(t, contents, withFile), options{dir: dir}))
	records := all[*protocol.Record](r)
	if len(records) != len(contents) {
		t.Fatalf("%d records", len(records))
	}
	for _, rec := range records {
		var data scan
		if err := json.Unmarshal(rec.Data, &data); err != nil || data.Blob == nil {
			t.Fatalf("%s: %v", rec.Data, err)
		}
		if len(rec.Blobs) != 1 {
			t.Fatalf("%s names %+v", rec.Key, rec.Blobs)
		}
		b, content := rec.Blobs[0], contents[rec.Key]
		sum := sha256.Sum256([]byte(content))
		got, err := os.ReadFile(filepath.Join(dir, b.Path))
		if err != nil || string(got) != content {
			t.Errorf("%s: the file has %d bytes, %v", rec.Key, len(got), err)
		}
		if want := hex.EncodeToString(
			sum[:],
		); data.Blob.SHA256 != want || data.Blob.BlobID != want || data.Blob.Bytes != int64(len(content)) ||
			data.Blob.MIMEType != "application/pdf" {
			t.Errorf("%s: the record says %+v", rec.Key, data.Blob)
		}
		if b.Field != "blob_ref" || b.MIME != "application/pdf" || b.Name != rec.Key+".pdf" ||
			filepath.Base(b.Path) != b.Path {
			t.Errorf("%s: named as %+v", rec.Key, b)
		}
	}
}

// A file above the owner's limit is not there, the record goes without it, and it is declared.
func TestTooLargeBlobIsDeclared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := shelve(t, map[string]string{"fits": "12345", "large": "123456"}, withFile)
	r := succeeded(t, newVault().run(t, c, options{dir: dir, env: map[string]string{"PDPP_MAX_BLOB_BYTES": "5"}}))
	for _, rec := range all[*protocol.Record](r) {
		if want := map[string]int{"fits": 1, "large": 0}[rec.Key]; len(rec.Blobs) != want || rec.Blobs == nil {
			t.Errorf("%s names %+v", rec.Key, rec.Blobs)
		}
		if rec.Key == "large" && !strings.Contains(string(rec.Data), `"blob_ref":null`) {
			t.Errorf("the large one says %s", rec.Data)
		}
	}
	skips := all[*protocol.SkipResult](r)
	if len(skips) != 1 || skips[0].Reason != protocol.ReasonBlobTooLarge ||
		strings.Join(skips[0].ResourceIDs, " ") != "large" {
		t.Errorf("declared %+v", skips)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%d files are left: %v", len(left), err)
	}
	r = succeeded(t, newVault().run(t, c, options{dir: dir, env: map[string]string{"PDPP_MAX_BLOB_BYTES": "-1"}}))
	if skips := all[*protocol.SkipResult](r); len(skips) > 0 {
		t.Errorf("without a bound: %+v", skips)
	}
}

// A record with a scope that leaves the file's field out names no file, and one that does not mention files
// is sent so.
func TestBlobsFollowTheScope(t *testing.T) {
	t.Parallel()
	contents := map[string]string{"a": "content"}
	narrow := []protocol.StreamScope{{Name: "scans", Fields: []string{"id", "title"}}}
	r := succeeded(t, newVault().run(t, shelve(t, contents, withFile), options{dir: t.TempDir(), scope: narrow}))
	if rec := all[*protocol.Record](r)[0]; len(rec.Blobs) != 0 {
		t.Errorf("nobody asked for %+v", rec.Blobs)
	}
	silent := func(s scan, _ SavedBlob) Record { return Upsert(s) }
	r = succeeded(t, newVault().run(t, shelve(t, contents, silent), options{dir: t.TempDir()}))
	if rec := all[*protocol.Record](r)[0]; rec.Blobs != nil {
		t.Errorf("it says %+v of its files", rec.Blobs)
	}
}

// What breaks off leaves no file, and its own error.
func TestBrokenBlobLeavesNothing(t *testing.T) {
	t.Parallel()
	broken := errors.New("the line went dead")
	dir := t.TempDir()
	c := withManifest(t, fileManifest, func(_ context.Context, s *Setup) ([]Collector, error) {
		return []Collector{PushSource{Streams: []string{"scans"}, Collect: func(ctx context.Context, f *Push) error {
			_, err := s.SaveBlob(ctx, io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)))
			if !errors.Is(err, broken) {
				t.Errorf("it ended with %v", err)
			}
			ended, cancel := context.WithCancel(ctx)
			cancel()
			if _, err := s.SaveBlob(ended, strings.NewReader("late")); !errors.Is(err, context.Canceled) {
				t.Errorf("after the end: %v", err)
			}
			w, err := s.NewBlob()
			if err != nil {
				return err
			}
			if _, err := w.Write([]byte("unwanted")); err != nil {
				return err
			}
			w.Discard()
			if _, err := w.Save(); err == nil {
				t.Error("what was discarded was saved")
			}
			saved, err := s.SaveBlob(ctx, strings.NewReader("not named after all"))
			saved.Remove()
			return err
		}}}, nil
	})
	succeeded(t, newVault().run(t, c, options{dir: dir}))
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%d files are left: %v", len(left), err)
	}
}
