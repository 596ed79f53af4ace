package syntax

import (
	"fmt"
	"io"
	"strings"
)

// sections are the parts of the reference, in order.
var sections = []struct {
	category Category
	title    string
}{
	{SourceStep, "Configuration: between `g` and the first step"},
	{FlatMapStep, "Moves: any number of results for each traverser"},
	{FilterStep, "Filters: let a traverser pass or not"},
	{MapStep, "Maps: one result for each traverser"},
	{BranchStep, "Branches: send traversers into traversals"},
	{SideEffectStep, "Side effects: let traversers pass and note something"},
	{ModulatorStep, "Modulators: change the step before them"},
	{TerminalStep, "Terminals: how results are taken, at the end of the whole query"},
	{MutatingStep, "Refused: these change the graph"},
	{RefusedStep, "Refused: these reach outside the graph or need a graph computer"},
}

// WriteReference writes the table of steps, predicates and constants as
// Markdown. STEPS.md is its output.
func WriteReference(w io.Writer) error {
	var b strings.Builder
	b.WriteString("# Steps\n\nMade from the table of signatures; a test keeps it in step. A step that may follow `g` directly has a star.\n")
	for _, section := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n| Step | |\n|---|---|\n", section.title)
		for _, s := range steps {
			if s.Category == section.category {
				fmt.Fprintf(&b, "| %s | %s |\n", s.calls(), s.Doc)
			}
		}
	}
	b.WriteString("\n## Predicates\n\n")
	writePredicates(&b)
	b.WriteString("\n## Constants\n\nThe prefix may be left out where the step says which are meant; not so for WithOptions.\n\n| | |\n|---|---|\n")
	for e := NoEnum + 1; e < enumCount; e++ {
		fmt.Fprintf(&b, "| %s | %s |\n", e, strings.Join(e.Names(), ", "))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// calls writes every form as code.
func (s *Signature) calls() string {
	parts := make([]string, len(s.Forms))
	for i, f := range s.Forms {
		parts[i] = "`" + s.Name + "(" + f.String() + ")`"
	}
	star := ""
	if s.Start {
		star = "\\* "
	}
	return star + strings.Join(parts, " ")
}

func writePredicates(b *strings.Builder) {
	for _, text := range []bool{false, true} {
		var names []string
		prefix := "P"
		for _, s := range predicateShapes {
			if s.text == text {
				prefix = s.prefix()
				names = append(names, "`"+s.name+"`")
			}
		}
		fmt.Fprintf(b, "- %s: %s\n", prefix, strings.Join(names, ", "))
	}
	b.WriteString("- joined by `.and(p)`, `.or(p)` and turned by `.negate()`\n")
}
