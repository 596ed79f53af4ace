package syntax

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestScripts runs testdata/script: "parse" prints the canonical text of a
// query, "connect" that after Connect, or the error with its excerpt.
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
					q.Steps = Connect(q.Steps, true)
				}
				out.WriteString(q.String() + "\n")
			}
			return out.String()
		})
	})
}

// scriptTexts returns the queries of a command: one a line, or with the argument
// "whole" one in all.
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
