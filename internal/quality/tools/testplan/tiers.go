package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// directive begins the comment that names a tier.
const directive = "//pdpp:tier "

// tiers collects the directives of the module.
type tiers struct {
	packages map[string]string // tier of an import path: programs or servers
	tests    map[string]bool   // "TestX" or "TestX/Part", which run without the race detector
}

// read adds the directives of a package and fills its list of test functions. A directive in an unknown form, or
// in a place where it has no effect, is an error.
func (t *tiers) read(p *listed) error {
	for _, file := range p.paths(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		above := map[*ast.CommentGroup]*ast.FuncDecl{}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				above[f.Doc] = f
				if f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
					p.tests = append(p.tests, f.Name.Name)
				}
			}
		}
		for _, group := range parsed.Comments {
			for _, comment := range group.List {
				tier, ok := strings.CutPrefix(comment.Text, directive)
				if !ok {
					continue
				}
				if err := t.add(p, strings.Fields(tier), group.End() < parsed.Package, above[group]); err != nil {
					return fmt.Errorf("%s: %s: %w", file, comment.Text, err)
				}
			}
		}
	}
	return nil
}

func (t *tiers) add(p *listed, words []string, ofPackage bool, f *ast.FuncDecl) error {
	switch {
	case ofPackage && len(words) == 1 && (words[0] == "programs" || words[0] == "servers"):
		t.packages[p.ImportPath] = words[0]
	case f != nil && len(words) == 1 && words[0] == "unraced" && strings.HasPrefix(f.Name.Name, "Test"):
		t.tests[f.Name.Name] = true
	case f != nil && len(words) == 2 && words[0] == "unraced" && strings.Count(words[1], "/") == 1:
		t.tests[words[1]] = true
	default:
		return fmt.Errorf("not a directive of this form here")
	}
	return nil
}

// unraced reports whether a test function, or a part of it, runs without the race detector.
func (t *tiers) unraced(name string) bool {
	for test := range t.tests {
		if whole, _, _ := strings.Cut(test, "/"); whole == name {
			return true
		}
	}
	return false
}

// pattern returns the expression that -run and -skip take. The parts of one test are one alternative, and come last:
// go test stops at the first alternative that fits the beginning of a name.
func (t *tiers) pattern() string {
	var tests, parts []string
	byTest := map[string][]string{}
	for _, test := range slices.Sorted(maps.Keys(t.tests)) {
		if whole, part, ok := strings.Cut(test, "/"); ok {
			byTest[whole] = append(byTest[whole], part)
		} else {
			tests = append(tests, "^"+test+"$")
		}
	}
	for _, whole := range slices.Sorted(maps.Keys(byTest)) {
		parts = append(parts, "^"+whole+"$/^("+strings.Join(byTest[whole], "|")+")$")
	}
	return strings.Join(append(tests, parts...), "|")
}
