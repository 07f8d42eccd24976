package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// beside are imports that run something beside their caller, or are there for those who
// do. A slash at the end means everything below.
var beside = []string{
	"sync", "testing/synctest", "net/", "os/exec", "os/signal", "database/sql",
}

// libraries do nothing beside their caller; all others are taken to.
var libraries = []string{
	"github.com/go-json-experiment/json", "github.com/santhosh-tekuri/jsonschema/v6", "pgregory.net/rapid",
	"github.com/google/go-cmp", "golang.org/x/text/",
}

// harmless are packages below those of beside that only compute.
var harmless = []string{"net/url", "net/netip", "net/textproto"}

// calls are names of functions and methods that start concurrent work, in any package.
var calls = []string{"Go", "Parallel", "RunParallel", "AfterFunc", "SetFinalizer", "AddCleanup", "Pull", "Pull2"}

// module is the packages of this module by their import paths.
type module map[string]*listed

// races reports whether the tests of a package can race.
func (m module) races(path string) (bool, error) {
	p := m[path]
	if p == nil {
		return false, fmt.Errorf("%s is no package of this module", path)
	}
	if bad, err := p.concurrent(p.paths(p.GoFiles, p.CgoFiles, p.TestGoFiles, p.XTestGoFiles), p.Imports, p.TestImports,
		p.XTestImports); bad || err != nil {
		return bad, err
	}
	seen := map[string]bool{path: true}
	for next := slices.Concat(p.Imports, p.TestImports, p.XTestImports); len(next) > 0; {
		q := m[next[0]]
		next = next[1:]
		if q == nil || seen[q.ImportPath] {
			continue
		}
		seen[q.ImportPath] = true
		if q.code == nil {
			q.code = sync.OnceValues(func() (bool, error) { return q.concurrent(q.paths(q.GoFiles, q.CgoFiles), q.Imports) })
		}
		if bad, err := q.code(); bad || err != nil {
			return bad, err
		}
		next = append(next, q.Imports...)
	}
	return false, nil
}

// concurrent reports whether the files, or their imports from other modules, start concurrent
// work.
func (p *listed) concurrent(files []string, imports ...[]string) (bool, error) {
	if len(p.CgoFiles) > 0 || slices.ContainsFunc(slices.Concat(imports...), runsBeside) {
		return true, nil
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return false, fmt.Errorf("read %s: %w", file, err)
		}
		if concurrent(parsed) {
			return true, nil
		}
	}
	return false, nil
}

func runsBeside(path string) bool {
	within := func(list []string) bool {
		return slices.ContainsFunc(list, func(one string) bool {
			return path == strings.TrimSuffix(one, "/") || strings.HasPrefix(path, strings.TrimSuffix(one, "/")+"/")
		})
	}
	first, _, _ := strings.Cut(path, "/")
	switch {
	case strings.HasPrefix(path, modulePath+"/"), within(harmless):
		return false
	case strings.Contains(first, "."):
		return !within(libraries)
	}
	return within(beside)
}

func concurrent(file *ast.File) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.ChanType, *ast.SendStmt, *ast.SelectStmt:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.SelectorExpr:
			found = found || slices.Contains(calls, n.Sel.Name)
		case *ast.ImportSpec:
			if path, err := strconv.Unquote(n.Path.Value); err != nil || path == "C" || path == "unsafe" {
				found = true
			}
		}
		return !found
	})
	return found
}
