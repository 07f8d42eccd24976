package main

import (
	"go/ast"
	"go/token"
	"strings"
)

// visit plants what the operators know for one node. In generated pages only what the
// author of the page wrote is changed: conditions and parts.
func (s *search) visit(n ast.Node) bool {
	if s.generated {
		s.page(n)
		return true
	}
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Tok != token.IMPORT
	case *ast.FuncDecl:
		s.emptied(n)
	case *ast.IfStmt:
		s.negated(n.Cond)
	case *ast.BinaryExpr:
		s.operated(n)
	case *ast.BlockStmt:
		s.dropped(n.List)
	case *ast.CaseClause:
		s.dropped(n.Body)
	case *ast.SwitchStmt:
		s.cases(n.Body)
	case *ast.TypeSwitchStmt:
		s.cases(n.Body)
	case *ast.CompositeLit:
		s.unwired(n)
	case *ast.CallExpr:
		if s.logs(n) || s.complains(n) {
			return false
		}
		s.uncalled(n)
	case *ast.BasicLit:
		s.constant(n)
	case *ast.Ident:
		s.truth(n)
	}
	return true
}

// negated negates a condition. It skips a bare error check, because negating that breaks
// everything and proves nothing.
func (s *search) negated(cond ast.Expr) {
	if b, ok := cond.(*ast.BinaryExpr); ok && b.Op == token.NEQ {
		if x, ok := b.X.(*ast.Ident); ok && strings.HasSuffix(strings.ToLower(x.Name), "err") {
			return
		}
	}
	s.plant("negate", cond.Pos(), cond.End(), "!("+s.text(cond)+")")
}

var operators = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+",
}

// operated moves a boundary by one, or exchanges an operator.
func (s *search) operated(b *ast.BinaryExpr) {
	if text, ok := operators[b.Op]; ok {
		s.plant("operator", b.OpPos, b.OpPos+token.Pos(len(b.Op.String())), text)
	}
}

// dropped leaves a statement out.
func (s *search) dropped(list []ast.Stmt) {
	for _, stmt := range list {
		switch stmt := stmt.(type) {
		case *ast.ExprStmt:
			if call, ok := stmt.X.(*ast.CallExpr); ok && !s.logs(call) {
				s.plant("drop", stmt.Pos(), stmt.End(), "")
			}
		case *ast.AssignStmt:
			if stmt.Tok != token.DEFINE && s.text(stmt.Lhs[0]) != "_" {
				s.plant("drop", stmt.Pos(), stmt.End(), "")
			}
		case *ast.IncDecStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt:
			s.plant("drop", stmt.Pos(), stmt.End(), "")
		}
	}
}

// cases removes one case of a switch.
func (s *search) cases(body *ast.BlockStmt) {
	for _, stmt := range body.List {
		if c, ok := stmt.(*ast.CaseClause); ok && len(body.List) > 1 {
			s.plant("case", c.Pos(), c.End(), "")
		}
	}
}

// unwired leaves a named field, or an entry, out of a literal.
func (s *search) unwired(lit *ast.CompositeLit) {
	for i, e := range lit.Elts {
		if _, ok := e.(*ast.KeyValueExpr); !ok {
			continue
		}
		to := e.End()
		if i+1 < len(lit.Elts) {
			to = lit.Elts[i+1].Pos()
		} else if rest := s.source[s.base.Offset(to):s.base.Offset(lit.Rbrace)]; strings.HasPrefix(string(rest), ",") {
			to++
		}
		s.plant("unwire", e.Pos(), to, "")
	}
}

// uncalled hands nil over in place of a function.
func (s *search) uncalled(call *ast.CallExpr) {
	for _, a := range call.Args {
		if f, ok := a.(*ast.FuncLit); ok {
			s.plant("callback", f.Pos(), f.End(), "nil")
		}
	}
}

// constant makes a number nothing, and nothing a number.
func (s *search) constant(l *ast.BasicLit) {
	if l.Kind != token.INT && l.Kind != token.FLOAT {
		return
	}
	text := "0"
	if l.Value == "0" {
		text = "1"
	}
	s.plant("constant", l.Pos(), l.End(), text)
}

func (s *search) truth(n *ast.Ident) {
	switch n.Name {
	case "true":
		s.plant("truth", n.Pos(), n.End(), "false")
	case "false":
		s.plant("truth", n.Pos(), n.End(), "true")
	}
}

// emptied lets a function that can fail do nothing and report success.
func (s *search) emptied(fn *ast.FuncDecl) {
	if fn.Body == nil || fn.Type.Results == nil || len(fn.Body.List) == 0 {
		return
	}
	var values []string
	for _, f := range fn.Type.Results.List {
		for range max(1, len(f.Names)) {
			values = append(values, "*new("+s.text(f.Type)+")")
		}
	}
	if values[len(values)-1] != "*new(error)" {
		return
	}
	at := fn.Body.List[0].Pos()
	s.plant("nothing", at, at, "return "+strings.Join(values, ", ")+"; ")
}

// logs reports whether a call only writes a log line.
func (s *search) logs(call *ast.CallExpr) bool {
	callee := strings.ToLower(s.text(call.Fun))
	return strings.Contains(callee, "log.") || strings.Contains(callee, "logger.")
}

// complains reports whether a call makes the text of an error.
func (s *search) complains(call *ast.CallExpr) bool {
	callee := s.text(call.Fun)
	return callee == "fmt.Errorf" || callee == "errors.New"
}

// page turns round what a page shows only sometimes, and leaves out one of its parts.
func (s *search) page(n ast.Node) {
	const own = "templ_7745c5c3_"
	switch n := n.(type) {
	case *ast.IfStmt:
		if cond := s.text(n.Cond); n.Init == nil && !strings.Contains(cond, own) {
			s.plant("negate", n.Cond.Pos(), n.Cond.End(), "!("+cond+")")
		}
	case *ast.AssignStmt:
		if len(n.Rhs) != 1 {
			return
		}
		call, ok := n.Rhs[0].(*ast.CallExpr)
		if !ok {
			return
		}
		if part := s.text(call.Fun); strings.HasSuffix(part, ").Render") && !strings.Contains(part, own) {
			s.plant("part", call.Pos(), call.End(), "error(nil)")
		}
	}
}
