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

// TestDocumentsNameRealTests holds the documents to the tests that they name, and
// those that promise a test for every statement to their promise.
func TestDocumentsNameRealTests(t *testing.T) {
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
	promising := []string{"invariants.md", "faults.md"} // every statement in them has its test
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{}
	for _, path := range docs {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		doc, promised := filepath.Base(path), NamedTests(string(text))
		read[doc] = true
		if slices.Contains(promising, doc) && len(promised) < 10 {
			t.Errorf("docs/%s names %d tests: every statement in it needs one", doc, len(promised))
		}
		for _, name := range MissingTests(promised, existing) {
			t.Errorf("docs/%s names %s, which does not exist", doc, name)
		}
	}
	for _, doc := range append(promising, "operations.md") {
		if !read[doc] {
			t.Errorf("docs/%s is missing", doc)
		}
	}
}

func TestNamedPathsAreFound(t *testing.T) {
	t.Parallel()
	text := "`internal/keep/store.Store` and `connectors/<name>/`, `docs/a.md`, `pdpp run`\n  | internal/view  the road\n[a](b.md#part) [c](https://example.org/d)\n`make test`, `X=1 make check`\nmake run\nso we make sure"
	if got, want := NamedPaths(text), []string{"connectors", "docs/a.md", "internal/keep/store", "internal/view"}; !slices.Equal(got, want) {
		t.Errorf("NamedPaths = %q, want %q", got, want)
	}
	if got, want := LinkedFiles(text), []string{"b.md"}; !slices.Equal(got, want) {
		t.Errorf("LinkedFiles = %q, want %q", got, want)
	}
	if got, want := NamedTargets(text), []string{"test", "run"}; !slices.Equal(got, want) {
		t.Errorf("NamedTargets = %q, want %q", got, want)
	}
}

// TestDocumentsLeadSomewhere: what a document names or links to is there.
func TestDocumentsLeadSomewhere(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	names := documents(t)
	for _, name := range names {
		path := filepath.Join(root, filepath.FromSlash(name))
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, named := range NamedPaths(string(text)) {
			if _, err := os.Stat(filepath.Join(root, named)); err != nil {
				t.Errorf("%s names %s, which is not there", path, named)
			}
		}
		for _, target := range NamedTargets(string(text)) {
			if !strings.Contains(string(makefile), "\n"+target+":") {
				t.Errorf("%s names make %s, which is no target", path, target)
			}
		}
		for _, linked := range LinkedFiles(string(text)) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), linked)); err != nil {
				t.Errorf("%s links to %s, which is not there", path, linked)
			}
		}
	}
	if len(names) < 15 {
		t.Errorf("only %d documents were read", len(names))
	}
}

// documents returns the paths of the Markdown documents below the root, with slashes.
func documents(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md"} {
		found, err := fs.Glob(os.DirFS(root), pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	return names
}
