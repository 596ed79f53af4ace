package exec

import (
	"vigil/graph"
	"vigil/gremlin/internal/plan"
)

// With unknown values, a count is a range: from the certain to the possible
// number. Whether it satisfies a predicate depends on the Reading: with Possible,
// if some number of the range does; with Certain, if all do.

// bounds builds something twice: low for the elements that certainly match, as with the
// Reading Certain, and high for those that possibly match, as with Possible. It selects the
// Reading by r.negated, because a negated part has the opposite of the Reading of the run.
func bounds[T any](r *run, build func() T) (low, high T) {
	before := r.negated
	r.negated = r.opt.Reading == Possible
	low = build()
	r.negated = !r.negated
	high = build()
	r.negated = before
	return low, high
}

// rangeTest converts a predicate to a test of ranges. It does not try the numbers of a
// very wide range, but assumes that some satisfy the predicate and some do not.
func (r *run) rangeTest(p *plan.Pred) func(low, high int64) bool {
	possible := r.readsAsPossible()
	return func(low, high int64) bool {
		const many = 1000
		if high-low > many {
			return possible
		}
		// With Possible, one number that satisfies the predicate decides; with Certain, one that does not.
		for n := low; n <= high; n++ {
			if p.Test(r, graph.Long(n)) == possible {
				return possible
			}
		}
		return !possible
	}
}

// readsAsPossible reports whether the operators being built have the Reading Possible. Those
// within a negation have the opposite of the Reading of the run.
func (r *run) readsAsPossible() bool { return (r.opt.Reading == Possible) != r.negated }

// countRangeIs is countIs for graphs with unknown values, where a count is a range.
func (r *run) countRangeIs(steps []plan.Step, p *plan.Pred, limit int64, kind graph.Kind) func(graph.Handle) bool {
	low, high := bounds(r, func() *walk { return r.walk(steps, kind) })
	if low == nil || high == nil {
		return nil
	}
	test := r.rangeTest(p)
	return func(h graph.Handle) bool { return test(low.count(h, limit), high.count(h, limit)) }
}

// countTest builds the test of a traversal that ends with a compared count, or
// returns nil for other traversals.
func (r *run) countTest(t *plan.Traversal) (func(in *batch, i int) (bool, error), error) {
	n := len(t.Steps)
	if n < 2 {
		return nil, nil
	}
	count, ok := t.Steps[n-2].(*plan.Count)
	is, isOK := t.Steps[n-1].(*plan.Is)
	if !ok || !isOK || count.Of != nil {
		return nil, nil
	}
	counted := &plan.Traversal{Steps: t.Steps[:n-1]}
	var err error
	build := func() *child {
		c, e := r.newChild(counted)
		if e != nil {
			err = e
		}
		return c
	}
	low, high := bounds(r, build)
	if err != nil {
		return nil, err
	}
	test := r.rangeTest(is.Pred)
	return func(in *batch, i int) (bool, error) {
		lo, _, err := low.first(in, i)
		if err != nil {
			return false, err
		}
		hi, _, err := high.first(in, i)
		if err != nil {
			return false, err
		}
		return test(lo.Int(), hi.Int()), nil
	}, nil
}

// valueTest builds the test of a traversal that computes with values of the tested element
// under some keys. If one of these values is unknown, the Reading decides.
func (r *run) valueTest(t *plan.Traversal, names []string) (func(in *batch, i int) (bool, error), error) {
	c, err := r.newChild(t)
	if err != nil {
		return nil, err
	}
	var keys []graph.Key
	for _, name := range names {
		if k, ok := r.g.KeyByName(name); ok && r.g.HasUnknown(k) {
			keys = append(keys, k)
		}
	}
	possible := r.readsAsPossible()
	return func(in *batch, i int) (bool, error) {
		if len(keys) > 0 && r.anyUnknown(in.value(i), keys) {
			return possible, nil
		}
		return c.exists(in, i)
	}, nil
}

// anyUnknown reports whether a vertex or edge has an unknown value under one of the keys.
func (r *run) anyUnknown(v graph.Value, keys []graph.Key) bool {
	var row uint32
	var label graph.Label
	column := r.g.VertexColumn
	switch v.Kind() {
	case graph.KindVertex:
		label, row = r.g.VertexRow(v.Handle())
	case graph.KindEdge:
		label, row = r.g.EdgeRow(v.Handle())
		column = r.g.EdgeColumn
	default:
		return false
	}
	for _, k := range keys {
		if c := column(label, k); c != nil {
			if _, unknown := c.Unknown(row); unknown {
				return true
			}
		}
	}
	return false
}
