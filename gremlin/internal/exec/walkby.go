package exec

import (
	"vigil/graph"
	"vigil/gremlin/internal/plan"
)

// walkBy recognises traversals that can be evaluated as a walk: a count or a
// list of the results of moves and tests.
func (r *run) walkBy(t *plan.Traversal) projector {
	n := len(t.Steps)
	if n == 0 {
		return nil
	}
	switch end := t.Steps[n-1].(type) {
	case *plan.Count:
		if w := r.walk(t.Steps[:n-1], graph.KindVertex); w != nil {
			return &countBy{lazyChild: r.newLazyChild(t), w: w}
		}
	case *plan.Fold:
		if end.Reduce == "" {
			return r.foldBy(t)
		}
	case *plan.Properties:
		if !end.Values || len(end.Keys) != 1 || end.Filter != nil || !plainInfo(end) {
			return nil
		}
		if w := r.walk(t.Steps[:n-1], graph.KindVertex); w != nil && w.end == graph.KindVertex {
			return &valueBy{lazyChild: r.newLazyChild(t), w: w, key: r.keyOf(end.Keys[0])}
		}
	}
	return nil
}

// foldBy recognises lists of vertices or of the values of a key.
func (r *run) foldBy(t *plan.Traversal) projector {
	p := &listBy{lazyChild: r.newLazyChild(t)}
	steps := t.Steps[:len(t.Steps)-1]
	if n := len(steps); n > 0 {
		if v, ok := steps[n-1].(*plan.Properties); ok {
			if !v.Values || len(v.Keys) != 1 || v.Filter != nil || !plainInfo(v) {
				return nil
			}
			p.key = r.keyOf(v.Keys[0])
			steps = steps[:n-1]
		}
	}
	p.w = r.walk(steps, graph.KindVertex)
	if p.w == nil || p.w.end != graph.KindVertex {
		return nil
	}
	return p
}

// countBy counts the results of a walk.
type countBy struct {
	*lazyChild
	w *walk
}

func (p *countBy) row(in *batch, i int) (graph.Value, bool, error) {
	if in.kind != graph.KindVertex {
		return p.first(in, i)
	}
	return graph.Long(p.w.count(in.ids[i], 0)), true, p.run.meter.err
}

func (p *countBy) of(v graph.Value) (graph.Value, bool, error) {
	if v.Kind() != graph.KindVertex {
		return p.firstOf(v)
	}
	return graph.Long(p.w.count(v.Handle(), 0)), true, p.run.meter.err
}

// valueBy returns the first value of a key among the results of a walk.
type valueBy struct {
	*lazyChild
	w   *walk
	key *keyBy
}

func (p *valueBy) row(in *batch, i int) (graph.Value, bool, error) {
	if in.kind != graph.KindVertex {
		return p.first(in, i)
	}
	return p.find(in.ids[i])
}

func (p *valueBy) of(v graph.Value) (graph.Value, bool, error) {
	if v.Kind() != graph.KindVertex {
		return p.firstOf(v)
	}
	return p.find(v.Handle())
}

func (p *valueBy) find(from graph.Handle) (v graph.Value, ok bool, err error) {
	err = p.w.each(from, func(h graph.Handle) error {
		v, ok = p.key.vertex(h)
		if ok {
			return errDone
		}
		return nil
	})
	if err == errDone {
		err = nil
	}
	if err == nil {
		err = p.run.meter.err
	}
	return v, ok, err
}

// selectedBy is the projector of by(select("name")).
type selectedBy struct {
	run  *run
	name string
	pop  plan.Pop
}

func (p *selectedBy) row(in *batch, i int) (graph.Value, bool, error) {
	return p.run.scoped(in, i, p.name, p.pop)
}

func (p *selectedBy) of(v graph.Value) (graph.Value, bool, error) {
	one := batch{vals: []graph.Value{v}}
	return p.run.scoped(&one, 0, p.name, p.pop)
}

// listBy lists the results of a walk: vertices, or their values of a key.
type listBy struct {
	*lazyChild
	w    *walk
	key  *keyBy
	held int64 // reserved memory of the last list
}

func (p *listBy) row(in *batch, i int) (graph.Value, bool, error) {
	if in.kind != graph.KindVertex {
		return p.first(in, i)
	}
	return p.list(in.ids[i])
}

func (p *listBy) of(v graph.Value) (graph.Value, bool, error) {
	if v.Kind() != graph.KindVertex {
		return p.firstOf(v)
	}
	return p.list(v.Handle())
}

func (p *listBy) list(from graph.Handle) (graph.Value, bool, error) {
	var out valueList
	p.run.meter.release(p.held)
	p.held = 0
	err := p.w.each(from, func(h graph.Handle) error {
		before := len(out.tail)
		if p.key == nil {
			out.tail = append(out.tail, graph.VertexOf(h))
		} else {
			out.tail = p.key.appendAll(out.tail, h)
		}
		bytes := listBytes * int64(len(out.tail)-before)
		out.grown()
		p.held += bytes
		return p.run.meter.reserve(bytes)
	})
	if err == nil {
		err = p.run.meter.err
	}
	if err != nil {
		return graph.Null, false, err
	}
	v, err := p.run.list(&out)
	return v, true, err
}
