package gremlin

import (
	"fmt"
	"strings"

	"vigil/gremlin/internal/plan"
)

// An Explanation describes how a query will be run.
type Explanation struct {
	Query   string
	Written []string        // the steps before optimisation
	Steps   []ExplainedStep // the steps after optimisation
	Notes   []string        // remarks about the whole query
}

// An ExplainedStep is one step of a plan.
type ExplainedStep struct {
	Depth int // nesting level
	Text  string
	Note  string // remark
}

// Explain describes how the query will be run. The plan of a query with variables,
// datetime() or UUID() depends on their values, so the query is explained without
// optimisation until it is bound.
func (p *Plan) Explain() *Explanation {
	e := &Explanation{Query: p.text}
	if parts := runtimeParts(p.query); len(parts) > 0 {
		for _, s := range p.query.Steps {
			e.Written = append(e.Written, s.String())
		}
		if p.root == nil {
			e.Notes = append(e.Notes, "the query has "+strings.Join(parts, " and ")+": how it is run depends on their values")
			return e
		}
	} else if unoptimised, err := plan.Build(p.query, plan.Binding{}); err == nil { // as in Compile, where it succeeded
		for _, s := range unoptimised.Steps {
			e.Written = append(e.Written, plan.Describe(s))
		}
	}
	e.steps(&p.root.Traversal, 0)
	e.Notes = append(e.Notes, notes(p.root)...)
	return e
}

func (e *Explanation) steps(t *plan.Traversal, depth int) {
	for _, s := range t.Steps {
		e.Steps = append(e.Steps, ExplainedStep{Depth: depth, Text: plan.Describe(s), Note: note(s)})
		switch s := s.(type) {
		case *plan.Repeat:
			e.steps(s.Body, depth+1)
		case *plan.Union:
			for _, c := range s.Traversals {
				e.steps(c, depth+1)
			}
		}
	}
}

// note returns the remark about a step.
func note(s plan.Step) string {
	m := s.Info()
	var notes []string
	switch s := s.(type) {
	case *plan.Graph:
		notes = append(notes, startNote(s))
	case *plan.Bulk:
		return "equal traversers are merged"
	case *plan.Count:
		if s.Of != nil {
			notes = append(notes, "counted without being visited")
		}
	case *plan.Order:
		if s.Limit >= 0 {
			notes = append(notes, fmt.Sprintf("only the first %d are kept", s.Limit))
		}
	case *plan.Repeat:
		if s.Merge {
			notes = append(notes, "equal traversers are merged in each round")
		}
	}
	if m.Extend {
		notes = append(notes, "adds to the path")
	}
	if m.DropPath {
		notes = append(notes, "paths are dropped")
	}
	return strings.Join(notes, "; ")
}

func startNote(g *plan.Graph) string {
	if g.ByID {
		return "looked up by id"
	}
	for _, c := range g.Conds {
		if c.Part == plan.PartID {
			return "looked up by id"
		}
	}
	label := ""
	for _, c := range g.Conds {
		switch {
		case c.Part == plan.PartLabel:
			label = "looked up by label"
		case c.Pred != nil && c.Pred.Op == plan.Eq && !g.Edges:
			return "looked up by the value of " + c.Key
		}
	}
	if label == "" {
		return "all are scanned"
	}
	return label
}

func notes(r *plan.Root) []string {
	var out []string
	paths := r.FullPath
	plan.Walk(&r.Traversal, func(s plan.Step) { paths = paths || s.Info().Extend })
	if !paths {
		out = append(out, "paths are not kept")
	}
	if r.Lazy {
		out = append(out, "traversers are processed one at a time, because each must see the side effects of those before it")
	}
	if r.Seed != nil {
		out = append(out, fmt.Sprintf("random steps use the seed %d", *r.Seed))
	}
	return out
}

// String formats the explanation as text.
func (e *Explanation) String() string {
	var b strings.Builder
	b.WriteString("query\n  " + strings.ReplaceAll(strings.TrimSpace(e.Query), "\n", "\n  ") + "\n\nas understood\n")
	for _, s := range e.Written {
		b.WriteString("  " + s + "\n")
	}
	if len(e.Steps) > 0 {
		b.WriteString("\nas run\n")
	}
	width := 0
	for _, s := range e.Steps {
		width = max(width, min(len(s.Text)+2*s.Depth, 70))
	}
	for i, s := range e.Steps {
		line := fmt.Sprintf("%3d  %-*s  %s", i+1, width, strings.Repeat("  ", s.Depth)+s.Text, s.Note)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for _, n := range e.Notes {
		b.WriteString("\nnote: " + n)
	}
	if len(e.Notes) > 0 {
		b.WriteString("\n")
	}
	return b.String()
}
