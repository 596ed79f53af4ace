package syntax

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// sections are the sections of the reference in order.
var sections = []struct {
	category Category
	title    string
}{
	{SourceStep, "Configuration: between `g` and the first step"},
	{FlatMapStep, "Moves: any number of results per traverser"},
	{FilterStep, "Filters: keep or drop a traverser"},
	{MapStep, "Maps: one result per traverser"},
	{BranchStep, "Branches: send traversers into traversals"},
	{SideEffectStep, "Side effects: update a side effect and pass traversers on"},
	{ModulatorStep, "Modulators: modify the previous step"},
	{TerminalStep, "Terminals: how results are returned, at the end of the whole query"},
	{MutatingStep, "Rejected: these change the graph"},
	{RefusedStep, "Rejected: these access external resources, control transactions or need a graph computer"},
}

// WriteReference writes the tables of steps, predicates and constants as
// Markdown. STEPS.md is its output.
func WriteReference(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Steps\n\nEach row has the forms of a step and what the step does. A star marks steps that may follow `g` directly.\nGenerated from the table of signatures; a test checks that the page is up to date.\n")
	for _, section := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n| step | what it does |\n|---|---|\n", section.title)
		for _, s := range steps {
			if s.Category == section.category {
				fmt.Fprintf(&b, "| %s | %s |\n", s.calls(), s.Doc)
			}
		}
	}
	b.WriteString("\n## Predicates\n\n")
	writePredicates(&b)
	b.WriteString("\n## Constants\n\nThe prefix is optional where the step determines the enumeration, except for WithOptions.\n\n| enumeration | constants |\n|---|---|\n")
	for e := NoEnum + 1; e < enumCount; e++ {
		fmt.Fprintf(&b, "| %s | %s |\n", e, strings.Join(e.Names(), ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// calls formats the forms as code. Forms that differ only in the kinds of their parameters are listed once.
func (s *Signature) calls() string {
	var parts []string
	for _, f := range s.Forms {
		if call := "`" + s.Name + "(" + f.String() + ")`"; !slices.Contains(parts, call) {
			parts = append(parts, call)
		}
	}
	star := ""
	if s.Start {
		star = "\\* "
	}
	return star + strings.Join(parts, " ")
}

func writePredicates(b *strings.Builder) {
	for _, prefix := range []string{"P", "TextP"} {
		var names []string
		for _, s := range predicateShapes {
			if s.prefix() == prefix {
				names = append(names, "`"+s.name+"`")
			}
		}
		fmt.Fprintf(b, "- %s: %s\n", prefix, strings.Join(names, ", "))
	}
	b.WriteString("- combined by `.and(p)` and `.or(p)`, and negated by `.negate()`\n")
}
