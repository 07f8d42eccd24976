package blob

import (
	"bytes"
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
	"time"

	"pgregory.net/rapid"
)

func put(t testing.TB, p Place, content string) string {
	t.Helper()
	hash, n, err := p.Put(context.Background(), strings.NewReader(content))
	if err != nil || n != int64(len(content)) {
		t.Fatalf("put %d bytes: %v", n, err)
	}
	return hash
}

// What is put is found under the hash of its content, whole and from anywhere.
func TestPutAndOpen(t *testing.T) {
	p := Folder{Dir: filepath.Join(t.TempDir(), "blobs")}
	rapid.Check(t, func(rt *rapid.T) {
		content := rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(rt, "content")
		sum := sha256.Sum256(content)
		hash, n, err := p.Put(t.Context(), iotest.OneByteReader(bytes.NewReader(content)))
		if err != nil || hash != hex.EncodeToString(sum[:]) || n != int64(len(content)) {
			rt.Fatalf("put as %s with %d bytes: %v", hash, n, err)
		}
		f, err := p.Open(t.Context(), hash)
		if err != nil {
			rt.Fatal(err)
		}
		defer f.Close()
		from := rapid.Int64Range(0, n).Draw(rt, "from")
		if _, err := f.Seek(from, io.SeekStart); err != nil {
			rt.Fatal(err)
		}
		rest, err := io.ReadAll(f)
		if err != nil || !bytes.Equal(rest, content[from:]) || f.Bytes() != n {
			rt.Fatalf("read %d bytes from %d on: %v", len(rest), from, err)
		}
	})
	if left, _ := os.ReadDir(filepath.Join(p.Dir, unfinished)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A file that breaks off leaves nothing, and odd names lead nowhere.
func TestNothingIsThere(t *testing.T) {
	p := Folder{Dir: t.TempDir()}
	broken := errors.New("broken off")
	if _, _, err := p.Put(t.Context(), io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("put: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := p.Put(ended, strings.NewReader("late")); !errors.Is(err, context.Canceled) {
		t.Errorf("put after the end: %v", err)
	}
	if err := p.List(t.Context(), time.Time{}, func(e Entry) error { t.Errorf("there is %+v", e); return nil }); err != nil {
		t.Error(err)
	}
	secret := filepath.Join(p.Dir, "secret")
	if err := os.WriteFile(secret, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "..", "../secret", "secret", "tmp", strings.Repeat("A", 64), strings.Repeat("a", 63) + "/", strings.Repeat("a", 65), "\x00"} {
		if _, err := p.Open(t.Context(), name); !errors.Is(err, ErrNotFound) {
			t.Errorf("open %q: %v", name, err)
		}
		if _, err := p.Stat(t.Context(), name); !errors.Is(err, ErrNotFound) {
			t.Errorf("stat %q: %v", name, err)
		}
		if err := p.Remove(t.Context(), name); !errors.Is(err, ErrNotFound) {
			t.Errorf("remove %q: %v", name, err)
		}
	}
	if _, err := os.Stat(secret); err != nil {
		t.Error(err)
	}
}

// A damaged file is mended by putting it again.
func TestPutMends(t *testing.T) {
	p := Folder{Dir: t.TempDir()}
	hash := put(t, p, "content")
	if err := os.WriteFile(filepath.Join(p.Dir, hash[:2], hash), []byte("rot"), 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, p, "content")
	if e, err := p.Stat(t.Context(), hash); err != nil || e.Bytes != 7 {
		t.Errorf("it is %+v, %v", e, err)
	}
}

// register is what a database knows.
type register struct {
	known     map[string]bool
	forgotten []string
	asked     time.Time
	before    func(hash string) // runs when the place of a row is held
}

func (r *register) ForgetBlobs(_ context.Context, before time.Time) (bool, error) {
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

func (r *register) WithoutBlob(_ context.Context, hash string, take func() error) error {
	if r.before != nil {
		r.before(hash)
	}
	if r.known[hash] {
		return nil
	}
	return take()
}

// Only old files go that nothing knows, also what an interrupted Put left, and one that is put
// again, or becomes known, at the last moment stays.
func TestSweep(t *testing.T) {
	p := Folder{Dir: t.TempDir()}
	now := time.Now()
	old := now.Add(-OrphanAge - time.Minute)
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
	left := filepath.Join(p.Dir, unfinished, "put-1")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	age(left)
	if err := os.WriteFile(left+"0", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := &register{known: map[string]bool{hashes["known"]: true, hashes["forgotten"]: true}, forgotten: []string{hashes["forgotten"]}}
	r.before = func(hash string) {
		switch hash {
		case hashes["again"]:
			put(t, p, "again")
		case hashes["late"]:
			r.known[hash] = true
		}
	}
	swept, err := Sweep(t.Context(), p, r, now)
	if err != nil || swept.Files != 2 || !r.asked.Equal(now.Add(-UnreferencedAge)) {
		t.Errorf("swept %+v, %v", swept, err)
	}
	for name, hash := range hashes {
		_, err := p.Stat(t.Context(), hash)
		if gone := errors.Is(err, ErrNotFound); gone != (name == "orphan" || name == "forgotten") {
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
