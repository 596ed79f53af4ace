package exec

import (
	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// countOp counts the results of a step without producing them: neighbours by
// degrees, vertices by the graph's lists.
type countOp struct {
	output
	move *walk    // the counted move, or nil
	from *graphOp // the counted V() or E(), or nil
	n    int64
}

func (r *run) countOf(s *plan.Count, next op) op {
	o := &countOp{output: r.output(s, next)}
	switch of := s.Of.(type) {
	case *plan.Move:
		o.move = r.walk([]plan.Step{of}, graph.KindVertex)
	case *plan.Graph:
		o.from = r.graphOp(of, nil).(*graphOp)
	}
	return o
}

func (o *countOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	for i := range n {
		c := int64(0)
		if o.from != nil {
			var err error
			if c, err = o.from.size(); err != nil {
				return err
			}
		} else {
			v, ok := b.vertex(i)
			if !ok {
				return value.Errorf("%s cannot be cast to Vertex", value.ClassName(b.value(i)))
			}
			c = o.move.degree(v)
		}
		c, err := mulBulk(c, b.count(i))
		if err != nil {
			return err
		}
		if o.n, err = addBulk(o.n, c); err != nil {
			return err
		}
	}
	return nil
}

func (o *countOp) finish() error {
	n := o.n
	o.n = 0
	if err := o.emitReduced(graph.Long(n)); err != nil {
		return err
	}
	return o.flush()
}

func (o *countOp) reset() {
	o.n = 0
	o.output.reset()
}

// degree counts the neighbours of the first hop of the walk.
func (w *walk) degree(h graph.Handle) int64 {
	n := 0
	for k := range w.hops[0].ways {
		n += w.hops[0].ways[k].Degree(h)
	}
	return int64(n)
}

// size counts the elements of a V() or E().
func (o *graphOp) size() (int64, error) {
	if o.test == nil && !o.step.ByID {
		if o.kind == graph.KindEdge {
			return int64(o.run.g.NumEdges()), nil
		}
		return int64(o.run.g.NumVertices()), nil
	}
	var n int64
	err := o.each(func(hs []graph.Handle, rest *condTest) error {
		if rest == nil {
			n += int64(len(hs))
			return nil
		}
		for _, h := range hs {
			if rest.matchElement(o.kind, h) {
				n++
			}
		}
		return o.run.meter.spend(len(hs))
	})
	return n, err
}
