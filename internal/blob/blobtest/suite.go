// Package blobtest is the test suite for implementations of blob.Storage.
package blobtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/blob"
)

// SuiteStorage is the tested storage, which also receives uploads.
type SuiteStorage interface {
	blob.Storage
	blob.UploadStorage
}

// RunSuite tests an empty storage. It leaves files there, and nothing unfinished.
func RunSuite(t *testing.T, p SuiteStorage) {
	t.Run("nothing is there", func(t *testing.T) { testMissing(t, p) })
	t.Run("put and open", func(t *testing.T) { testPutAndOpen(t, p) })
	t.Run("upload", func(t *testing.T) { testUploads(t, p) })
	t.Run("list and remove", func(t *testing.T) { testListAndRemove(t, p) })
}

// testPutAndOpen checks that content is found under its hash, completely and with random access.
func testPutAndOpen(t *testing.T, p SuiteStorage) {
	rapid.Check(t, func(rt *rapid.T) {
		content := rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(rt, "content")
		sum := sha256.Sum256(content)
		hash, n, err := p.Put(t.Context(), iotest.OneByteReader(bytes.NewReader(content)))
		if err != nil || hash != hex.EncodeToString(sum[:]) || n != int64(len(content)) {
			rt.Fatalf("put as %s with %d bytes: %v", hash, n, err)
		}
		ended, end := context.WithCancel(t.Context())
		f, err := p.Open(ended, hash)
		end()
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
}

// testMissing checks that an interrupted file leaves nothing, and that invalid names are not found.
func testMissing(t *testing.T, p SuiteStorage) {
	broken := errors.New("broken off")
	if _, _, err := p.Put(t.Context(),
		io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("put: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := p.Put(ended, strings.NewReader("late")); !errors.Is(err, context.Canceled) {
		t.Errorf("put after the end: %v", err)
	}
	if err := p.List(t.Context(), time.Time{},
		func(e blob.StoredFile) error { t.Errorf("there is %+v", e); return nil }); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", "..", "../secret", "secret", "tmp", strings.Repeat("A", 64),
		strings.Repeat("a", 63) + "/", strings.Repeat("a", 65), "\x00"} {
		if _, err := p.Open(t.Context(), name); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("open %q: %v", name, err)
		}
		if _, err := p.Stat(t.Context(), name); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("stat %q: %v", name, err)
		}
		if err := p.Remove(t.Context(), name); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("remove %q: %v", name, err)
		}
	}
}

