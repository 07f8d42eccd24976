package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPromisedTestsAreFound(t *testing.T) {
	promised := NamedTests("held by `TestOne`, `TestTwo` and `gone.txtar`; `TestOne` again; TestProse and `Testing` are words")
	if want := []string{"TestOne", "TestTwo", "gone.txtar"}; !slices.Equal(promised, want) {
		t.Fatalf("NamedTests = %v, want %v", promised, want)
	}
	defined := TestFuncs("func TestOne(t *testing.T) {}\n\tfunc TestTwo(t *testing.T) {}\n// func TestThree(\nfunc FuzzFour(f *testing.F) {}\n")
	if want := []string{"TestOne", "FuzzFour"}; !slices.Equal(defined, want) {
		t.Fatalf("TestFuncs = %v, want %v", defined, want)
	}
	missing := MissingTests(promised, map[string]bool{"TestOne": true})
	if want := []string{"TestTwo", "gone.txtar"}; !slices.Equal(missing, want) {
		t.Fatalf("MissingTests = %v, want %v", missing, want)
	}
}

// TestDocumentsNameRealTests holds the documents that promise a test for every
// statement to their promise.
func TestDocumentsNameRealTests(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	existing := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "build"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".txtar"):
			existing[d.Name()] = true
		case strings.HasSuffix(path, "_test.go"):
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, name := range TestFuncs(string(source)) {
				existing[name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range []string{"invariants.md", "operations.md"} {
		text, err := os.ReadFile(filepath.Join(root, "docs", doc))
		if err != nil {
			t.Fatal(err)
		}
		promised := NamedTests(string(text))
		if len(promised) < 10 {
			t.Errorf("docs/%s names %d tests: every statement in it needs one", doc, len(promised))
		}
		for _, name := range MissingTests(promised, existing) {
			t.Errorf("docs/%s names %s, which does not exist", doc, name)
		}
	}
}
