package exec

import (
	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// lookupLabel resolves a name for a row, in this order: a key of a map, a side
// effect, a labelled object of the path.
func (r *run) lookupLabel(in *batch, i int, name string, pop plan.Pop) (graph.Value, bool, error) {
	return r.scopedKey(in, i, graph.String(name), name, true, pop)
}

func (r *run) scopedKey(in *batch, i int, key graph.Value, name string, isName bool, pop plan.Pop) (graph.Value, bool, error) {
	if in.kind == graph.KindNull {
		if es, ok := value.Entries(in.vals[i]); ok {
			for _, e := range es {
				if equal(e.Key, key) {
					return e.Value, true, nil
				}
			}
		}
	}
	if !isName {
		return graph.Null, false, nil
	}
	if r.sideEffects.has(name) {
		v, err := r.sideEffects.value(name)
		return v, true, err
	}
	v, ok := in.pathOf(i).get(name, pop)
	return v, ok, nil
}

// mustScope is scoped for names that must exist.
func (r *run) mustScope(in *batch, i int, name string) (graph.Value, error) {
	v, ok, err := r.lookupLabel(in, i, name, plan.PopLast)
	if err == nil && !ok {
		err = value.Errorf("Neither the map, sideEffects, nor path has a %s-key", name)
	}
	return v, err
}

// selectOp emits the values of names.
func (r *run) selectOp(s *plan.Select, next op) (op, error) {
	bys, err := r.projectors(s.Bys)
	if err != nil {
		return nil, err
	}
	if s.One {
		return r.newMapOp(s, next, func(in *batch, i int) (graph.Value, bool, error) {
			v, ok, err := r.lookupLabel(in, i, s.Keys[0], s.Pop)
			if err != nil || !ok || v.IsNull() {
				return graph.Null, ok, err
			}
			return bys[len(bys)-1].project(v)
		}), nil
	}
	return r.newMapOp(s, next, func(in *batch, i int) (graph.Value, bool, error) {
		var m mapBuilder
		for k, name := range s.Keys {
			v, ok, err := r.lookupLabel(in, i, name, s.Pop)
			if err != nil || !ok {
				return graph.Null, false, err
			}
			v, ok, err = bys[k%len(bys)].project(v)
			if err != nil || !ok {
				return graph.Null, false, err
			}
			m.put(graph.String(name), v)
		}
		return m.value(), true, nil
	}), nil
}

// selectBy emits the value of the name that a traversal yields.
func (r *run) selectBy(s *plan.SelectBy, next op) (op, error) {
	key, err := r.newChild(s.Key)
	if err != nil {
		return nil, err
	}
	by, err := r.projector(s.By)
	if err != nil {
		return nil, err
	}
	return r.newMapOp(s, next, func(in *batch, i int) (graph.Value, bool, error) {
		k, ok, err := key.first(in, i)
		if err != nil || !ok {
			return graph.Null, false, err
		}
		isName := k.Kind() == graph.KindString
		name := ""
		if isName {
			name = k.Str()
		}
		v, ok, err := r.scopedKey(in, i, k, name, isName, s.Pop)
		if err != nil || !ok || v.IsNull() {
			return v, ok, err
		}
		v, ok, err = by.project(v)
		if !ok {
			v = graph.Null
		}
		return v, true, err
	}), nil
}

// wherePred compares the values of names.
func (r *run) wherePred(s *plan.WherePred, next op) (op, error) {
	bys, err := r.projectors(s.Bys)
	if err != nil {
		return nil, err
	}
	return r.newFilterOp(next, func(in *batch, i int) (bool, error) {
		ring := 0
		by := func() projector {
			ring++
			return bys[(ring-1)%len(bys)]
		}
		var localValue graph.Value
		var ok bool
		var err error
		if s.Start == "" {
			localValue, ok, err = by().row(in, i)
		} else {
			var v graph.Value
			v, err = r.mustScope(in, i, s.Start)
			if err == nil {
				localValue, ok, err = by().project(v)
			}
		}
		if err != nil {
			return false, err
		}
		bound, all, err := r.bindPred(s.Pred, in, i, by)
		if err != nil || !ok || !all {
			return false, err
		}
		return bound.Test(r, localValue), r.countVisit(localValue)
	}), nil
}

// bindPred replaces names in a predicate by their values. It returns false if a
// by() has no value for one of them.
func (r *run) bindPred(p *plan.Pred, in *batch, i int, by func() projector) (*plan.Pred, bool, error) {
	q := *p
	if len(p.Args) > 0 {
		q.Args = make([]*plan.Pred, len(p.Args))
		for k, a := range p.Args {
			b, ok, err := r.bindPred(a, in, i, by)
			if err != nil || !ok {
				return nil, false, err
			}
			q.Args[k] = b
		}
		return &q, true, nil
	}
	v, err := r.mustScope(in, i, p.Label())
	if err != nil {
		return nil, false, err
	}
	v, ok, err := by().project(v)
	if err != nil || !ok {
		return nil, false, err
	}
	q.Value, q.Keys = v, nil
	if q.Op == plan.Within || q.Op == plan.Without {
		q.Set, ok = value.As[*value.BulkSet](v)
		if !ok {
			q.Values, ok = value.Elems(v)
			if !ok {
				q.Values = []graph.Value{v}
			}
		}
	}
	if v.Kind() == graph.KindString {
		q.Text = v.Str()
	}
	return &q, true, nil
}

// whereStart starts a where() traversal at a label, and passes the target to its end.
func (r *run) whereStart(s *plan.WhereStart, next op) op {
	end := r.whereEnds[len(r.whereEnds)-1]
	return r.newMapOp(s, next, func(in *batch, i int) (graph.Value, bool, error) {
		if end.label != "" {
			v, err := r.mustScope(in, i, end.label)
			if err != nil {
				return graph.Null, false, err
			}
			end.want = v
		}
		if s.Label == "" {
			return in.value(i), true, nil
		}
		v, err := r.mustScope(in, i, s.Label)
		return v, true, err
	})
}

// whereTarget is the value that the result of a where() traversal must equal.
type whereTarget struct {
	label string
	want  graph.Value
}

func (r *run) whereEnd(s *plan.WhereEnd, next op) op {
	t := r.whereEnds[len(r.whereEnds)-1]
	return r.newFilterOp(next, func(in *batch, i int) (bool, error) {
		return equal(in.value(i), t.want), nil
	})
}
