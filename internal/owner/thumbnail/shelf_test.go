package thumbnail

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func hashOf(n int) string {
	sum := sha256.Sum256(fmt.Append(nil, n))
	return hex.EncodeToString(sum[:])
}

// newShelf returns a shelf with space for room pictures of 8 KB each.
func newShelf(t *testing.T, room int64, now *time.Time) *shelf {
	return &shelf{dir: filepath.Join(t.TempDir(), "thumbnails"), now: func() time.Time { return *now },
		most: room * 8 << 10}
}

func (s *shelf) has(t *testing.T, hash string) bool {
	t.Helper()
	small, known, err := s.get(hash)
	if err != nil {
		t.Fatal(err)
	}
	return known && len(small) > 0
}

// The folder stays within its bound while pictures come, and those that were looked at last stay.
func TestShelfIsBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 10, 14, 32, 0, 0, time.UTC)
	s := newShelf(t, 16, &now)
	picture := make([]byte, 8<<10)
	for i := range 60 {
		if err := s.put(hashOf(i), picture); err != nil {
			t.Fatal(err)
		}
		now = now.Add(touchAfter + time.Minute)
		if i >= 1 && !s.has(t, hashOf(1)) { // looking at it keeps it
			t.Fatalf("after %d the one that is looked at is gone", i)
		}
		all, err := s.list()
		if err != nil || len(all) > 16+3 { // and an eighth
			t.Fatalf("after %d there are %d: %v", i, len(all), err)
		}
	}
	if s.has(t, hashOf(2)) || !s.has(t, hashOf(59)) {
		t.Error("the newest went, or an old one stayed")
	}
}

// known is what a database knows.
type known []string

func (k known) UnknownBlobs(_ context.Context, hashes []string) (out []string, err error) {
	for _, h := range hashes {
		if !slices.Contains(k, h) {
			out = append(out, h)
		}
	}
	return out, nil
}

// Sweep deletes unused pictures, pictures of deleted files, and unfinished files.
func TestSweep(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 10, 14, 32, 0, 0, time.UTC)
	s := newShelf(t, 100, &now)
	m := &Maker{kept: s}
	if err := m.Sweep(t.Context(), known{}); err != nil {
		t.Fatal("a folder that is not there yet: ", err)
	}
	if err := s.put(hashOf(1), []byte("old")); err != nil {
		t.Fatal(err)
	}
	now = now.Add(unusedAfter)
	for i := 2; i <= 4; i++ {
		if err := s.put(hashOf(i), []byte("new")); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(2 * time.Hour)
	begun := filepath.Join(s.dir, hashOf(2)[:2], "new-1")
	if err := os.WriteFile(begun, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(begun, now.Add(-2*time.Hour), now.Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := m.Sweep(t.Context(), known{hashOf(1), hashOf(2), hashOf(4)}); err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]bool{1: false, 2: true, 3: false, 4: true} {
		if s.has(t, hashOf(i)) != want {
			t.Errorf("picture %d is there: %v", i, !want)
		}
	}
	if _, err := os.Stat(begun); err == nil {
		t.Error("what was begun stays")
	}
}

// What the owner deletes is gone from the folder, and nothing else is.
func TestRemove(t *testing.T) {
	now := time.Now()
	s := newShelf(t, 1<<20, &now)
	for i := range 2 {
		if err := s.put(hashOf(i), []byte("small")); err != nil {
			t.Fatal(err)
		}
	}
	for _, hash := range []string{hashOf(0), hashOf(0), hashOf(7), ""} { // one that is not there is removed too
		if err := Remove(s.dir, hash); err != nil {
			t.Error(err)
		}
	}
	if s.has(t, hashOf(0)) || !s.has(t, hashOf(1)) {
		t.Errorf("the removed one is there: %t, the other: %t", s.has(t, hashOf(0)), s.has(t, hashOf(1)))
	}
}
