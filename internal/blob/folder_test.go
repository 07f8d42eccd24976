package blob_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/blob"
	"github.com/pdpp-go/pdpp/internal/blob/blobtest"
)

// unfinished is the folder of unfinished files.
const unfinishedFolder = "tmp"

func put(t testing.TB, p blob.Storage, content string) string {
	t.Helper()
	hash, n, err := p.Put(context.Background(), strings.NewReader(content))
	if err != nil || n != int64(len(content)) {
		t.Fatalf("put %d bytes: %v", n, err)
	}
	return hash
}

// TestFolder runs the suite and checks that nothing unfinished remains.
func TestFolder(t *testing.T) {
	p := blob.FolderStorage{Dir: filepath.Join(t.TempDir(), "blobs")}
	blobtest.RunSuite(t, p)
	if left, err := os.ReadDir(filepath.Join(p.Dir, unfinishedFolder)); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestInvalidNames checks that invalid names are not found, even if a path exists.
func TestInvalidNames(t *testing.T) {
	p := blob.FolderStorage{Dir: t.TempDir()}
	secret := filepath.Join(p.Dir, "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"secret", "../" + filepath.Base(p.Dir) + "/secret", "."} {
		if err := p.Remove(t.Context(), name); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("remove %q: %v", name, err)
		}
		if _, err := p.Open(t.Context(), name); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("open %q: %v", name, err)
		}
	}
	if _, err := os.Stat(secret); err != nil {
		t.Error(err)
	}
}

// TestPutRepairsDamagedFile checks that putting a damaged file again repairs it.
func TestPutRepairsDamagedFile(t *testing.T) {
	p := blob.FolderStorage{Dir: t.TempDir()}
	hash := put(t, p, "content")
	if err := os.WriteFile(filepath.Join(p.Dir, hash[:2], hash), []byte("rot"), 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, p, "content")
	if e, err := p.Stat(t.Context(), hash); err != nil || e.Bytes != 7 {
		t.Errorf("it is %+v, %v", e, err)
	}
}

// register is a Registry in memory.
type register struct {
	known     map[string]bool
	forgotten []string
	asked     time.Time
	before    func(hash string) // runs while the row is locked
}

func (r *register) PruneBlobs(_ context.Context, before time.Time) (bool, error) {
	r.asked = before
	if len(r.forgotten) == 0 {
		return true, nil
	}
	delete(r.known, r.forgotten[0])
	r.forgotten = r.forgotten[1:]
	return false, nil
}

func (r *register) UnknownBlobs(_ context.Context, hashes []string) (out []string, err error) {
	for _, h := range hashes {
		if !r.known[h] {
			out = append(out, h)
		}
	}
	return out, nil
}

func (r *register) LockUnknownBlob(_ context.Context, hash string, take func() error) error {
	if r.before != nil {
		r.before(hash)
	}
	if r.known[hash] {
		return nil
	}
	return take()
}

// TestSweep checks that only old, unreferenced files and leftovers of an interrupted Put are removed. A file that is
// put again or referenced at the last moment stays.
func TestSweep(t *testing.T) {
	p := blob.FolderStorage{Dir: t.TempDir()}
	now := time.Now()
	old := now.Add(-blob.OrphanAge - time.Minute)
	age := func(path string) {
		t.Helper()
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	hashes := map[string]string{}
	for _, name := range []string{"known", "orphan", "young", "forgotten", "again", "late"} {
		hashes[name] = put(t, p, name)
		if name != "young" {
			age(filepath.Join(p.Dir, hashes[name][:2], hashes[name]))
		}
	}
	left := filepath.Join(p.Dir, unfinishedFolder, "put-1")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	age(left)
	if err := os.WriteFile(left+"0", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := &register{known: map[string]bool{hashes["known"]: true, hashes["forgotten"]: true},
		forgotten: []string{hashes["forgotten"]}}
	r.before = func(hash string) {
		switch hash {
		case hashes["again"]:
			put(t, p, "again")
		case hashes["late"]:
			r.known[hash] = true
		}
	}
	swept, err := blob.Sweep(t.Context(), p, r, now)
	if err != nil || swept.Files != 2 || !r.asked.Equal(now.Add(-blob.UnreferencedAge)) {
		t.Errorf("swept %+v, %v", swept, err)
	}
	for name, hash := range hashes {
		_, err := p.Stat(t.Context(), hash)
		if gone := errors.Is(err, blob.ErrNotFound); gone != (name == "orphan" || name == "forgotten") {
			t.Errorf("%s is gone: %t", name, gone)
		}
	}
	if _, err := os.Lstat(left); err == nil {
		t.Error("what an interrupted Put left is still there")
	}
	if _, err := os.Lstat(left + "0"); err != nil {
		t.Error("what is being put was taken away")
	}
}
