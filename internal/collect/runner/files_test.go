package runner

import (
	"fmt"
	"testing"
)

// A run names so many files and no more: what comes after counts as the source's, and what was named
// before keeps its name.
func TestFilesOfARunAreBounded(t *testing.T) {
	t.Parallel()
	s := &runCounters{}
	for n := range maxImportFiles {
		if name := fmt.Sprint("export-", n, ".zip"); s.importFile(name) != name {
			t.Fatalf("%s is not taken", name)
		}
	}
	if got := s.importFile("one more.zip"); got != "" {
		t.Errorf("one more is taken as %q", got)
	}
	if s.importFile("export-7.zip") == "" || s.importFile("") != "" {
		t.Error("what was named before is not")
	}
}
