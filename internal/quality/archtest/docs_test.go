package archtest

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPromisedTestsAreFound(t *testing.T) {
	promised := NamedTests("held by `TestOne`, `TestTwo` and `gone.txtar`; `TestOne` again; TestProse and `Testing` are " +
		"words")
	if want := []string{"TestOne", "TestTwo", "gone.txtar"}; !slices.Equal(promised, want) {
		t.Fatalf("NamedTests = %v, want %v", promised, want)
	}
	defined := TestFuncs("func TestOne(t *testing.T) {}\n\tfunc TestTwo(t *testing.T) {}\n// func TestThree(\n" +
		"func FuzzFour(f *testing.F) {}\n")
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
	promising := map[string]int{} // pages in which every statement has its test, with the number of tests
	for _, doc := range documents(t) {
		text := readDocument(t, doc)
		promised := NamedTests(text)
		if name := path.Base(doc); strings.HasPrefix(name, "invariants") || strings.HasPrefix(name, "faults") {
			promising[doc] = len(promised)
		}
		for _, name := range MissingTests(promised, existing) {
			t.Errorf("%s names %s, which does not exist", doc, name)
		}
	}
	for doc, tests := range promising {
		if tests < 10 {
			t.Errorf("%s names %d tests: every statement in it needs one", doc, tests)
		}
	}
	if len(promising) < 3 {
		t.Errorf("only %v name a test for every statement", promising)
	}
}

// longestPage is the number of words of the longest page that is not a reference.
const longestPage = 1500

// TestPagesAreShort checks that a page of docs answers one question: its title, an answer, and at most longestPage
// words. A page that is longer has tables that a test generates or checks, and announces itself as a reference.
func TestPagesAreShort(t *testing.T) {
	t.Parallel()
	for _, doc := range documents(t) {
		text := readDocument(t, doc)
		head, _, _ := strings.Cut(text, "\n## ")
		if words := len(strings.Fields(text)); words > longestPage && !strings.Contains(head, "\nReference") &&
			strings.HasPrefix(doc, "docs/") {
			t.Errorf("%s has %d words, at most %d are allowed", doc, words, longestPage)
		}
	}
}

// TestPagesAreListed checks that the index of docs has a line for each page.
func TestPagesAreListed(t *testing.T) {
	t.Parallel()
	const index = "docs/README.md"
	linked := LinkedFiles(readDocument(t, index))
	for _, doc := range documents(t) {
		page, inDocs := strings.CutPrefix(doc, "docs/")
		if inDocs && doc != index && !slices.Contains(linked, page) {
			t.Errorf("%s does not list %s", index, page)
		}
	}
}

func TestNamedPathsAreFound(t *testing.T) {
	t.Parallel()
	text := "`internal/storage/store.Store` and `connectors/<name>/`, `docs/a.md`, `pdpp run`\n" +
		"  | internal/view  the road\n[a](b.md#part) [c](https://example.org/d)\n`make test`, `X=1 make check`\nmake run\n" +
		"so we make sure"
	if got, want := NamedPaths(text), []string{"connectors", "docs/a.md", "internal/storage/store",
		"internal/view"}; !slices.Equal(got, want) {
		t.Errorf("NamedPaths = %q, want %q", got, want)
	}
	if got, want := LinkedFiles(text), []string{"b.md"}; !slices.Equal(got, want) {
		t.Errorf("LinkedFiles = %q, want %q", got, want)
	}
	if got, want := LinkedSections(text), [][2]string{{"b.md", "part"}}; !slices.Equal(got, want) {
		t.Errorf("LinkedSections = %q, want %q", got, want)
	}
	if got, want := Anchors("# A `b`, c?\n\n## Part"), []string{"a-b-c", "part"}; !slices.Equal(got, want) {
		t.Errorf("Anchors = %q, want %q", got, want)
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
		text := readDocument(t, name)
		for _, named := range NamedPaths(text) {
			if strings.Contains(named, "/lanternmail") {
				continue // the invented source of the tutorials
			}
			if _, err := os.Stat(filepath.Join(root, named)); err != nil {
				t.Errorf("%s names %s, which is not there", path, named)
			}
		}
		for _, target := range NamedTargets(text) {
			if !strings.Contains(string(makefile), "\n"+target+":") {
				t.Errorf("%s names make %s, which is no target", path, target)
			}
		}
		for _, link := range LinkedSections(text) {
			linked := name
			if link[0] != "" {
				linked = filepath.ToSlash(filepath.Join(filepath.Dir(name), link[0]))
			}
			if !slices.Contains(Anchors(readDocument(t, linked)), link[1]) {
				t.Errorf("%s links to the section %s of %s, which is not there", name, link[1], linked)
			}
		}
		for _, linked := range LinkedFiles(text) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), linked)); err != nil {
				t.Errorf("%s links to %s, which is not there", path, linked)
			}
		}
	}
	if len(names) < 50 {
		t.Errorf("only %d documents were read", len(names))
	}
}

// documents returns the paths of the Markdown documents of the root and below docs, with slashes.
func documents(t *testing.T) []string {
	t.Helper()
	tree := os.DirFS(root)
	names, err := fs.Glob(tree, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(tree, "docs", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(name) == ".md" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// readDocument returns the text of a document that documents lists.
func readDocument(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
