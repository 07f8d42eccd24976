// Package archtest tests the structure of this repository: allowed imports, pure packages, where
// configuration is read, package comments, and a complete connector list.
//
// Every checker is a function over parsed packages. The same code checks the module on disk and
// the small violating packages in its own tests. A finding names the package, the violation, and
// the reason for the rule.
package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"strconv"
	"strings"
)

// modulePath is the module's import path: the prefix of every import of our own.
const modulePath = "github.com/pdpp-go/pdpp"

// Package is one package of the module, parsed.
type Package struct {
	Path  string // import path below the module: "internal/judge/health"
	Name  string // package name: "health", or "main"
	Fset  *token.FileSet
	Files []File
}

// File is one Go source file of a package.
type File struct {
	Name string // base name: "health.go"
	Test bool   // its name ends in _test.go
	AST  *ast.File
}

// Finding is one broken rule.
type Finding struct {
	Where   string // package or file, with the line when there is one
	Offence string // what was found there
	Reason  string // why it is not allowed, or how to fix it
}

func (f Finding) String() string {
	return fmt.Sprintf("%s: %s\n\treason: %s", f.Where, f.Offence, f.Reason)
}

// code returns the files that are compiled into the package itself.
func (p Package) code() []File {
	var out []File
	for _, f := range p.Files {
		if !f.Test {
			out = append(out, f)
		}
	}
	return out
}

// at names a position as "internal/judge/health/health.go:12".
func (p Package) at(f File, pos token.Pos) string {
	where := path.Join(p.Path, f.Name)
	if line := p.Fset.Position(pos).Line; line > 0 {
		where += ":" + strconv.Itoa(line)
	}
	return where
}

// importPath returns the path an import names, without its quotes.
func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return p
}

// eachUse calls visit for every mention of an exported name of the imported
// package: calls, values and types alike, whatever name the import has. A dot
// import hides its uses, so it is reported as one use of the name ".".
func eachUse(f File, imported string, visit func(name string, node ast.Node)) {
	for _, spec := range f.AST.Imports {
		if importPath(spec) != imported {
			continue
		}
		local := path.Base(imported)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if local == "." {
			visit(".", spec)
			continue
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if id, ok := sel.X.(*ast.Ident); ok && id.Name == local {
					visit(sel.Sel.Name, sel)
				}
			}
			return true
		})
	}
}

// matches reports whether a package path matches a pattern. "a/b" matches only that package, "a/*"
// its direct children, and "a/..." the package and everything below it.
func matches(pattern, pkg string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == base || strings.HasPrefix(pkg, base+"/")
	}
	if base, ok := strings.CutSuffix(pattern, "/*"); ok {
		rest, below := strings.CutPrefix(pkg, base+"/")
		return below && rest != "" && !strings.Contains(rest, "/")
	}
	return pattern == pkg
}

func matchesAny(patterns []string, pkg string) bool {
	for _, pattern := range patterns {
		if matches(pattern, pkg) {
			return true
		}
	}
	return false
}
