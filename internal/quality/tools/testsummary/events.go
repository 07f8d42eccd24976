package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is one line of go test -json, as cmd/test2json and cmd/go describe it.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build-output and build-fail
	Test        string
	Output      string
	Elapsed     float64
	FailedBuild string
	Key, Value  string // of attr
}

// result is what became of one test or one package.
type result struct {
	name    string
	state   string // "", "pass", "fail" or "skip"; "" is still running
	elapsed float64
	output  strings.Builder
	figures []string // what the test measured, in its own words
	part    int      // the go test that runs it; of a package, the last that ended

	// Of a package only:
	build  string // import path of the failed build
	tests  []*result
	byName map[string]*result
	parts  map[int]*part
}

// part is what one go test does with a package. A package may be in several, each with some of its tests.
type part struct {
	ended  bool
	output strings.Builder
}

// summary collects the results in the order in which they began.
type summary struct {
	packages []*result
	byName   map[string]*result
	builds   map[string]*strings.Builder // compiler output by import path
	reports  map[string]bool             // builds with output that was printed with an ended package
	stray    strings.Builder             // lines that are not events
}

func newSummary() *summary {
	return &summary{byName: map[string]*result{}, builds: map[string]*strings.Builder{}, reports: map[string]bool{}}
}

// take reads one line of the go test of a number. It writes a line for every package that ends, with
// its failures: an interrupted run has shown them.
func (s *summary) take(from int, line []byte, progress io.Writer) {
	var e event
	if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &e) != nil {
		s.stray.Write(line)
		return
	}
	switch e.Action {
	case "build-output":
		if s.builds[e.ImportPath] == nil {
			s.builds[e.ImportPath] = &strings.Builder{}
		}
		s.builds[e.ImportPath].WriteString(e.Output)
		return
	case "build-fail":
		return // the package that needed the build reports it
	}
	p := s.pkg(e.Package)
	if p.parts[from] == nil {
		p.parts[from] = &part{}
	}
	target := p
	if e.Test != "" {
		target = p.test(e.Test)
	}
	target.part = from
	switch e.Action {
	case "output":
		target.output.WriteString(e.Output)
		if target == p {
			p.parts[from].output.WriteString(e.Output)
		}
	case "attr":
		if e.Key == "result" {
			target.figures = append(target.figures, e.Value)
		}
	case "pass", "fail", "skip":
		if target.state != "fail" { // one package may run in two processes, each with a part of its tests
			target.state = e.Action
		}
		target.elapsed = e.Elapsed
		if target == p {
			p.build, p.parts[from].ended = e.FailedBuild, true
			fmt.Fprintln(progress, p.line())
			if e.Action == "fail" {
				s.failures(progress, p, s.reports, func(t *result) bool { return t.part == from })
			}
		}
	}
}

// modulePath is left out of the names of packages.
const modulePath = "github.com/pdpp-go/pdpp"

func (s *summary) pkg(name string) *result {
	p := s.byName[name]
	if p == nil {
		p = &result{name: strings.TrimPrefix(name, modulePath+"/"), byName: map[string]*result{}, parts: map[int]*part{}}
		s.byName[name] = p
		s.packages = append(s.packages, p)
	}
	return p
}

func (p *result) test(name string) *result {
	t := p.byName[name]
	if t == nil {
		t = &result{name: name}
		p.byName[name] = t
		p.tests = append(p.tests, t)
	}
	return t
}

// line is the package's own line: verdict, name, time and number of tests.
func (p *result) line() string {
	switch {
	case p.state == "fail":
		return fmt.Sprintf("FAIL  %-44s %7.1fs", p.name, p.elapsed)
	case len(p.tests) == 0:
		return fmt.Sprintf("-     %-44s          no tests", p.name)
	default:
		return fmt.Sprintf("ok    %-44s %7.1fs  %d tests", p.name, p.elapsed, len(p.tests))
	}
}
