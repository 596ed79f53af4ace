package syntax

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs testdata/script: "parse" prints the canonical text of a
// query, "connect" the text after Connect; both print errors with their excerpt.
func TestScripts(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/script", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			for _, text := range scriptTexts(d) {
				q, err := Parse(text, scriptOptions(t, d))
				if err != nil {
					out.WriteString(err.Error() + "\n" + indent(err.(*Error).Excerpt()))
					continue
				}
				if d.Cmd == "connect" {
					const root = true
					q.Steps = Connect(q.Steps, root)
				}
				out.WriteString(q.String() + "\n")
			}
			return out.String()
		})
	})
}

// scriptTexts returns the queries of a command: one per line, or with the
// argument "whole" the whole input.
func scriptTexts(d *datadriven.TestData) []string {
	if d.HasArg("whole") {
		return []string{d.Input}
	}
	return strings.Split(d.Input, "\n")
}

func scriptOptions(t *testing.T, d *datadriven.TestData) Options {
	o := Options{AllowMutation: d.HasArg("mutation")}
	for name, field := range map[string]*int{
		"length": &o.Length, "steps": &o.Steps, "depth": &o.Depth, "literals": &o.Literals, "regex": &o.Regex,
	} {
		if d.HasArg(name) {
			d.ScanArgs(t, name, field)
		}
	}
	return o
}

func indent(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
	}
	return b.String()
}

// TestDeepNestingIsRejected checks that nesting is limited even if Options permit any depth:
// otherwise the recursion of the parser would exhaust the stack.
func TestDeepNestingIsRejected(t *testing.T) {
	t.Parallel()
	const deep = 50_000
	o := Options{Limits: Limits{Length: 1 << 30, Steps: 1 << 30, Depth: 1 << 30, Literals: 1 << 30}}
	for _, unit := range []string{"where(", "not(", "[", "{", "[a:", "P.not(", "has('a',not(", "set(", "g.inject(", "__.out(", "is(eq(1).or("} {
		_, err := Parse("g.inject("+strings.Repeat(unit, deep), o)
		if err == nil {
			t.Errorf("%s is accepted", unit)
		}
	}
	_, err := Parse("g.V().is(eq(1)"+strings.Repeat(".negate()", deep)+")", o)
	if err == nil || err.(*Error).Limit != LimitDepth {
		t.Errorf("many negate(): %v", err)
	}
}

func TestEmptyText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " \n", "// nothing", "/* */"} {
		if _, err := Parse(text, Options{}); err == nil || !strings.Contains(err.Error(), "the query is empty") {
			t.Errorf("%q: %v, want an error that the query is empty", text, err)
		}
	}
}