// testUploads checks that a file in any pieces, interrupted and repeated, is stored once it is complete and then
// belongs to the sender. One with other content starts over.
func testUploads(t *testing.T, p SuiteStorage) {
	rapid.Check(t, func(rt *rapid.T) {
		content := rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(rt, "content")
		sum := sha256.Sum256(content)
		hash, total := hex.EncodeToString(sum[:]), int64(len(content))
		sender := rapid.StringN(1, 8, -1).Draw(rt, "sender") + time.Now().String() // each try is a new one
		have, whole := int64(0), false
		for tries := 0; !whole; tries++ {
			if tries > 5000 {
				rt.Fatal("it does not end")
			}
			offset := have
			if rapid.IntRange(0, 9).Draw(rt, "odd") == 0 {
				offset = rapid.Int64Range(0, total+5).Draw(rt, "offset")
			}
			piece := content[min(offset, total):min(offset+rapid.Int64Range(0, 600).Draw(rt, "piece"), total)]
			var r io.Reader = bytes.NewReader(piece)
			broken := rapid.IntRange(0, 4).Draw(rt, "broken") == 0
			if broken {
				r = io.MultiReader(bytes.NewReader(piece[:len(piece)/2]), iotest.ErrReader(errors.New("the line went dead")))
			}
			got, done, err := p.ReceivePiece(t.Context(), sender, hash, total, offset, r)
			switch {
			case offset != have:
				if !errors.Is(err, blob.ErrWrongOffset) || got != have {
					rt.Fatalf("a piece at %d of %d: %d, %v", offset, have, got, err)
				}
				continue
			case broken && have+int64(len(piece)/2) < total:
				if err == nil || got != have+int64(len(piece)/2) || done {
					rt.Fatalf("a broken piece: %d, %t, %v", got, done, err)
				}
			case err != nil:
				rt.Fatal(err)
			}
			if have = got; done != (have == total) {
				rt.Fatalf("%d of %d, and it is whole: %t", have, total, done)
			}
			reported, finished, err := p.UploadProgress(t.Context(), sender, hash)
			if err != nil || reported != have || finished != done {
				rt.Fatalf("reported %d and %t, want %d and %t: %v", reported, finished, have, done, err)
			}
			whole = done
		}
		f, err := p.Open(t.Context(), hash)
		if err != nil {
			rt.Fatal(err)
		}
		defer f.Close()
		if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, content) {
			rt.Fatalf("kept %d bytes: %v", len(got), err)
		}
		if _, whole, err := p.UploadProgress(t.Context(), sender+" and another", hash); whole || err != nil {
			rt.Fatalf("another sender has it: %t, %v", whole, err)
		}
	})
	lie := strings.Repeat("ab", 32)
	if _, _, err := p.ReceivePiece(t.Context(), "s", lie, 5, 0, strings.NewReader("other")); !errors.Is(err,
		blob.ErrContentMismatch) {
		t.Errorf("a lie: %v", err)
	}
	if n, whole, err := p.UploadProgress(t.Context(), "s", lie); n != 0 || whole || err != nil {
		t.Errorf("after it: %d, %t, %v", n, whole, err)
	}
	if _, err := p.Stat(t.Context(), lie); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("it is kept: %v", err)
	}
	if _, _, err := p.ReceivePiece(t.Context(), "s", "../../x", 1, 0, strings.NewReader("x")); !errors.Is(err,
		blob.ErrNotFound) {
		t.Errorf("an odd name: %v", err)
	}
}

// testListAndRemove checks that files are listed once and can be removed, also twice, and that nothing unfinished
// stays.
func testListAndRemove(t *testing.T, p SuiteStorage) {
	hash, _, err := p.Put(t.Context(), strings.NewReader("a file to be taken away"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.ReceivePiece(t.Context(), "slow", strings.Repeat("cd", 32), 100, 0,
		strings.NewReader("begun")); err != nil {
		t.Fatal(err)
	}
	list := func(before time.Time) (seen int) {
		t.Helper()
		all := map[string]bool{}
		err := p.List(t.Context(), before, func(e blob.StoredFile) error {
			if all[e.SHA256] {
				t.Errorf("%s is listed twice", e.SHA256)
			}
			if all[e.SHA256] = true; e.SHA256 == hash {
				seen++
			}
			s, err := p.Stat(t.Context(), e.SHA256)
			if err != nil || s.Bytes != e.Bytes || s.SHA256 != e.SHA256 || time.Since(e.At).Abs() > time.Hour {
				t.Errorf("listed as %+v, and is %+v: %v", e, s, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return seen
	}
	if n := list(time.Time{}); n != 1 {
		t.Errorf("the file is listed %d times", n)
	}
	if n, _, err := p.UploadProgress(t.Context(), "slow", strings.Repeat("cd", 32)); n != 5 || err != nil {
		t.Errorf("what was begun has %d bytes: %v", n, err)
	}
	for range 2 {
		if err := p.Remove(t.Context(), hash); err != nil {
			t.Error(err)
		}
	}
	if n := list(time.Now().Add(time.Hour)); n != 0 {
		t.Error("the file is still listed")
	}
	if n, _, err := p.UploadProgress(t.Context(), "slow", strings.Repeat("cd", 32)); n != 0 || err != nil {
		t.Errorf("what was begun long ago has %d bytes: %v", n, err)
	}
}
