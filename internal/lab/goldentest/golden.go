// Package goldentest holds what a test made against what it made before: a file beside the
// test, in which a change is seen and judged.
package goldentest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Updating reports whether files are to be written anew.
func Updating() bool { return *update }

// Hold compares the text with the file of the name in testdata; -update writes it.
func Hold(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s says otherwise (-before +now); if that is meant, run the test with -update:\n%s", file, diff)
	}
}
