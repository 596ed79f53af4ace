package plan

import (
	"regexp"
	"slices"
	"strings"

	"vigil/graph"
	"vigil/gremlin/internal/value"
)

// PredOp is what a predicate tests.
type PredOp uint8

// The predicates.
const (
	Eq PredOp = iota
	Neq
	Lt
	Lte
	Gt
	Gte
	Within
	Without
	TypeOf
	StartingWith
	EndingWith
	Containing
	Regex
	AllOf
	AnyOf
	NotOf
)

// A Pred is a predicate over values.
type Pred struct {
	Op     PredOp
	Value  graph.Value    // operand of a comparison
	Values []graph.Value  // operands of within and without
	Keys   *value.Keys    // of Values, if all may be looked up by hash
	Set    *value.BulkSet // in place of Values
	Text   string         // operand of a text predicate; name of a type
	Re     *regexp.Regexp
	Args   []*Pred // of a connective
}

// Test reports whether v satisfies p. s orders elements.
func (p *Pred) Test(s value.Space, v graph.Value) bool {
	switch p.Op {
	case Eq:
		return value.Eq(s, v, p.Value)
	case Neq:
		return !value.Eq(s, v, p.Value)
	case Lt, Lte, Gt, Gte:
		c, ok := value.Compare(s, v, p.Value)
		return ok && p.holds(c)
	case Within:
		return p.member(s, v)
	case Without:
		return !p.member(s, v)
	case TypeOf:
		return value.IsType(v, p.Text)
	case AllOf:
		return !slices.ContainsFunc(p.Args, func(q *Pred) bool { return !q.Test(s, v) })
	case AnyOf:
		return slices.ContainsFunc(p.Args, func(q *Pred) bool { return q.Test(s, v) })
	case NotOf:
		return !p.Args[0].Test(s, v)
	}
	return v.Kind() == graph.KindString && p.TestText(v.Str())
}

// holds reports whether the result of a comparison satisfies an ordering.
func (p *Pred) holds(c int) bool {
	switch p.Op {
	case Lt:
		return c < 0
	case Lte:
		return c <= 0
	case Gt:
		return c > 0
	}
	return c >= 0
}

func (p *Pred) member(s value.Space, v graph.Value) bool {
	if p.Keys != nil && v.Kind() == graph.KindString {
		return p.Keys.Find(v) >= 0
	}
	if p.Set != nil {
		return p.inSet(s, v)
	}
	return slices.ContainsFunc(p.Values, func(w graph.Value) bool { return value.Eq(s, v, w) })
}

// inSet looks for v in a bulk set: elements and strings by hash, numbers one by
// one, since those of different width may be equal.
func (p *Pred) inSet(s value.Space, v graph.Value) bool {
	if k := v.Kind(); k == graph.KindVertex || k == graph.KindEdge || k == graph.KindString || k == graph.KindVertexProperty {
		return p.Set.Has(v)
	}
	for i := range p.Set.Len() {
		if w, _ := p.Set.At(i); value.Eq(s, v, w) {
			return true
		}
	}
	return false
}

// TestText reports whether a string satisfies a text predicate.
func (p *Pred) TestText(s string) bool {
	switch p.Op {
	case StartingWith:
		return strings.HasPrefix(s, p.Text)
	case EndingWith:
		return strings.HasSuffix(s, p.Text)
	case Containing:
		return strings.Contains(s, p.Text)
	case Regex:
		return p.Re.MatchString(s)
	}
	return false
}

// Walk calls fn for p and all predicates in it.
func (p *Pred) Walk(fn func(*Pred)) {
	fn(p)
	for _, q := range p.Args {
		q.Walk(fn)
	}
}
