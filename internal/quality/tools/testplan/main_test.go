package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEveryPackageIsInOneList compares the lists with the packages of this module.
func TestEveryPackageIsInOneList(t *testing.T) {
	lists, pattern, err := plan([]string{whole})
	if err != nil {
		t.Fatal(err)
	}
	all, err := list([]string{whole})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		n := 0
		for _, name := range []string{"raced", "plain", "servers"} {
			if slices.Contains(lists[name], p.ImportPath) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s is in %d lists, want 1", p.ImportPath, n)
		}
	}
	for name, path := range map[string]string{
		"raced": modulePath + "/internal/serve", "plain": modulePath + "/internal/quality/crashtest",
		"servers": modulePath + "/connectors/imap",
		"unraced": modulePath + "/internal/storage/store/sqlite",
	} {
		if !slices.Contains(lists[name], path) {
			t.Errorf("%s is not in the list %s", path, name)
		}
	}
	for _, p := range lists["unraced"] {
		if !slices.Contains(lists["raced"], p) {
			t.Errorf("%s runs unraced tests, its others do not run", p)
		}
	}
	if !strings.HasPrefix(pattern, "^Test") || !strings.Contains(pattern, "|^TestStore$/^(") {
		t.Errorf("pattern %s", pattern)
	}
}

func TestDirectives(t *testing.T) {
	t.Parallel()
	read := func(source string) (tiers, *listed, error) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "x_test.go"), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		p := &listed{ImportPath: modulePath + "/x", Dir: dir, TestGoFiles: []string{"x_test.go"}}
		found := tiers{packages: map[string]string{}, tests: map[string]bool{}}
		return found, p, found.read(p)
	}
	found, p, err := read(`//pdpp:tier servers

package x

// TestOne computes.
//
//pdpp:tier unraced
func TestOne(t *testing.T) {}

//pdpp:tier unraced TestAll/Part
func testPart(t *testing.T) {}

//pdpp:tier unraced TestAll/Model
func testModel(t *testing.T) {}

func TestAll(t *testing.T) {}
`)
	if err != nil || found.packages[modulePath+"/x"] != "servers" ||
		!slices.Equal(p.tests, []string{"TestOne", "TestAll"}) {
		t.Errorf("%v %v %v", found, p.tests, err)
	}
	if want := "^TestOne$|^TestAll$/^(Model|Part)$"; found.pattern() != want {
		t.Errorf("pattern %s, want %s", found.pattern(), want)
	}
	if !found.unraced("TestAll") || found.unraced("TestA") {
		t.Error("a test with unraced parts is not found, or another one is")
	}
	for _, wrong := range []string{
		"package x\n\n//pdpp:tier unraced\nfunc helper() {}\n",
		"package x\n\n//pdpp:tier programs\nfunc TestOne(t *testing.T) {}\n",
		"//pdpp:tier slow\n\npackage x\n",
		"package x\n\nfunc TestOne(t *testing.T) {\n\t//pdpp:tier unraced\n}\n",
	} {
		if _, _, err := read(wrong); err == nil {
			t.Errorf("accepted: %s", wrong)
		}
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	first, twins := apart([]string{"a/x", "a/y", "b/x", "c/x"})
	if !slices.Equal(first, []string{"a/x", "a/y"}) || !slices.Equal(twins, []string{"b/x", "c/x"}) {
		t.Errorf("%v %v", first, twins)
	}
	file := filepath.Join(t.TempDir(), "last.json")
	text := `{"Action":"pass","Package":"p","Test":"T","Elapsed":9}
{"Action":"pass","Package":"p","Elapsed":1.5}
{"Action":"pass","Package":"p","Elapsed":0.5}
not JSON
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	durations, err := readDurations(file)
	if err != nil || len(durations) != 1 || durations["p"] != 1500 {
		t.Errorf("%v %v", durations, err)
	}
	if durations, err = readDurations(file + ".gone"); err != nil || len(durations) != 0 {
		t.Errorf("without a file: %v %v", durations, err)
	}
}
