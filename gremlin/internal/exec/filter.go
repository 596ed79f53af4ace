package exec

import (
	"math"
	"time"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// filterOperator builds the filter operators.
func (r *run) filterOperator(s plan.Step, next op) (op, error) {
	switch s := s.(type) {
	case *plan.Has:
		return r.hasOp(s, next), nil
	case *plan.HasNot:
		return r.hasNotOp(s, next), nil
	case *plan.Is:
		return r.newFilterOp(next, func(in *batch, i int) (bool, error) {
			v := in.value(i)
			if err := r.visitParts(v); err != nil {
				return false, err
			}
			return s.Pred.Test(r, v), nil
		}), nil
	case *plan.Filter, *plan.Not, *plan.And, *plan.Or:
		t, err := r.filterTest(s)
		return &filterOp{base: base{run: r, next: next}, fn: t, vertex: r.handleTest(s, graph.KindVertex)}, err
	case *plan.WherePred:
		return r.wherePred(s, next)
	case *plan.WhereEnd:
		return r.whereEnd(s, next), nil
	case *plan.Items:
		return r.newFilterOp(next, func(in *batch, i int) (bool, error) {
			v := in.value(i)
			if err := r.visitParts(v); err != nil {
				return false, err
			}
			return r.matchItems(s, v), nil
		}), nil
	case *plan.Identity:
		return r.newFilterOp(next, func(*batch, int) (bool, error) { return true, nil }), nil
	case *plan.Discard:
		return r.newFilterOp(next, func(*batch, int) (bool, error) { return false, nil }), nil
	case *plan.Fail:
		return r.newFilterOp(next, func(*batch, int) (bool, error) { return false, value.Errorf("%s", s.Message) }), nil
	case *plan.TimeLimit:
		return r.timeLimit(s, next), nil
	case *plan.Coin:
		return r.coin(s, next), nil
	}
	return r.cutOperator(s, next)
}

// filterTest builds the test of a filter with traversals.
func (r *run) filterTest(s plan.Step) (func(in *batch, i int) (bool, error), error) {
	switch s := s.(type) {
	case *plan.Filter:
		return r.traversalTest(s.Traversal)
	case *plan.Not:
		r.negated = !r.negated
		t, err := r.traversalTest(s.Traversal)
		r.negated = !r.negated
		return func(in *batch, i int) (bool, error) {
			ok, err := t(in, i)
			return !ok, err
		}, err
	case *plan.And:
		return r.firstDeciding(s.Traversals, false)
	case *plan.Or:
		return r.firstDeciding(s.Traversals, true)
	}
	return nil, nil
}

// firstDeciding builds the test of an and(), which the first false decides, or of an or(), which
// the first true decides.
func (r *run) firstDeciding(ts []*plan.Traversal, decides bool) (func(in *batch, i int) (bool, error), error) {
	var tests []func(in *batch, i int) (bool, error)
	for _, t := range ts {
		test, err := r.traversalTest(t)
		if err != nil {
			return nil, err
		}
		tests = append(tests, test)
	}
	return func(in *batch, i int) (bool, error) {
		for _, test := range tests {
			ok, err := test(in, i)
			if err != nil || ok == decides {
				return ok, err
			}
		}
		return !decides, nil
	}, nil
}

// traversalTest builds a test of whether a traversal has a result.
func (r *run) traversalTest(t *plan.Traversal) (func(in *batch, i int) (bool, error), error) {
	if r.opt.Reading != Plain {
		if keys := plan.OwnValues(t); keys != nil {
			return r.valueTest(t, keys)
		}
		if test, err := r.countTest(t); test != nil || err != nil {
			return test, err
		}
	}
	vertex := r.existence(t, graph.KindVertex)
	if vertex == nil {
		c, err := r.newChild(t)
		if err != nil {
			return nil, err
		}
		return c.exists, nil
	}
	c := r.newLazyChild(t)
	return func(in *batch, i int) (bool, error) {
		if in.kind == graph.KindVertex {
			ok := vertex(in.ids[i])
			return ok, r.meter.err // vertex cannot return an error
		}
		child, err := c.get()
		if err != nil {
			return false, err
		}
		return child.exists(in, i)
	}, nil
}

// matchItems reports whether v is a collection of which any, all or none of the items satisfy a
// predicate, as the quantifier says.
func (r *run) matchItems(s *plan.Items, v graph.Value) bool {
	vs, ok := value.Elems(v)
	if !ok {
		return false
	}
	for _, x := range vs {
		hit := s.Pred.Test(r, x)
		switch {
		case hit && s.Quantifier == plan.AnyItem:
			return true
		case hit && s.Quantifier == plan.NoItem, !hit && s.Quantifier == plan.AllItems:
			return false
		}
	}
	return s.Quantifier != plan.AnyItem
}

// timeLimitOp ends its input when the limit has passed since the first row.
type timeLimitOp struct {
	filterOp
	limit time.Duration
	until time.Time // zero before the first row
}

func (r *run) timeLimit(s *plan.TimeLimit, next op) op {
	const longest = math.MaxInt64 / int64(time.Millisecond) // milliseconds that fit a time.Duration
	o := &timeLimitOp{limit: time.Duration(max(-longest, min(s.Millis, longest))) * time.Millisecond}
	o.filterOp = filterOp{base: base{run: r, next: next}, fn: o.inTime}
	return o
}

func (o *timeLimitOp) inTime(*batch, int) (bool, error) {
	now := time.Now()
	if o.until.IsZero() {
		o.until = now.Add(o.limit)
	}
	if now.After(o.until) {
		return false, errDone
	}
	return true, nil
}

func (o *timeLimitOp) reset() {
	o.until = time.Time{}
	o.filterOp.reset()
}

// coinOp keeps each traverser with a probability. A row with a bulk is sampled
// for each of its traversers.
type coinOp struct {
	base
	p      float64
	random *value.Random
}

func (r *run) coin(s *plan.Coin, next op) op {
	return &coinOp{base: base{run: r, next: next}, p: s.Probability, random: r.random()}
}

func (o *coinOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	passed := 0
	for i := range n {
		var c int64
		for k := range b.count(i) {
			if o.p >= o.random.Float64() {
				c++
			}
			if k == 0 {
				continue // counted with the rows
			}
			if err := o.run.meter.spend(1); err != nil {
				return err
			}
		}
		if c == 0 {
			continue
		}
		if b.bulk != nil {
			b.bulk[i] = c
		}
		b.move(i, passed)
		passed++
	}
	b.cut(passed)
	return o.pass(b)
}
