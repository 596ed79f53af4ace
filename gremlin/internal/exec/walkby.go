package exec

import (
	"vigil/graph"
	"vigil/gremlin/internal/plan"
)

// walkBy recognises traversals that can be evaluated as a [walk]: steps that move along
// edges or test elements. The last step counts the results, lists them, or takes the
// first value of a key among them.
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
		if !isValuesOfKey(end) {
			return nil
		}
		if w := r.walk(t.Steps[:n-1], graph.KindVertex); w != nil && w.end == graph.KindVertex {
			return &valueBy{lazyChild: r.newLazyChild(t), w: w, key: r.keyOf(end.Keys[0])}
		}
	}
	return nil
}

// isValuesOfKey reports whether a step is values(key) with a single key, which needs no path.
func isValuesOfKey(s *plan.Properties) bool {
	return s.Values && len(s.Keys) == 1 && s.Filter == nil && needsNoPath(s)
}

// foldBy recognises lists of vertices or of the values of a key.
func (r *run) foldBy(t *plan.Traversal) projector {
	p := &listBy{lazyChild: r.newLazyChild(t)}
	steps := t.Steps[:len(t.Steps)-1]
	if n := len(steps); n > 0 {
		if v, ok := steps[n-1].(*plan.Properties); ok {
			if !isValuesOfKey(v) {
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

func (b *countBy) row(in *batch, i int) (graph.Value, bool, error) {
	if in.kind != graph.KindVertex {
		return b.first(in, i)
	}
	return b.count(in.ids[i])
}

func (b *countBy) project(v graph.Value) (graph.Value, bool, error) {
	if v.Kind() != graph.KindVertex {
		return b.firstOf(v)
	}
	return b.count(v.Handle())
}

func (b *countBy) count(from graph.Handle) (graph.Value, bool, error) {
	n := b.w.count(from, 0) // sets meter.err if it exceeds the budget
	return graph.Long(n), true, b.run.meter.err
}

// valueBy returns the first value of a key among the results of a walk.
type valueBy struct {
	*lazyChild
	w   *walk
	key *keyBy
}

func (b *valueBy) row(in *batch, i int) (graph.Value, bool, error) {
	if in.kind != graph.KindVertex {
		return b.first(in, i)
	}
	return b.find(in.ids[i])
}

func (b *valueBy) project(v graph.Value) (graph.Value, bool, error) {
	if v.Kind() != graph.KindVertex {
		return b.firstOf(v)
	}
	return b.find(v.Handle())
}

func (b *valueBy) find(from graph.Handle) (v graph.Value, ok bool, err error) {
	err = b.w.each(from, func(h graph.Handle) error {
		v, ok = b.key.vertex(h)
		if ok {
			return errDone
		}
		return nil
	})
	if err == errDone {
		err = nil
	}
	if err == nil {
		err = b.run.meter.err
	}
	return v, ok, err
}

// selectedBy is the projector of by(select("name")).
type selectedBy struct {
	run  *run
	name string
	pop  plan.Pop
}

func (b *selectedBy) row(in *batch, i int) (graph.Value, bool, error) {
	return b.run.lookupLabel(in, i, b.name, b.pop)
}

func (b *selectedBy) project(v graph.Value) (graph.Value, bool, error) {
	row := batch{vals: []graph.Value{v}}
	return b.run.lookupLabel(&row, 0, b.name, b.pop)
}

// listBy lists the results of a walk: vertices, or their values of a key.
type listBy struct {
	*lazyChild
	w        *walk
	key      *keyBy // nil for vertices
	reserved int64  // reserved memory of the last list
}

func (b *listBy) row(in *batch, i int) (graph.Value, bool, error) {
	if in.kind != graph.KindVertex {
		return b.first(in, i)
	}
	return b.list(in.ids[i])
}

func (b *listBy) project(v graph.Value) (graph.Value, bool, error) {
	if v.Kind() != graph.KindVertex {
		return b.firstOf(v)
	}
	return b.list(v.Handle())
}

func (b *listBy) list(from graph.Handle) (graph.Value, bool, error) {
	var out valueList
	b.run.meter.release(b.reserved)
	b.reserved = 0
	err := b.w.each(from, func(h graph.Handle) error {
		before := len(out.tail)
		if b.key == nil {
			out.tail = append(out.tail, graph.VertexOf(h))
		} else {
			out.tail = b.key.appendAll(out.tail, h)
		}
		bytes := listBytes * int64(len(out.tail)-before)
		out.grow()
		b.reserved += bytes
		return b.run.meter.reserve(bytes)
	})
	if err == nil {
		err = b.run.meter.err
	}
	if err != nil {
		return graph.Null, false, err
	}
	v, err := b.run.list(&out)
	return v, true, err
}
