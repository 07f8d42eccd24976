// Testplan decides how each test of this module runs and writes one list of packages per go test command.
//
//	testplan [-last FILE] FOLDER [package...]
//
// The lists in FOLDER, one import path per line:
//
//	raced     with the race detector, without the tests of unraced.run
//	plain     without it: whole programs, and packages with nothing that runs concurrently
//	servers   as plain, for packages that first need servers to be installed
//	unraced   packages with tests of unraced.run, which run without the race detector
//
// unraced.run is the regular expression of these tests, for -run and -skip. A list with packages that share the last
// part of their names is split: go test keeps no two binaries of one name in one folder. The second list has
// the name with "-twins".
//
// A test's tier is written where the test is, as a directive:
//
//	//pdpp:tier programs            before "package": the package starts programs, which the detector cannot see
//	//pdpp:tier servers             before "package": as programs, and it needs servers that take long to install
//	//pdpp:tier unraced             above a test that computes in one goroutine
//	//pdpp:tier unraced TestX/Part  above a function that is a part of TestX in other packages
//
// Packages are ordered by how long they took in FILE, the output of the last go test -json, longest first.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	last := flag.String("last", "", "order packages by their durations in this output of go test -json")
	flag.Parse()
	if err := run(flag.Arg(0), *last, flag.Args()[min(1, flag.NArg()):]); err != nil {
		fmt.Fprintln(os.Stderr, "testplan:", err)
		os.Exit(1)
	}
}

func run(folder, last string, patterns []string) error {
	lists, unraced, err := plan(patterns)
	if err != nil {
		return err
	}
	durations, err := readDurations(last)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, packages := range lists {
		slices.SortStableFunc(packages, func(a, b string) int { return int(durations[b] - durations[a]) })
		for len(packages) > 0 {
			var twins []string
			packages, twins = apart(packages)
			text := strings.Join(packages, "\n") + "\n"
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				return err
			}
			name, packages = name+"-twins", twins
		}
	}
	return os.WriteFile(filepath.Join(folder, "unraced.run"), []byte(unraced+"\n"), 0o600)
}

// plan returns the packages of each list, and the pattern of the tests that run without the race detector.
func plan(patterns []string) (lists map[string][]string, unraced string, err error) {
	all, err := list([]string{whole})
	if err != nil {
		return nil, "", err
	}
	wanted, err := list(patterns)
	if err != nil {
		return nil, "", err
	}
	m, t := module{}, tiers{packages: map[string]string{}, tests: map[string]bool{}}
	for _, p := range all {
		m[p.ImportPath] = p
		if err := t.read(p); err != nil {
			return nil, "", err
		}
	}
	lists = map[string][]string{}
	for _, p := range wanted {
		races, err := m.races(p.ImportPath)
		if err != nil {
			return nil, "", err
		}
		switch tier := t.packages[p.ImportPath]; {
		case tier == "servers":
			lists["servers"] = append(lists["servers"], p.ImportPath)
		case tier == "programs" || !races:
			lists["plain"] = append(lists["plain"], p.ImportPath)
		default:
			lists["raced"] = append(lists["raced"], p.ImportPath)
			if slices.ContainsFunc(m[p.ImportPath].tests, t.unraced) {
				lists["unraced"] = append(lists["unraced"], p.ImportPath)
			}
		}
	}
	return lists, t.pattern(), nil
}

// apart moves packages that have the last name of an earlier one into twins.
func apart(packages []string) (first, twins []string) {
	seen := map[string]bool{}
	for _, p := range packages {
		if seen[path.Base(p)] {
			twins = append(twins, p)
		} else {
			first = append(first, p)
		}
		seen[path.Base(p)] = true
	}
	return first, twins
}

// readDurations returns the longest time of each package in an output of go test -json, in milliseconds. A file that
// does not exist has none.
func readDurations(file string) (map[string]int64, error) {
	durations := map[string]int64{}
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return durations, nil
	}
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var event struct {
			Package, Test string
			Elapsed       float64
		}
		if json.Unmarshal(line, &event) == nil && event.Test == "" {
			durations[event.Package] = max(durations[event.Package], int64(event.Elapsed*1000))
		}
	}
	return durations, nil
}

// modulePath is the prefix of the packages of this module, whole the pattern of all of them.
const (
	modulePath = "github.com/pdpp-go/pdpp"
	whole      = modulePath + "/..."
)

// list asks go for packages.
func list(patterns []string) (found []*listed, err error) {
	var failed bytes.Buffer
	cmd := exec.Command("go", append([]string{"list",
		"-json=ImportPath,Dir,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports"}, patterns...)...)
	cmd.Stderr = &failed
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w: %s", err, failed.Bytes())
	}
	for in := json.NewDecoder(bytes.NewReader(text)); ; {
		p := &listed{}
		if err := in.Decode(p); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the list of packages: %w", err)
		}
		found = append(found, p)
	}
}

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir                    string
	GoFiles, CgoFiles                  []string
	TestGoFiles, XTestGoFiles          []string
	Imports, TestImports, XTestImports []string

	code  func() (bool, error) // reports whether it is concurrent without its tests; computed once
	tests []string             // its test functions; filled by tiers.read
}

func (p *listed) paths(files ...[]string) (all []string) {
	for _, names := range files {
		for _, name := range names {
			all = append(all, filepath.Join(p.Dir, name))
		}
	}
	return all
}
