package blob

import (
	"bytes"
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

// A file that comes in any pieces, broken off and repeated, is kept once it is whole, and is then the
// sender's; one that is not what was said begins anew.
func TestUpload(t *testing.T) {
	p := Folder{Dir: t.TempDir()}
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
			got, done, err := p.Receive(t.Context(), sender, hash, total, offset, r)
			switch {
			case offset != have:
				if !errors.Is(err, ErrOffset) || got != have {
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
			told, told2, err := p.Received(t.Context(), sender, hash)
			if err != nil || told != have || told2 != done {
				rt.Fatalf("told %d and %t, want %d and %t: %v", told, told2, have, done, err)
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
		if _, whole, err := p.Received(t.Context(), sender+" and another", hash); whole || err != nil {
			rt.Fatalf("another sender has it: %t, %v", whole, err)
		}
	})
	lie := strings.Repeat("ab", 32)
	if _, _, err := p.Receive(t.Context(), "s", lie, 5, 0, strings.NewReader("other")); !errors.Is(err, ErrContent) {
		t.Errorf("a lie: %v", err)
	}
	if n, whole, err := p.Received(t.Context(), "s", lie); n != 0 || whole || err != nil {
		t.Errorf("after it: %d, %t, %v", n, whole, err)
	}
	if _, err := p.Stat(t.Context(), lie); !errors.Is(err, ErrNotFound) {
		t.Errorf("it is kept: %v", err)
	}
	if _, _, err := p.Receive(t.Context(), "s", "../../x", 1, 0, strings.NewReader("x")); !errors.Is(err, ErrNotFound) {
		t.Errorf("an odd name: %v", err)
	}
	// What is unfinished goes by age, and the proof with it.
	if err := p.List(t.Context(), time.Now().Add(time.Hour), func(Entry) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(filepath.Join(p.Dir, unfinished)); len(left) > 0 {
		t.Errorf("%d are left", len(left))
	}
}
