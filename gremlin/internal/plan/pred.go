package plan

import (
	"regexp"
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/value"
)

// PredOp is the operation of a predicate.
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
	Keys   *value.Keys    // hash table of Values, if there are many; only strings are looked up in it
	Set    *value.BulkSet // in place of Values
	Text   string         // operand of a text predicate; name of a type
	Re     *regexp.Regexp
	Args   []*Pred // operands of a connective
}

// A Tester is the context in which predicates are evaluated.
type Tester interface {
	value.Space
}

// Test reports whether v satisfies p.
func (p *Pred) Test(s Tester, v graph.Value) bool {
	switch p.Op {
	case Eq:
		return value.Eq(s, v, p.Value)
	case Neq:
		return !value.Eq(s, v, p.Value)
	case Lt, Lte, Gt, Gte:
		c, ok := value.Compare(s, v, p.Value)
		return ok && p.acceptsOrder(c)
	case Within:
		return p.isMember(s, v)
	case Without:
		return !p.isMember(s, v)
	case TypeOf:
		return value.IsType(v, p.Text)
	case AllOf:
		return !slices.ContainsFunc(p.Args, func(q *Pred) bool { return !q.Test(s, v) })
	case AnyOf:
		return slices.ContainsFunc(p.Args, func(q *Pred) bool { return q.Test(s, v) })
	case NotOf:
		return !p.Args[0].Test(s, v)
	}
	return v.Kind() == graph.KindString && p.TestText(s, v.Str())
}

// acceptsOrder reports whether the result of a comparison satisfies an ordering predicate.
func (p *Pred) acceptsOrder(c int) bool {
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

func (p *Pred) isMember(s Tester, v graph.Value) bool {
	if p.Keys != nil && v.Kind() == graph.KindString { // not numbers: equal ones can have different hashes
		return p.Keys.Find(v) >= 0
	}
	if p.Set != nil {
		return p.inSet(s, v)
	}
	if n := len(p.Values); n > 8 && !s.Tick(n/8) {
		return false
	}
	return slices.ContainsFunc(p.Values, func(w graph.Value) bool { return value.Eq(s, v, w) })
}

// inSet searches for v in a bulk set: elements and strings by hash, all others
// linearly, because numbers of different width may be equal, also within lists.
func (p *Pred) inSet(s Tester, v graph.Value) bool {
	if k := v.Kind(); k == graph.KindVertex || k == graph.KindEdge || k == graph.KindString || k == graph.KindVertexProperty {
		return p.Set.Has(v)
	}
	for i := range p.Set.Len() {
		if i%1024 == 1023 && !s.Tick(128) {
			return false
		}
		if w, _ := p.Set.At(i); value.Eq(s, v, w) {
			return true
		}
	}
	return false
}

// Walk calls fn for p and all nested predicates.
func (p *Pred) Walk(fn func(*Pred)) {
	fn(p)
	for _, q := range p.Args {
		q.Walk(fn)
	}
}
