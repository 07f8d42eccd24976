package runner

import (
	"fmt"
	"testing"
)

// A run names so many files and no more: what comes after counts as the source's, and what was named
// before keeps its name.
func TestFilesOfARunAreBounded(t *testing.T) {
	t.Parallel()
	s := &session{}
	for n := range mostFiles {
		if name := fmt.Sprint("export-", n, ".zip"); s.fileNamed(name) != name {
			t.Fatalf("%s is not taken", name)
		}
	}
	if got := s.fileNamed("one more.zip"); got != "" {
		t.Errorf("one more is taken as %q", got)
	}
	if s.fileNamed("export-7.zip") == "" || s.fileNamed("") != "" {
		t.Error("what was named before is not")
	}
}
