package main

import (
	"go/parser"
	"go/token"
	"testing"
)

// Everything that runs beside something else is seen.
func TestConcurrentCodeIsSeen(t *testing.T) {
	for source, want := range map[string]bool{
		`func f() { go g() }`:                       true,
		`func f() { defer func() { go g() }() }`:    true,
		`func f(c chan int) {}`:                     true,
		`func f() { var c <-chan int; _ = c }`:      true,
		`func f() { c <- 1 }`:                       true,
		`func f() int { return <-c }`:               true,
		`func f() { select {} }`:                    true,
		`func f(t *testing.T) { t.Parallel() }`:     true,
		`func f(b *testing.B) { b.RunParallel(g) }`: true,
		`func f() { all.Go(g) }`:                    true,
		`func f() { time.AfterFunc(1, g) }`:         true,
		`var stop = context.AfterFunc`:              true,
		`func f() { next, stop := iter.Pull(all) }`: true,
		`import "C"`: true,
		`func f() { println("go func() {}") } // go f()`:     false,
		`func f() { for i := range 3 { defer println(i) } }`: false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := concurrent(file); got != want {
			t.Errorf("%s: %v", source, got)
		}
	}
}

func TestImports(t *testing.T) {
	for path, want := range map[string]bool{
		"sync": true, "sync/atomic": true, "net/http": true, "net/http/httptest": true, "net": true, "os/exec": true,
		"database/sql": true, "testing/synctest": true,
		"modernc.org/sqlite": true, "golang.org/x/sync/errgroup": true, "github.com/go-json-experiment/jsonother": true,
		"net/url": false, "strings": false, modulePath + "/governor": false,
		"github.com/go-json-experiment/json/jsontext": false, "pgregory.net/rapid": false,
	} {
		if got := runsBeside(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// TestRaces: a package that imports something that races, races.
func TestRaces(t *testing.T) {
	all, err := list([]string{whole})
	if err != nil {
		t.Fatal(err)
	}
	m := module{}
	for _, p := range all {
		m[p.ImportPath] = p
	}
	for path, want := range map[string]bool{
		"github.com/pdpp-go/pdpp/internal/serve": true, "github.com/pdpp-go/pdpp/internal/schedule/scheduler": true,
		"github.com/pdpp-go/pdpp/internal/quality/tools/judge": true, // has nothing of its own
		"github.com/pdpp-go/pdpp/internal/view":                false,
		"github.com/pdpp-go/pdpp/internal/judge/verdict":       false,
	} {
		if races, err := m.races(path); races != want || err != nil {
			t.Errorf("%s: races %v, %v", path, races, err)
		}
	}
}
