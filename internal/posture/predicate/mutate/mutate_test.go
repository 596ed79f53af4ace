package main

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

func TestMutate(t *testing.T) {
	t.Parallel()
	f, err := mutate("x.go", []byte(`package x

func f(a, b int, s string, ok bool) bool {
	if a < b && !ok {
		return a == b
	}
	switch s {
	case "one", "two":
		return predicate.Of(ok, "")
	}
	for a != b {
	}
	switch {
	case ok:
	}
	return predicate.Of(true, "")
}
`), 7)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range f.mutants {
		got = append(got, m.position+" "+m.change)
	}
	want := []string{
		"x.go:4 the condition is negated: a < b && !ok", "x.go:4 && is ||: a < b && !ok", "x.go:4 < is <=: a < b", "x.go:4 ! is removed: !ok",
		"x.go:5 == is !=: a == b", `x.go:8 the case "one" is removed: "one"`, `x.go:8 the case "two" is removed: "two"`,
		"x.go:9 the condition is negated: ok", "x.go:11 != is ==: a != b", "x.go:14 the condition is negated: ok",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if f.mutants[0].number != 7 || f.pkg != "x" {
		t.Errorf("the first number is %d, the package %s", f.mutants[0].number, f.pkg)
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "x.go", f.text, 0); err != nil {
		t.Errorf("the mutants are not Go: %v\n%s", err, f.text)
	}
}

// TestSwappedOperatorKeepsOperands checks that an operator of higher precedence does not
// take a part of an operand.
func TestSwappedOperatorKeepsOperands(t *testing.T) {
	t.Parallel()
	f, err := mutate("x.go", []byte("package x\n\nfunc f(a, b, c bool) bool { return a || b || c }\n"), 1)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(f.text); !strings.Contains(text, "case 1: return (a || b) && (c);") {
		t.Errorf("the mutants are %s", text)
	}
}
