package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// variable is the environment variable with the number of the mutant.
const variable = "VIGIL_MUTANT"

// switchSource is a file that is added to a mutated package, without the package clause.
const switchSource = `

import (
	"os"
	"reflect"
	"strconv"
)

// theMutant is the number of the mutant that runs, 0 for the original code.
var theMutant, _ = strconv.Atoi(os.Getenv("` + variable + `"))

// withoutCase returns the value of a case, or one that nothing equals if the case is removed.
func withoutCase[T any](number int, value T) T {
	if theMutant == number {
		switch v := reflect.ValueOf(&value).Elem(); v.Kind() {
		case reflect.String:
			v.SetString("\x00 no such value")
		case reflect.Uint8:
			v.SetUint(250)
		default:
			v.SetInt(-1 << 40)
		}
	}
	return value
}
`

// A mutant is one change to the code of a package.
type mutant struct {
	number   int
	position string
	change   string
}

// A mutatedFile is a source file that contains all its mutants.
type mutatedFile struct {
	pkg     string
	text    []byte
	mutants []mutant
}

// swapped are the operators that mutants replace, and their replacement.
var swapped = map[token.Token]token.Token{
	token.LAND: token.LOR, token.LOR: token.LAND, token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
}

// mutate returns a file with its mutants, numbered from first.
func mutate(name string, text []byte, first int) (mutatedFile, error) {
	m := mutator{files: token.NewFileSet(), text: text, next: first, changes: map[ast.Expr][]change{}}
	file, err := parser.ParseFile(m.files, name, text, 0)
	if err != nil {
		return mutatedFile{}, err
	}
	ast.Inspect(file, m.find)
	out := m.render(0, len(text))
	return mutatedFile{file.Name.Name, []byte(out), m.mutants}, nil
}

// A change is a replacement of an expression in one mutant. Without a text, the
// expression is the value of a case that the mutant removes.
type change struct {
	number int
	text   string
}

type mutator struct {
	files   *token.FileSet
	text    []byte
	next    int
	mutants []mutant
	order   []ast.Expr // changed expressions in the order of Inspect: outer before inner
	changes map[ast.Expr][]change
}

// find collects the mutants of a node.
func (m *mutator) find(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		m.negate(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			m.negate(n.Cond)
		}
	case *ast.SwitchStmt:
		for _, clause := range n.Body.List {
			for _, e := range clause.(*ast.CaseClause).List {
				if n.Tag == nil {
					m.negate(e)
				} else {
					m.add(e, "", "the case "+m.source(e)+" is removed")
				}
			}
		}
	case *ast.CallExpr:
		// predicate.Of(condition, reason) decides as a branch does.
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Of" && len(n.Args) == 2 {
			if name, ok := n.Args[0].(*ast.Ident); !ok || name.Name != "true" && name.Name != "false" {
				m.negate(n.Args[0])
			}
		}
	case *ast.BinaryExpr:
		if to, ok := swapped[n.Op]; ok {
			m.add(n, "("+m.source(n.X)+") "+to.String()+" ("+m.source(n.Y)+")", n.Op.String()+" is "+to.String())
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			m.add(n, m.source(n.X), "! is removed")
		}
	}
	return true
}

// negate adds the mutant that negates a condition. It adds none if find adds the same
// mutant for the operator of the condition: without !, or with == and != swapped.
func (m *mutator) negate(e ast.Expr) {
	switch n := e.(type) {
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			return
		}
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			return
		}
	}
	m.add(e, "!("+m.source(e)+")", "the condition is negated")
}

func (m *mutator) add(e ast.Expr, text, what string) {
	if m.changes[e] == nil {
		m.order = append(m.order, e)
	}
	m.changes[e] = append(m.changes[e], change{m.next, text})
	at := m.files.Position(e.Pos())
	m.mutants = append(m.mutants, mutant{m.next, fmt.Sprintf("%s:%d", at.Filename, at.Line), what + ": " + m.source(e)})
	m.next++
}

func (m *mutator) offset(p token.Pos) int { return m.files.Position(p).Offset }

// source returns the original text of an expression.
func (m *mutator) source(e ast.Expr) string {
	return string(m.text[m.offset(e.Pos()):m.offset(e.End())])
}

// render returns the text from one offset to another, in which every changed
// expression is a call of a function literal that selects the mutant.
func (m *mutator) render(from, to int) string {
	var out strings.Builder
	for from < to {
		i := slices.IndexFunc(m.order, func(e ast.Expr) bool { return m.offset(e.Pos()) >= from && m.offset(e.End()) <= to })
		if i < 0 {
			break
		}
		// The first in the order of the text; of those, the outermost.
		for j, e := range m.order {
			if start, best := m.offset(e.Pos()), m.offset(m.order[i].Pos()); start >= from && m.offset(e.End()) <= to &&
				(start < best || start == best && e.End() > m.order[i].End()) {
				i = j
			}
		}
		e := m.order[i]
		m.order = slices.Delete(m.order, i, i+1)
		out.Write(m.text[from:m.offset(e.Pos())])
		inner := m.render(m.offset(e.Pos()), m.offset(e.End()))
		out.WriteString(m.choose(m.changes[e], inner))
		from = m.offset(e.End())
	}
	out.Write(m.text[from:to])
	return out.String()
}

// choose returns an expression that has the value of the mutant that runs.
func (m *mutator) choose(changes []change, original string) string {
	if changes[0].text == "" {
		kind := ""
		if original[0] == '\'' {
			kind = "[byte]" // characters in cases of the predicates are bytes of a string
		}
		return fmt.Sprintf("withoutCase%s(%d, %s)", kind, changes[0].number, original)
	}
	var out strings.Builder
	out.WriteString("func() bool { switch theMutant {")
	for _, c := range changes {
		fmt.Fprintf(&out, " case %d: return %s;", c.number, c.text)
	}
	fmt.Fprintf(&out, " }; return %s }()", original)
	return out.String()
}
