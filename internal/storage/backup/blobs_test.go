package backup

import (
	"archive/tar"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/slice"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// giveFile makes a record of the home refer to a file.
func giveFile(t *testing.T, home, content string) (hash string) {
	t.Helper()
	place := blob.FolderStorage{Dir: filepath.Join(home, blobsDir)}
	hash, size, err := place.Put(t.Context(), strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	st := openHome(t, home)
	defer closeStore(t, st)
	l, err := st.StartRun(t.Context(), store.RunStart{RunID: "r" + hash[:8], ConnectionID: "cin_orchard_1",
		ConnectorID: "orchard", Trigger: store.TriggerManual, Holder: "test", TTL: time.Hour,
		Streams: []store.StreamSpec{{Name: "trees"}}}, noon)
	if err == nil {
		_, err = st.CommitSlice(t.Context(), l, slice.Slice{
			Records: []slice.Record{{Stream: "trees", Key: content, Data: []byte(`{"f":1}`), EmittedAt: "2026-03-01",
				Blobs: []slice.Blob{{Field: "f", SHA256: hash, Bytes: size, MIME: "text/plain"}}}},
			Present: func(ctx context.Context, hashes []string) ([]string, error) {
				return blob.MissingFiles(ctx, place, hashes)
			},
		}, noon)
	}
	if err == nil {
		err = st.FinishRun(t.Context(), l,
			store.RunOutcome{Status: store.RunSucceeded, Event: slice.Event{Type: "run.completed"}}, noon)
	}
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

// TestBackupContainsReferencedFiles checks that a backup contains exactly the files that records refer to.
func TestBackupContainsReferencedFiles(t *testing.T) {
	home := newHome(t, 1)
	pear, plum := giveFile(t, home, "pear"), giveFile(t, home, "plum")
	place := blob.FolderStorage{Dir: filepath.Join(home, blobsDir)}
	orphan, _, err := place.Put(t.Context(), strings.NewReader("nobody's"))
	if err != nil {
		t.Fatal(err)
	}
	if err := place.Remove(t.Context(), plum); err != nil { // it is missing already
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "backup")
	_, err = Write(t.Context(), Options{Home: home, File: file, Seal: Seal{Plain: true}, Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "restored")
	if _, err := Restore(t.Context(), RestoreOptions{File: file, Home: to, Keys: Keys{Plain: true},
		Now: noon}); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(to, blobsDir, pear[:2], pear))
	if err != nil || string(content) != "pear" {
		t.Errorf("restored %q, %v", content, err)
	}
	for _, hash := range []string{plum, orphan} {
		if _, err := os.Lstat(filepath.Join(to, blobsDir, hash[:2], hash)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s came along: %v", hash, err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, blobsDir, pear[:2], pear), []byte("pare"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Write(t.Context(), Options{Home: home, File: file, Replace: true, Seal: Seal{Plain: true}, Now: noon})
	wantCode(t, err, CodeDamaged) // a file must match its name
}

// TestForgedFiles checks that nothing else can be written into the folder of files.
func TestForgedFiles(t *testing.T) {
	hash := strings.Repeat("ab", 32)
	for _, name := range []string{"blobs/x", "blobs/ab/x", "blobs/cd/" + hash, "blobs/" + hash, "blobs/ab/" +
		strings.ToUpper(hash), "blobs/ab/../ab/" + hash, "blobs/ab/" + hash + "/x"} {
		if isKnownEntry(&tar.Header{Typeflag: tar.TypeReg, Name: name}) {
			t.Errorf("%s belongs into a backup", name)
		}
	}
	for _, name := range []string{"blobs/abc", "blobs/AB", "blobs/..", "blobs/ab/cd"} {
		if isKnownEntry(&tar.Header{Typeflag: tar.TypeDir, Name: name}) {
			t.Errorf("the folder %s belongs into a backup", name)
		}
	}
	for _, name := range []string{"imports/../pdpp.db", "imports", "/imports/a", "imports/a/../../b"} {
		if isKnownEntry(&tar.Header{Typeflag: tar.TypeReg, Name: name}) {
			t.Errorf("%s belongs into a backup", name)
		}
	}
	if isKnownEntry(&tar.Header{Typeflag: tar.TypeSymlink, Name: "imports/a/b"}) ||
		!isKnownEntry(&tar.Header{Typeflag: tar.TypeReg, Name: "imports/cin_album_1/upload-2/a.txt"}) {
		t.Error("a link among the imports does, or a file does not")
	}
	if !isKnownEntry(&tar.Header{Typeflag: tar.TypeReg, Name: "blobs/ab/" + hash}) ||
		isKnownEntry(&tar.Header{Typeflag: tar.TypeSymlink, Name: "blobs/ab/" + hash}) {
		t.Error("a file of a record does not, or a link does")
	}
}
