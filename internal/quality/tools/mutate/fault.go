package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// fault is one change of one file.
type fault struct {
	File     string // from the module's root
	Line     int
	Func     string // the function around it; empty at the top of the file
	Operator string
	Old, New string
	from, to int // bytes of the file
	ID       string
}

func (f fault) String() string {
	return fmt.Sprintf("%s:%d %s: %s", f.File, f.Line, f.Operator, f.change())
}

// change shows the fault on one line.
func (f fault) change() string {
	one := func(s string) string {
		s = strings.Join(strings.Fields(s), " ")
		if len(s) > 90 {
			s = s[:87] + "..."
		}
		return s
	}
	if f.New == "" {
		return "without `" + one(f.Old) + "`"
	}
	return "`" + one(f.Old) + "` -> `" + one(f.New) + "`"
}

// apply returns the source with the fault.
func (f fault) apply(source []byte) []byte {
	return slices.Concat(source[:f.from], []byte(f.New), source[f.to:])
}

// findAll returns every fault that the operators know for the packages in dirs. Files of other
// operating systems have none, because no test here could notice one.
func findAll(dirs []string) ([]fault, error) {
	var out []fault
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if built, err := build.Default.MatchFile(dir, filepath.Base(file)); err != nil {
				return nil, err
			} else if !built || strings.HasSuffix(file, "_test.go") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			found, err := find(file, source)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
	}
	return out, nil
}

// find returns the faults of one file.
func find(file string, source []byte) ([]fault, error) {
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := &search{file: file, source: source, base: set.File(tree.FileStart), generated: ast.IsGenerated(tree),
		seen: map[string]int{}}
	for _, d := range tree.Decls {
		s.within = ""
		if fn, ok := d.(*ast.FuncDecl); ok {
			s.within = funcName(fn)
		}
		ast.Inspect(d, s.visit)
	}
	return s.found, nil
}

func funcName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	if p, ok := t.(*ast.StarExpr); ok {
		t = p.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}

// search collects the faults of a file.
type search struct {
	file      string
	source    []byte
	base      *token.File
	generated bool
	within    string
	found     []fault
	seen      map[string]int
}

// plant records a fault that replaces the text between two positions. Its id depends on the code
// at the position, not on the line. A counter distinguishes equal positions of one function.
func (s *search) plant(operator string, from, to token.Pos, text string) {
	f := fault{
		File: filepath.ToSlash(s.file), Line: s.base.Line(from), Func: s.within, Operator: operator,
		from: s.base.Offset(from), to: s.base.Offset(to), New: text,
	}
	f.Old = string(s.source[f.from:f.to])
	key := strings.Join([]string{f.File, f.Func, f.Operator, strings.Join(strings.Fields(f.Old), " "), f.New}, "\x00")
	s.seen[key]++
	sum := sha256.Sum256([]byte(key + "\x00" + strconv.Itoa(s.seen[key])))
	f.ID = hex.EncodeToString(sum[:6])
	s.found = append(s.found, f)
}

func (s *search) text(n ast.Node) string {
	return string(s.source[s.base.Offset(n.Pos()):s.base.Offset(n.End())])
}
