package exec

import (
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// elementTest says whether an element satisfies conditions.
type elementTest interface {
	handle(kind graph.Kind, h graph.Handle) (bool, error)
	value(v graph.Value) (bool, error)
}

// conds builds the test of conditions that must all hold, or nil for none.
func (r *run) conds(conds []plan.Cond) (elementTest, error) {
	if len(conds) == 0 {
		return nil, nil
	}
	t := &condTest{run: r}
	for _, c := range conds {
		t.conds = append(t.conds, r.cond(c))
	}
	return t, nil
}

// condTest tests conditions one after the other.
type condTest struct {
	run   *run
	conds []*condition
}

func (t *condTest) handle(kind graph.Kind, h graph.Handle) (bool, error) {
	if kind == graph.KindVertex {
		return t.value(graph.VertexOf(h))
	}
	return t.value(graph.EdgeOf(h))
}

func (t *condTest) value(v graph.Value) (bool, error) {
	for _, c := range t.conds {
		ok, err := c.test(v)
		if !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// condition is one condition, bound to the graph.
type condition struct {
	run    *run
	part   plan.Part
	key    graph.Key
	known  bool // the graph has the key
	pred   *plan.Pred
	asText bool // ids are compared by their text
	negate bool // what the reading of unknown values makes of it is turned
}

func (r *run) cond(c plan.Cond) *condition {
	out := &condition{run: r, part: c.Part, pred: c.Pred, negate: r.negated}
	if c.Part == plan.PartProperty && !c.Null {
		out.key, out.known = r.g.KeyByName(c.Key)
	}
	if c.Part == plan.PartID {
		out.pred = r.idPred(c.Pred)
		out.asText = textIDs(out.pred)
	}
	return out
}

// idPred replaces elements in a predicate by their ids.
func (r *run) idPred(p *plan.Pred) *plan.Pred {
	q := *p
	q.Value = r.idValue(p.Value)
	q.Keys = nil
	q.Values = make([]graph.Value, len(p.Values))
	for i, v := range p.Values {
		q.Values[i] = r.idValue(v)
	}
	q.Args = make([]*plan.Pred, len(p.Args))
	for i, a := range p.Args {
		q.Args[i] = r.idPred(a)
	}
	return &q
}

func (r *run) idValue(v graph.Value) graph.Value {
	if k := v.Kind(); k == graph.KindVertex || k == graph.KindEdge {
		return r.ID(v)
	}
	return v
}

// textIDs reports whether a predicate compares with strings only: then ids of
// other types are compared by their text.
func textIDs(p *plan.Pred) bool {
	if len(p.Args) > 0 {
		return false
	}
	if p.Op == plan.Within || p.Op == plan.Without {
		text := func(v graph.Value) bool { return v.IsNull() || v.Kind() == graph.KindString }
		return len(p.Values) > 0 && !slices.ContainsFunc(p.Values, func(v graph.Value) bool { return !text(v) })
	}
	return p.Op > plan.Without || p.Value.Kind() == graph.KindString
}

// test reports whether v satisfies the condition.
func (c *condition) test(v graph.Value) (bool, error) {
	k := v.Kind()
	isElement := k == graph.KindVertex || k == graph.KindEdge || k == graph.KindVertexProperty
	isProperty := k == graph.KindVertexProperty || k == graph.KindProperty
	if !isElement && !isProperty {
		return false, value.Errorf("%s cannot be cast to Element", value.ClassName(v))
	}
	switch c.part {
	case plan.PartID:
		return isElement && c.testID(c.run.ID(v)), nil
	case plan.PartLabel:
		return isElement && c.pred.Test(c.run, graph.String(c.run.Label(v))), nil
	case plan.PartKey:
		if !isProperty {
			return false, nil
		}
		key, _ := c.run.Property(v)
		return c.pred.Test(c.run, graph.String(key)), nil
	case plan.PartValue:
		if !isProperty {
			return false, nil
		}
		_, val := c.run.Property(v)
		return c.pred.Test(c.run, val), nil
	}
	return isElement && c.testProperty(v), nil
}

func (c *condition) testID(id graph.Value) bool {
	if c.asText && id.Kind() != graph.KindString {
		id = graph.String(value.Text(c.run, id))
	}
	return c.pred.Test(c.run, id)
}

// testProperty reports whether some value of the key satisfies the predicate.
func (c *condition) testProperty(v graph.Value) bool {
	if !c.known {
		return false
	}
	g := c.run.g
	switch v.Kind() {
	case graph.KindVertex:
		return c.vertex(v.Handle())
	case graph.KindEdge:
		val, ok := g.EdgeValue(v.Handle(), c.key)
		return ok && c.holds(val)
	}
	val, ok := c.run.metaValue(v, c.key, true)
	return ok && c.holds(val)
}

func (c *condition) vertex(h graph.Handle) bool {
	g := c.run.g
	n := g.VertexPropertyCount(h, c.key)
	for i := range n {
		if c.holds(g.VertexPropertyValue(h, c.key, i)) {
			return true
		}
	}
	return n == 0 && c.run.unknown(h, c.key, c.negate)
}

func (c *condition) holds(v graph.Value) bool { return c.pred == nil || c.pred.Test(c.run, v) }

// unknown reports whether a condition on a value that is not there holds because
// the value is unknown and the reading says so.
func (r *run) unknown(h graph.Handle, k graph.Key, negated bool) bool {
	if r.opt.Reading == Plain {
		return false
	}
	if _, ok := r.g.VertexUnknown(h, k); !ok {
		return false
	}
	return (r.opt.Reading == Perhaps) != negated
}

// hasOp keeps elements that satisfy conditions.
func (r *run) hasOp(s *plan.Has, next op) (op, error) {
	t, err := r.conds(s.Conds)
	if err != nil {
		return nil, err
	}
	return r.filterer(next, func(in *batch, i int) (bool, error) {
		if in.kind != graph.KindNull {
			return t.handle(in.kind, in.ids[i])
		}
		return t.value(in.vals[i])
	}), nil
}

// hasNotOp keeps elements without a property.
func (r *run) hasNotOp(s *plan.HasNot, next op) op {
	c := r.cond(plan.Cond{Key: s.Key, Null: s.Null})
	c.negate = !c.negate
	return r.filterer(next, func(in *batch, i int) (bool, error) {
		ok, err := c.test(in.value(i))
		return !ok, err
	})
}
