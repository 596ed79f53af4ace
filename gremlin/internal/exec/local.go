package exec

import "vigil/gremlin/internal/plan"

// coalesceOp uses the first traversal that has results.
func (r *run) coalesceOp(s *plan.Coalesce, next op) (op, error) {
	var children []*child
	for _, t := range s.Traversals {
		c, err := r.newChild(t)
		if err != nil {
			return nil, err
		}
		children = append(children, c)
	}
	return r.flatMapper(s, next, func(o *output, in *batch, i int) error {
		for _, c := range children {
			found := false
			err := c.start(in, i, func(b *batch) error {
				found = found || b.len() > 0
				return o.emitEach(in, i, b)
			})
			if err != nil || found {
				return err
			}
		}
		return nil
	}), nil
}

// localOp runs a traversal for each traverser separately and passes its results on unchanged.
type localOp struct {
	base
	c    *child
	pure bool // equal traversers have equal results
	keep bool // a row without results passes itself (optional)
}

func (r *run) localOp(s *plan.Local, next op) (op, error) {
	if p := r.oneResult(s.Traversal); p != nil {
		return &mapOp{output: output{base: base{run: r, next: next}}, fn: p.row}, nil
	}
	c, err := r.newChild(s.Traversal)
	if err != nil {
		return nil, err
	}
	return &localOp{base: base{run: r, next: next}, c: c, pure: isPure(s.Traversal)}, nil
}

// oneResult returns the projector of a traversal that ends with a count or a
// list and can be evaluated as a walk, if neither paths nor sacks are needed.
func (r *run) oneResult(t *plan.Traversal) projector {
	n := len(t.Steps)
	if n == 0 || r.sackInit != nil || !needsNoPath(t.Steps[n-1]) {
		return nil
	}
	switch t.Steps[n-1].(type) {
	case *plan.Count, *plan.Fold:
		return r.walkBy(t)
	}
	return nil
}

func (r *run) optionalOp(s *plan.Optional, next op) (op, error) {
	c, err := r.newChild(s.Traversal)
	return &localOp{base: base{run: r, next: next}, c: c, pure: isPure(s.Traversal), keep: true}, err
}

// isPure reports whether t has no side effects and is deterministic.
func isPure(t *plan.Traversal) bool {
	ok := true
	plan.Walk(t, func(s plan.Step) {
		switch s := s.(type) {
		case *plan.Aggregate, *plan.SubgraphOf, *plan.Sample, *plan.SampleLocal, *plan.Coin, *plan.SideEffect, *plan.TimeLimit:
			ok = false
		case *plan.Group:
			ok = ok && s.SideEffect == ""
		case *plan.GroupCount:
			ok = ok && s.SideEffect == ""
		case *plan.TreeOf:
			ok = ok && s.SideEffect == ""
		case *plan.Order:
			for _, by := range s.Bys {
				ok = ok && by.Sort != plan.Shuffle
			}
		}
	})
	return ok
}

func (o *localOp) push(b *batch) error {
	for i := range b.len() {
		times, bulk := int64(1), b.count(i)
		if !o.pure {
			times, bulk = bulk, 1
		}
		for range times {
			if err := o.one(b, i, bulk); err != nil {
				return err
			}
		}
	}
	return nil
}

// one runs the traversal for a row and multiplies the bulks of its results by bulk.
func (o *localOp) one(b *batch, i int, bulk int64) error {
	found := false
	err := o.c.start(b, i, func(out *batch) error {
		found = found || out.len() > 0
		if bulk != 1 {
			out.bulk = fill(out.bulk, out.len(), 1)
			for j, n := range out.bulk {
				var err error
				if out.bulk[j], err = mulBulk(n, bulk); err != nil {
					return err
				}
			}
		}
		return o.pass(out)
	})
	if err != nil || found || !o.keep {
		return err
	}
	o.c.one.clear()
	o.c.one.appendRow(b, i)
	if o.c.one.bulk != nil {
		o.c.one.bulk[0] = bulk
	}
	return o.pass(&o.c.one)
}

func (o *localOp) reset() {
	o.c.reset()
	o.base.reset()
}
