package browser

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What a connector noted of its sign-in is kept with the run for a week, also when the worker
// was killed; what is no note is not.
func TestCapturesAreKept(t *testing.T) {
	b := newBed(t)
	b.Captures = filepath.Join(t.TempDir(), "runs")
	b.now = time.Now()
	note := func(s *ProfileSession, text string) {
		t.Helper()
		dir := s.Binding(0).CaptureDir
		must(t, os.WriteFile(filepath.Join(dir, "01-begin.json"), []byte(text), 0o600))
		must(t, os.Symlink(b.database, filepath.Join(dir, "02-link.json")))
		must(t, os.Mkdir(filepath.Join(dir, "03-folder"), 0o700))
	}
	first := b.start("cin_1", "run_1")
	s := b.open(first)
	note(s, "first")
	_, err := s.End(t.Context())
	must(t, err)
	b.finish(first)
	dead := b.start("cin_1", "run_2")
	s = b.open(dead)
	note(s, "second")
	s.die()
	b.finish(dead)
	_, err = b.Recover(t.Context())
	must(t, err)
	b.nothingLeft()
	for run, want := range map[string]string{"run_1": "first", "run_2": "second"} {
		got := filesOf(t, filepath.Join(b.Captures, run))
		if len(got) != 1 || got["01-begin.json"] != want {
			t.Errorf("%s has %v", run, got)
		}
	}
	old := b.now.Add(-keepCaptures - time.Hour)
	must(t, os.Chtimes(filepath.Join(b.Captures, "run_1"), old, old))
	_, err = b.Recover(t.Context())
	must(t, err)
	if left, _ := os.ReadDir(b.Captures); len(left) != 1 || left[0].Name() != "run_2" {
		t.Errorf("left is %v", left)
	}
}
