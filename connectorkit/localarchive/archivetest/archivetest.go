// Package archivetest makes the files of an import folder, packed and unpacked, and reads what a run reported of them.
package archivetest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/connectorkit/localfile"
)

// Decoder parses a stored record, and reports whether there is one.
type Decoder interface {
	Decode(stream, key string, into any) bool
}

// StoredCoverage returns the coverage that the last run reported of a store.
func StoredCoverage(t testing.TB, records Decoder, store string) (got localfile.Coverage) {
	t.Helper()
	if !records.Decode(localfile.CoverageStream, store, &got) {
		t.Fatalf("no account of %s", store)
	}
	return got
}

// PackedFile is a member to be packed or written.
type PackedFile struct{ Name, Content string }

// OldTime is a modification time long enough ago that a file counts as complete.
var OldTime = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// WriteFile puts a file into a folder, as it was left some time ago.
func WriteFile(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, OldTime, OldTime); err != nil {
		t.Fatal(err)
	}
}

// WriteUnpacked writes members as files below a folder.
func WriteUnpacked(t testing.TB, dir string, files ...PackedFile) {
	t.Helper()
	for _, f := range files {
		WriteFile(t, filepath.Join(dir, filepath.FromSlash(f.Name)), []byte(f.Content))
	}
}

// PackZip packs members.
func PackZip(t testing.TB, files ...PackedFile) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f.Name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.Content); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// PackTarGzip packs members into a compressed tar.
func PackTarGzip(t testing.TB, files ...PackedFile) []byte {
	t.Helper()
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	w := tar.NewWriter(packed)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.Name, Size: int64(len(f.Content)), Mode: 0o600,
			Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, f.Content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
