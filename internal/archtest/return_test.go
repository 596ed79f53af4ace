package archtest

import (
	"go/ast"
	"go/token"
	"testing"
)

// TestReturnsDoNotFillTheirResults reports statements such as "return v, row.Scan(&v.id)". Go does
// not specify whether v is evaluated before or after the call that fills it.
func TestReturnsDoNotFillTheirResults(t *testing.T) {
	t.Parallel()
	for _, f := range files(t) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if r, ok := n.(*ast.ReturnStmt); ok && fillsResult(r) {
				t.Errorf("%s:%d: a call in the return statement changes another result; call it in a statement before", f.name, f.set.Position(r.Pos()).Line)
			}
			return true
		})
	}
}

// fillsResult reports whether a result of r is a call that gets the address of a variable which is
// another result, or a call of a method Scan, which gets addresses in a slice.
func fillsResult(r *ast.ReturnStmt) bool {
	if len(r.Results) < 2 {
		return false
	}
	results := map[string]bool{}
	for _, e := range r.Results {
		if name := variable(e); name != "" && name != "nil" {
			results[name] = true
		}
	}
	fills := false
	for _, e := range r.Results {
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit:
				return false // it runs later
			case *ast.UnaryExpr:
				fills = fills || n.Op == token.AND && results[variable(n.X)]
			case *ast.CallExpr:
				s, ok := n.Fun.(*ast.SelectorExpr)
				fills = fills || ok && s.Sel.Name == "Scan" && len(results) > 0
			}
			return true
		})
	}
	return fills
}

// variable returns the name of the variable of which e is the value, a field or an element.
func variable(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return variable(e.X)
	case *ast.IndexExpr:
		return variable(e.X)
	case *ast.ParenExpr:
		return variable(e.X)
	}
	return ""
}
