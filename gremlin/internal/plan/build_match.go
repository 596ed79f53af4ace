package plan

import (
	"fmt"
	"slices"

	"vigil/gremlin/syntax"
)

// match builds the patterns of a match().
func (b *builder) match(args []syntax.Arg, sc scope) (Step, error) {
	ts, err := b.children(args, sc)
	if err != nil {
		return nil, err
	}
	return patterns(ts, false)
}

// MaxPatterns is the maximum number of patterns of a match, or of a connective within it: a
// run records in the bits of a word which of them are solved.
const MaxPatterns = 63

// patterns builds a match from traversals that start, and may end, at labels. If isOr is true,
// one of the patterns is enough.
func patterns(ts []*Traversal, isOr bool) (*Match, error) {
	if len(ts) > MaxPatterns {
		return nil, fmt.Errorf("match() has %d patterns, the limit is %d", len(ts), MaxPatterns)
	}
	m := &Match{Meta: Meta{Name: "match"}, Any: isOr}
	var starts, ends []string
	for _, t := range ts {
		p, err := pattern(t)
		if err != nil {
			return nil, err
		}
		m.Patterns = append(m.Patterns, p)
		s, e := p.labels()
		starts, ends = append(starts, s...), append(ends, e...)
	}
	for _, s := range starts { // the first label that no pattern binds
		if !slices.Contains(ends, s) {
			m.Start = s
			break
		}
	}
	if m.Start == "" && len(starts) > 0 {
		m.Start = starts[0]
	}
	for _, l := range append(starts, ends...) {
		if !slices.Contains(m.Vars, l) {
			m.Vars = append(m.Vars, l)
		}
	}
	return m, nil
}

// labels returns the labels from which a pattern may start and those that it may bind.
func (p *Pattern) labels() (starts, ends []string) {
	if p.Nested != nil {
		for i := range p.Nested.Patterns {
			s, e := p.Nested.Patterns[i].labels()
			starts, ends = append(starts, s...), append(ends, e...)
		}
		return starts, ends
	}
	if p.Start != "" {
		starts = append(starts, p.Start)
	}
	if p.End != "" && !p.Not {
		ends = append(ends, p.End)
	}
	return starts, ends
}

func pattern(t *Traversal) (Pattern, error) {
	if len(t.Steps) == 0 {
		return Pattern{}, fmt.Errorf("a pattern of match() must not be empty")
	}
	switch s := t.Steps[0].(type) {
	case *And:
		m, err := patterns(s.Traversals, false)
		return Pattern{Nested: m}, err
	case *Or:
		m, err := patterns(s.Traversals, true)
		return Pattern{Nested: m}, err
	case *Not:
		p, err := pattern(s.Traversal)
		if p.Not { // a double negation tests the pattern without binding its labels
			p = Pattern{Nested: &Match{Meta: Meta{Name: "match"}, Patterns: []Pattern{p}}}
		}
		p.Not = true
		return p, err
	case *WherePred:
		p := Pattern{Where: s, Traversal: t}
		if s.Start != "" {
			p.Needs = append(p.Needs, s.Start)
		}
		s.Pred.Walk(func(q *Pred) {
			if len(q.Args) == 0 {
				p.Needs = append(p.Needs, q.Label())
			}
		})
		return p, nil
	case *Filter:
		return Pattern{Where: s, Traversal: t, Needs: needsOf(s.Traversal)}, nil
	case *Identity:
		if startsAt(s) {
			if len(s.Labels) > 1 {
				return Pattern{}, fmt.Errorf("The start step of a match()-traversal can only have one label: %s", s.Labels)
			}
			return fromLabel(s.Labels[0], t)
		}
	}
	return Pattern{}, fmt.Errorf("a pattern of match() must start with as(): %s()", t.Steps[0].Info().Name)
}

func fromLabel(start string, t *Traversal) (Pattern, error) {
	p := Pattern{Start: start, Needs: []string{start}}
	rest := slices.Clone(t.Steps[1:])
	if len(rest) > 0 {
		end := rest[len(rest)-1].Info()
		if len(end.Labels) > 1 {
			return p, fmt.Errorf("The end step of a match()-traversal can have at most one label: %s", end.Labels)
		}
		if len(end.Labels) == 1 {
			p.End = end.Labels[0]
			end.Labels = nil
		}
	}
	p.Traversal = &Traversal{Steps: rest}
	for _, n := range needsOf(p.Traversal) {
		if !slices.Contains(p.Needs, n) {
			p.Needs = append(p.Needs, n)
		}
	}
	return p, nil
}

// needsOf returns the labels at which where() traversals within t start or end.
func needsOf(t *Traversal) []string {
	var out []string
	Walk(t, func(s Step) {
		switch s := s.(type) {
		case *WhereStart:
			if s.Label != "" {
				out = append(out, s.Label)
			}
		case *WhereEnd:
			out = append(out, s.Label)
		}
	})
	return out
}

// Label returns the label that a predicate of where() compares with. For within() and without(),
// it is the first of their labels, as in TinkerPop.
func (p *Pred) Label() string {
	switch {
	case p.Text != "":
		return p.Text
	case p.Op != Within && p.Op != Without:
		return p.Value.String()
	case len(p.Values) == 0:
		return ""
	}
	return p.Values[0].String()
}
