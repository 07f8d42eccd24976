package service

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestWatchSeesChanges(t *testing.T) {
	dir := t.TempDir()
	path := func(n int) string { return filepath.Join(dir, fmt.Sprintf("sub%d", n%3), fmt.Sprint(n)) }
	put := func(n int, text string, at time.Time) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path(n)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path(n), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path(n), at, at); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 200 {
		put(n, "x", noon.Add(time.Duration(n)*time.Second))
	}
	if err := os.Symlink(dir, filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	w := newWatch([]string{dir, filepath.Join(dir, "missing")})
	look := func(after time.Duration, want bool) {
		t.Helper()
		if got := w.look(noon.Add(after)); got != want {
			t.Errorf("after %s: %t", after, got)
		}
	}
	look(0, false)
	if len(w.hot) != hotFiles || w.hot[0].path != path(199) {
		t.Errorf("%d files are looked at often, first %v", len(w.hot), w.hot[0])
	}
	look(2*time.Second, false)
	put(199, "xy", noon) // one of the newest: seen at once
	look(4*time.Second, true)
	look(6*time.Second, false)
	put(3, "xy", noon.Add(time.Hour)) // an old one: seen by the next look at all
	look(8*time.Second, false)
	look(allEvery, true)
	look(allEvery+2*time.Second, false)
	put(3, "xyz", noon.Add(2*time.Hour)) // which is one of the newest now
	look(allEvery+4*time.Second, true)
	put(1000, "new", noon)
	look(2*allEvery, true)
	if err := os.Remove(path(3)); err != nil {
		t.Fatal(err)
	}
	look(2*allEvery+2*time.Second, false)
	look(3*allEvery, false)              // what is gone is no reason for a pass
	put(3, "xyz", noon.Add(2*time.Hour)) // but it is one that it came back, as it was
	look(4*allEvery, true)
	look(5*allEvery, false)
	look(-time.Hour, false) // the clock was set back
}

// TestHotFiles holds that the files that changed last are looked at often, in whatever order and
// however many files are met.
func TestHotFiles(t *testing.T) {
	t.Parallel()
	w := newWatch(nil)
	w.files = map[uint64]uint64{}
	all := lookRound{watch: w}
	const files = 5000
	for n := range files {
		modified := n * 1237 % files // each once
		all.file("folder", fmt.Sprint(modified), uint64(n), looks{modified: int64(modified), regular: true})
	}
	for i, f := range hottest(all.hot) {
		if want := files - 1 - i; f.modified != int64(want) || f.path != filepath.Join("folder", fmt.Sprint(want)) {
			t.Fatalf("place %d has %+v", i, f)
		}
	}
	if len(all.hot) < hotFiles || all.files != files || len(w.files) != files {
		t.Errorf("%d hot files of %d, %d of them known", len(all.hot), all.files, len(w.files))
	}
}
