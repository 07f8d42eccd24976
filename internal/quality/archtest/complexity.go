package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
)

// MaxComplexity is how many independent paths a function may have.
const MaxComplexity = 30

// CheckComplexity finds functions with too many branches. Function literals count with the function around them.
func CheckComplexity(packages []Package) []Finding {
	var out []Finding
	for _, p := range packages {
		if matchesAny(testSupport, p.Path) {
			continue
		}
		for _, f := range p.code() {
			if ast.IsGenerated(f.AST) {
				continue
			}
			for _, decl := range f.AST.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if n := cyclomaticComplexity(fn); n > MaxComplexity {
					out = append(out, Finding{Where: p.at(f, fn.Pos()),
						Offence: fmt.Sprintf("%s has %d paths, at most %d are allowed", fn.Name.Name, n, MaxComplexity),
						Reason:  "a reader has to hold every path at once: give a part of them a name"})
				}
			}
		}
	}
	return out
}

// cyclomaticComplexity returns one more than the number of branches of a function.
func cyclomaticComplexity(fn *ast.FuncDecl) int {
	n := 1
	ast.Inspect(fn, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
