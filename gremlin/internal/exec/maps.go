package exec

import (
	"strings"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// mapOperator builds unfold() and the operators with at most one result per row.
func (r *run) mapOperator(s plan.Step, next op) (op, error) {
	switch s := s.(type) {
	case *plan.Constant:
		return r.valueMapper(s, next, func(graph.Value) (graph.Value, error) { return s.Value, nil }), nil
	case *plan.Unfold:
		return r.flatMapper(s, next, unfold), nil
	case *plan.PathOf:
		return r.pathStep(s, next)
	case *plan.Project:
		return r.projectOp(s, next)
	case *plan.Select:
		return r.selectOp(s, next)
	case *plan.SelectBy:
		return r.selectBy(s, next)
	case *plan.SelectColumn:
		return r.newMapOp(s, next, func(in *batch, i int) (graph.Value, bool, error) {
			return column(in.value(i), s.Values)
		}), nil
	case *plan.WhereStart:
		return r.whereStart(s, next), nil
	case *plan.Math:
		return r.mathOp(s, next)
	case *plan.Format:
		return r.formatOp(s, next)
	case *plan.SackOf:
		return r.newMapOp(s, next, func(in *batch, i int) (graph.Value, bool, error) {
			if in.sack == nil {
				return graph.Null, true, nil
			}
			return in.sack[i], true, nil
		}), nil
	case *plan.SackPut:
		return r.sackPut(s, next)
	case *plan.Loops:
		return r.loopsOp(s, next)
	case *plan.Call:
		return r.callOp(s, next)
	}
	return r.localMappers(s, next)
}

// projectOp builds a map of the values of its by() modulators; it omits those without a value.
func (r *run) projectOp(s *plan.Project, next op) (op, error) {
	bys, err := r.projectors(s.Bys)
	if err != nil {
		return nil, err
	}
	names := make([]graph.Value, len(s.Keys))
	for i, k := range s.Keys {
		names[i] = graph.String(k)
	}
	return r.newMapOp(s, next, func(in *batch, i int) (graph.Value, bool, error) {
		es := make([]graph.Entry, 0, len(names))
		for k, name := range names {
			v, ok, err := bys[k%len(bys)].row(in, i)
			if err != nil {
				return graph.Null, false, err
			}
			if ok {
				es = append(es, graph.Entry{Key: name, Value: v})
			}
		}
		return graph.Map(es...), true, nil
	}), nil
}

// formatOp fills in a template.
func (r *run) formatOp(s *plan.Format, next op) (op, error) {
	bys, err := r.projectors(s.Bys)
	if err != nil {
		return nil, err
	}
	pieces := plan.Pieces(s.Template)
	keys := map[string]*keyBy{}
	for _, p := range pieces {
		if !p.Last && p.Var != "_" {
			keys[p.Var] = r.keyOf(p.Var)
		}
	}
	return r.newMapOp(s, next, func(in *batch, i int) (graph.Value, bool, error) {
		var b strings.Builder
		nextBy := 0
		write := func(text string) error { // checks the length before it copies the text
			if err := r.checkLength(int64(b.Len() + len(text))); err != nil {
				return err
			}
			b.WriteString(text)
			return r.meter.spend(len(text) / 64)
		}
		for _, p := range pieces {
			if err := write(p.Text); err != nil {
				return graph.Null, false, err
			}
			if p.Last {
				break
			}
			var v graph.Value
			var ok bool
			var err error
			if p.Var == "_" {
				v, ok, err = bys[nextBy%len(bys)].row(in, i)
				nextBy++
			} else {
				v, ok, err = r.formatVar(in, i, p.Var, keys[p.Var])
			}
			if err != nil || !ok || v.IsNull() {
				return graph.Null, false, err
			}
			t, err := r.text(v)
			if err != nil {
				return graph.Null, false, err
			}
			if err := write(t); err != nil {
				return graph.Null, false, err
			}
		}
		return graph.String(b.String()), true, nil
	}), nil
}

// formatVar returns the value of a template variable: a property of the object or, if there is
// none, what lookupLabel finds.
func (r *run) formatVar(in *batch, i int, name string, key *keyBy) (graph.Value, bool, error) {
	switch v := in.value(i); v.Kind() {
	case graph.KindVertex, graph.KindEdge, graph.KindVertexProperty:
		if w, ok, err := key.project(v); ok || err != nil {
			return w, ok, err
		}
	}
	return r.lookupLabel(in, i, name, plan.PopLast)
}

// sackOp updates the sack.
type sackOp struct {
	base
	op plan.Operator
	by projector
}

func (r *run) sackPut(s *plan.SackPut, next op) (op, error) {
	by, err := r.projector(s.By)
	return &sackOp{base: base{run: r, next: next}, op: s.Op, by: by}, err
}

func (o *sackOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	b.sack = fill(b.sack, n, graph.Null)
	passed := 0
	for i := range n {
		v, ok, err := o.by.row(b, i)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if b.sack[i], err = o.run.operate(o.op, b.sack[i], v); err != nil {
			return err
		}
		bytes, err := o.run.sizeOf(b.sack[i])
		if err != nil {
			return err
		}
		if err := o.reserve(bytes); err != nil {
			return err
		}
		b.move(i, passed)
		passed++
	}
	b.cut(passed)
	err := o.pass(b)
	o.base.reset() // operators that store sacks reserve memory for them
	return err
}

// loopsOp emits the iteration count of the enclosing repeat.
func (r *run) loopsOp(s *plan.Loops, next op) (op, error) {
	var loop *repeatOp
	for i := len(r.loops) - 1; i >= 0 && loop == nil; i-- {
		if s.Loop == "" || r.loops[i].step.Loop == s.Loop {
			loop = r.loops[i]
		}
	}
	if loop == nil && s.Loop != "" {
		return nil, value.Errorf("Loop name not defined: %s", s.Loop)
	}
	return r.valueMapper(s, next, func(graph.Value) (graph.Value, error) {
		if loop == nil {
			return graph.Int(0), nil
		}
		return graph.Int(loop.round), nil
	}), nil
}
