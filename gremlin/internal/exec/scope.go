package exec

import (
	"regexp"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// lookupLabel resolves a name for a row, in this order: a key of a map, a side
// effect, a labelled object of the path.
func (r *run) lookupLabel(in *batch, i int, name string, pop plan.Pop) (graph.Value, bool, error) {
	return r.scopedKey(in, i, graph.String(name), pop)
}

// scopedKey is lookupLabel for a key of any kind. A key that is not a string can only be a key
// of a map.
func (r *run) scopedKey(in *batch, i int, key graph.Value, pop plan.Pop) (graph.Value, bool, error) {
	if in.kind == graph.KindNull { // the batch holds values, which may be maps
		if es, ok := value.Entries(in.vals[i]); ok {
			for _, e := range es {
				if equal(e.Key, key) {
					return e.Value, true, nil
				}
			}
		}
	}
	if key.Kind() != graph.KindString {
		return graph.Null, false, nil
	}
	name := key.Str()
	if r.sideEffects.has(name) {
		v, err := r.sideEffects.value(name)
		return v, true, err
	}
	v, ok := in.pathOf(i).get(name, pop)
	return v, ok, nil
}

// mustScope is lookupLabel for names that must exist.
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
			return bys[len(bys)-1].project(v) // a later by() replaces the earlier ones
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
		v, ok, err := r.scopedKey(in, i, k, s.Pop)
		if err != nil || !ok || v.IsNull() {
			return v, ok, err
		}
		v, ok, err = by.project(v)
		if !ok {
			v = graph.Null // unlike selectOp, which drops the row
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
		nextBy := 0
		by := func() projector { // the modulators are used in turn
			nextBy++
			return bys[(nextBy-1)%len(bys)]
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
		bound, isBound, err := r.bindPred(s.Pred, in, i, by)
		if err != nil || !ok || !isBound {
			return false, err
		}
		if err := r.visitParts(localValue); err != nil {
			return false, err
		}
		return bound.Test(r, localValue), nil
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
	switch q.Op {
	case plan.Within, plan.Without:
		q.Set, ok = value.As[*value.BulkSet](v)
		if !ok {
			q.Values, ok = value.Elems(v)
			if !ok {
				q.Values = []graph.Value{v}
			}
		}
	case plan.TypeOf, plan.StartingWith, plan.EndingWith, plan.Containing, plan.Regex:
		if err := r.bindText(&q, v); err != nil {
			return nil, false, err
		}
	default:
		if err := r.visitParts(v); err != nil {
			return nil, false, err
		}
	}
	return &q, true, nil
}

// bindText replaces the operand of a text predicate or of typeOf, which is the name of a
// label, by the label's value. A value that cannot be an operand is an error: if it made the
// predicate false, it would make the negated predicate true.
func (r *run) bindText(p *plan.Pred, v graph.Value) error {
	if v.Kind() != graph.KindString {
		return value.Errorf("%s() can only take string as argument, encountered %s", p.Name(), value.ClassName(v))
	}
	p.Text = v.Str()
	switch p.Op {
	case plan.TypeOf:
		t, ok := value.TypeName(p.Text)
		if !ok {
			return value.Errorf("%s is not a registered type", p.Text)
		}
		p.Text = t
	case plan.Regex:
		re, err := r.compileRegex(p.Text)
		if err != nil {
			return err
		}
		p.Re = re
	}
	return nil
}

// The cost of compiling one byte of a regular expression: units of work for an ordinary one,
// memory for the worst, which consists of counted repetitions.
const (
	regexWork  = 16
	regexBytes = 64 << 10
)

// compileRegex compiles a regular expression that a label refers to. The parser checks the
// length of those in the text of the query.
func (r *run) compileRegex(text string) (*regexp.Regexp, error) {
	if limit := r.meter.limits.Regex; limit > 0 && int64(len(text)) > limit {
		return nil, &LimitError{Name: "regex", Allowed: limit}
	}
	if err := r.meter.checkSize(regexBytes * int64(len(text))); err != nil {
		return nil, err
	}
	if err := r.meter.spend(regexWork * len(text)); err != nil {
		return nil, err
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, value.Errorf("regex(): %v", err)
	}
	return re, nil
}

// whereStart starts a where() traversal at a label. It sets the target with which whereEnd compares
// the results. One target is enough, because the traversal runs for one row at a time.
func (r *run) whereStart(s *plan.WhereStart, next op) op {
	target := r.whereEnds[len(r.whereEnds)-1]
	return r.newMapOp(s, next, func(in *batch, i int) (graph.Value, bool, error) {
		if target.label != "" {
			v, err := r.mustScope(in, i, target.label)
			if err != nil {
				return graph.Null, false, err
			}
			target.want = v
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
	target := r.whereEnds[len(r.whereEnds)-1]
	return r.newFilterOp(next, func(in *batch, i int) (bool, error) {
		return equal(in.value(i), target.want), nil
	})
}
