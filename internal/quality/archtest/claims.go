package archtest

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const whyClaims = "docs/understand/specification.md lists the tests of each statement, which are found in the sources"

// A statement of the specification is named by its part, its number, and the
// number of the scenario.
const statementName = `(?:RT|CH|PB|RC)-A?\d{2}(?:\.\d+)?`

var (
	statement      = regexp.MustCompile(`^` + statementName + `$`)
	citedStatement = regexp.MustCompile(`\b` + statementName + `\b`)
)

// Claim is a function's word that it proves a statement of the specification.
type Claim struct {
	Statement string
	Package   string // its folder in the module
	Function  string
}

// Claims returns every t.Attr("spec", ...) of the module in root. If the value is a variable, the
// claimed names are the literals in the same function. If the function receives the names, they
// are its callers' literals. Files in testdata that are named after statements count too.
func Claims(root string, packages []Package) (claims []Claim, found []Finding) {
	for _, p := range packages {
		c := claimant{root: root, pkg: p, handed: map[string]bool{}}
		c.each(c.own)
		c.each(c.throughHelpers)
		claims, found = append(claims, c.claims...), append(found, c.found...)
	}
	slices.SortFunc(claims, func(a, b Claim) int {
		return slices.Compare([]string{a.Statement, a.Package, a.Function}, []string{b.Statement, b.Package, b.Function})
	})
	return slices.Compact(claims), found
}

// claimant reads the claims of one package.
type claimant struct {
	root   string
	pkg    Package
	handed map[string]bool // functions that claim what they are handed
	claims []Claim
	found  []Finding
}

func (c *claimant) each(read func(File, *ast.FuncDecl)) {
	for _, f := range c.pkg.Files {
		for _, d := range f.AST.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				read(f, fn)
			}
		}
	}
}

func (c *claimant) add(fn *ast.FuncDecl, statements []string) {
	for _, s := range statements {
		c.claims = append(c.claims, Claim{Statement: s, Package: c.pkg.Path, Function: fn.Name.Name})
	}
}

func (c *claimant) own(f File, fn *ast.FuncDecl) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !attrOfSpec(call) {
			return true
		}
		switch named := texts(call.Args[1]); {
		case len(named) > 0:
			c.add(fn, named)
		case len(statementsIn(fn.Body)) > 0:
			c.add(fn, statementsIn(fn.Body))
		case takesTexts(fn):
			c.handed[fn.Name.Name] = true
		case len(c.files(fn.Body)) > 0:
			c.add(fn, c.files(fn.Body))
		default:
			c.found = append(c.found, Finding{c.pkg.at(f, call.Pos()), "claims a statement that its source does not name",
				whyClaims})
		}
		return true
	})
}

func (c *claimant) throughHelpers(_ File, fn *ast.FuncDecl) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if helper, ok := call.Fun.(*ast.Ident); ok && c.handed[helper.Name] {
				c.add(fn, statementsIn(call))
			}
		}
		return true
	})
}

// files returns the statements that name the files of a testdata pattern.
func (c *claimant) files(body ast.Node) (out []string) {
	for _, pattern := range texts(body) {
		if !strings.HasPrefix(pattern, "testdata/") || !strings.Contains(pattern, "*") {
			continue
		}
		paths, _ := filepath.Glob(filepath.Join(c.root, c.pkg.Path, pattern)) // a bad pattern matches nothing
		for _, path := range paths {
			if name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)); statement.MatchString(name) {
				out = append(out, name)
			}
		}
	}
	return out
}

func attrOfSpec(call *ast.CallExpr) bool {
	fn, ok := call.Fun.(*ast.SelectorExpr)
	return ok && fn.Sel.Name == "Attr" && len(call.Args) == 2 && slices.Equal(texts(call.Args[0]), []string{"spec"})
}

// takesTexts reports whether the function has a parameter of many strings.
func takesTexts(fn *ast.FuncDecl) bool {
	return slices.ContainsFunc(fn.Type.Params.List, func(p *ast.Field) bool {
		many, ok := p.Type.(*ast.Ellipsis)
		return ok && ast.Unparen(many.Elt).(*ast.Ident).Name == "string"
	})
}

func statementsIn(n ast.Node) []string {
	return slices.DeleteFunc(texts(n), func(s string) bool { return !statement.MatchString(s) })
}

// texts lists the string literals below a node.
func texts(n ast.Node) (out []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				out = append(out, s)
			}
		}
		return true
	})
	return out
}
