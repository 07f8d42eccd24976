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

// Account returns the coverage that the last run reported of a store.
func Account(t testing.TB, records Decoder, store string) (got localfile.Coverage) {
	t.Helper()
	if !records.Decode(localfile.CoverageStream, store, &got) {
		t.Fatalf("no account of %s", store)
	}
	return got
}

// File is a member to be packed or written.
type File struct{ Name, Content string }

// Old is a time at which nobody writes any more.
var Old = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Write puts a file into a folder, as it was left some time ago.
func Write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, Old, Old); err != nil {
		t.Fatal(err)
	}
}

// Unpacked writes members as files below a folder.
func Unpacked(t testing.TB, dir string, files ...File) {
	t.Helper()
	for _, f := range files {
		Write(t, filepath.Join(dir, filepath.FromSlash(f.Name)), []byte(f.Content))
	}
}

// Zip packs members.
func Zip(t testing.TB, files ...File) []byte {
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

// Tgz packs members into a compressed tar.
func Tgz(t testing.TB, files ...File) []byte {
	t.Helper()
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	w := tar.NewWriter(packed)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.Name, Size: int64(len(f.Content)), Mode: 0o600, Typeflag: tar.TypeReg}); err != nil {
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
