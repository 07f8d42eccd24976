package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// A missing or truncated file of a record is reported; a file without a record is not.
func TestFiles(t *testing.T) {
	p := admit(t)
	place := blob.FolderStorage{Dir: filepath.Join(p.Home, "blobs")}
	p.Files = place
	p.wants(CheckFiles, fine)
	lease, err := p.st.StartRun(t.Context(), store.RunStart{RunID: "run_1", ConnectionID: "fern-1", ConnectorID: "fern",
		Trigger: store.TriggerManual, Holder: "vera 1",
		TTL: time.Hour, Streams: []store.StreamSpec{{Name: "notes"}}}, noon)
	p.must(err)
	note := func(key, content string) string {
		t.Helper()
		hash, n, err := place.Put(t.Context(), strings.NewReader(content))
		p.must(err)
		_, err = p.st.CommitSlice(t.Context(), lease, slice.Slice{
			Records: []slice.Record{{Stream: "notes", Key: key, Data: []byte(`{"id":"x"}`), EmittedAt: "2026-03-01",
				Blobs: []slice.Blob{{Field: "id", SHA256: hash, Bytes: n, MIME: "text/plain"}}}},
			Present: func(ctx context.Context, hashes []string) ([]string, error) {
				return blob.MissingFiles(ctx, place, hashes)
			},
		}, noon)
		p.must(err)
		return filepath.Join(place.Dir, hash[:2], hash)
	}
	path := note("a", "whole")
	replaced := note("b", "of an earlier version")
	note("b", "of this one")
	p.must(os.Remove(replaced))
	p.wants(CheckFiles, fine)
	p.must(os.WriteFile(path, []byte("who"), 0o600))
	p.wants(CheckFiles, failing(fixFiles))
	p.must(os.Remove(path))
	p.wants(CheckFiles, failing(fixFiles))
	note("a", "whole")
	p.wants(CheckFiles, fine)
}
