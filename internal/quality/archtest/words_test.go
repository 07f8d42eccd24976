package archtest

import (
	"flag"
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "lower the ceilings of testdata/words.txt to the present counts")

// TestPlainWords counts the words of Vocabulary and the long lines of each package and document, and compares them
// with testdata/words.txt. Its ceilings only fall: -update lowers them and never raises one.
func TestPlainWords(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "words.txt")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	ceilings, err := ParseCeilings(string(text))
	if err != nil {
		t.Fatal(err)
	}
	found, lines := treeUsage(t)
	if *update {
		for where, allowed := range ceilings {
			for word := range allowed {
				allowed[word] = min(allowed[word], found[where][word])
			}
			if _, exists := found[where]; !exists {
				delete(ceilings, where)
			}
		}
		if err := os.WriteFile(file, []byte(FormatCeilings(ceilings)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for where, usage := range found {
		for _, finding := range CheckUsage(where, usage, lines[where], ceilings[where]) {
			t.Error(finding)
		}
	}
	for where := range ceilings {
		if _, exists := found[where]; !exists {
			t.Errorf("testdata/words.txt has a ceiling for %s, which does not exist; run with -update", where)
		}
	}
}

// treeUsage counts every package and every Markdown document of the repository.
func treeUsage(t *testing.T) (map[string]Usage, map[string]int) {
	t.Helper()
	found, lines := map[string]Usage{}, map[string]int{}
	add := func(where string, usage Usage, n int) {
		if found[where] == nil {
			found[where] = Usage{}
		}
		found[where].Add(usage)
		lines[where] += n
	}
	for _, p := range module(t) {
		for _, f := range p.Files {
			source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p.Path), f.Name))
			if err != nil {
				t.Fatal(err)
			}
			if ast.IsGenerated(f.AST) {
				continue
			}
			usage, n := GoUsage(f, string(source))
			add(p.Path, usage, n)
		}
	}
	for _, name := range documents(t) {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		usage, n := DocumentUsage(string(text))
		add(path.Clean(name), usage, n)
	}
	return found, lines
}

func TestUsageIsCounted(t *testing.T) {
	t.Parallel()
	long := "var x = `" + strings.Repeat("é", LongestLine) + "`"
	source := "package p\n\n// F tells whoever asks.\n// It stands alone.\nfunc F() {}\n\n" + long + "\nvar y = \"told\"\n"
	f, err := parseFile(token.NewFileSet(), "p.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	usage, lines := GoUsage(f, source)
	text := FormatCeilings(map[string]Usage{"p": usage})
	if want := "p alone=1 long=1 nobody=1 stands=1 tells=1\n"; text != want || lines != 2 {
		t.Errorf("%q over %d comment lines, want %q over 2", text, lines, want)
	}
	ceilings, err := ParseCeilings(text)
	if err != nil {
		t.Fatal(err)
	}
	if findings := CheckUsage("p", usage, lines, ceilings["p"]); len(findings) != 0 {
		t.Errorf("counts at their ceilings are refused: %v", findings)
	}
	usage["tells"]++
	if findings := CheckUsage("p", usage, lines, ceilings["p"]); len(findings) != 1 {
		t.Errorf("one word above its ceiling: %d findings, want 1", len(findings))
	}
	if findings := CheckUsage("p", usage, lines, nil); len(findings) != 2 {
		t.Errorf("a new package with a long line and two uses of a word: %d findings, want 2", len(findings))
	}
	if _, err := ParseCeilings("p tells=many"); err == nil {
		t.Error("a ceiling that is not a number was read")
	}
}
