package view

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// derivations are the functions that make a judgement, and mayDerive the
// packages that may call them: this one, and the tool that replays judgements.
var (
	derivations = map[string]string{"github.com/pdpp-go/pdpp/internal/judge/health": "Project",
		"github.com/pdpp-go/pdpp/internal/judge/verdict": "Synthesize"}
	mayDerive = []string{"internal/view", "internal/quality/tools/judge"}
)

// No surface derives health or a verdict a second time.
func TestNobodyElseDerives(t *testing.T) {
	t.Attr("spec", "CH-01.2")
	t.Attr("spec", "CH-21")
	t.Attr("spec", "CH-29.3")
	root := filepath.Join("..", "..")
	here := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || path != root && strings.HasPrefix(d.Name(), ".") && d.Name() != ".."):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		for _, name := range usedDerivations(t, path, source) {
			if dir == "internal/view" {
				here[name] = true
			}
			if !slices.Contains(mayDerive, filepath.ToSlash(dir)) {
				t.Errorf("%s uses %s: surfaces show the verdict of package view and derive none", path, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(here) != len(derivations) {
		t.Errorf("found only %v in this package: the search does not see what it is for", here)
	}
}

func usedDerivations(t *testing.T, path string, source []byte) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{} // local name of a package -> the function
	for _, imported := range file.Imports {
		from, _ := strconv.Unquote(imported.Path.Value)
		function, watched := derivations[from]
		if !watched {
			continue
		}
		local := from[strings.LastIndexByte(from, '/')+1:]
		if imported.Name != nil {
			local = imported.Name.Name
		}
		names[local] = function
		if local == "." {
			t.Errorf("%s imports %s without a name", path, from)
		}
	}
	var used []string
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok && names[x.Name] != "" && s.Sel.Name == names[x.Name] {
			used = append(used, x.Name+"."+s.Sel.Name)
		}
		return true
	})
	return used
}

func TestDerivationsAreFound(t *testing.T) {
	source := `package console
import h "github.com/pdpp-go/pdpp/internal/judge/health"
import "github.com/pdpp-go/pdpp/internal/judge/verdict"
var judge = verdict.Synthesize
func page() { h.Project(nil, now); h.Conditions(nil, now); verdict.Check(in, v) }`
	if got := usedDerivations(t, "page.go", []byte(source)); !slices.Equal(got,
		[]string{"verdict.Synthesize", "h.Project"}) {
		t.Errorf("found %v", got)
	}
}
