package exec

import (
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// condTest tests conditions that must all hold. Vertices and edges are tested by
// their rows; what has to be known of the columns for that is gathered when it is
// first needed.
type condTest struct {
	run    *run
	conds  []*condition
	tables [2]*tableTest // of vertices and edges
}

// conds builds the test of conditions, or nil for none.
func (r *run) conds(conds []plan.Cond) *condTest {
	if len(conds) == 0 {
		return nil
	}
	t := &condTest{run: r}
	for _, c := range conds {
		t.conds = append(t.conds, r.cond(c))
	}
	return t
}

// tableTest holds, by label, what a row must satisfy.
type tableTest struct {
	labels []labelTest
	ids    []*condition // conditions on the id
}

type labelTest struct {
	ok    bool // an element with this label may satisfy the conditions
	tests []rowTest
	few   bool     // only some rows can satisfy them:
	rows  []uint32 // those that have a value at all
}

// narrow notes that rows without a value in a column need not be looked at.
func (t *labelTest) narrow(c *graph.Column) {
	rows, sparse := c.Rows()
	if sparse && (!t.few || len(rows) < len(t.rows)) {
		t.few, t.rows = true, rows
	}
}

// table returns the tests of vertices or edges.
func (t *condTest) table(kind graph.Kind) *tableTest {
	at := 0
	if kind == graph.KindEdge {
		at = 1
	}
	if t.tables[at] == nil {
		t.tables[at] = t.makeTable(kind)
	}
	return t.tables[at]
}

func (t *condTest) makeTable(kind graph.Kind) *tableTest {
	g := t.run.g
	names, column := g.VertexLabels(), g.VertexColumn
	if kind == graph.KindEdge {
		names, column = g.EdgeLabels(), g.EdgeColumn
	}
	out := &tableTest{labels: make([]labelTest, len(names))}
	for l, name := range names {
		lt := labelTest{ok: true}
		for _, c := range t.conds {
			switch c.part {
			case plan.PartLabel:
				lt.ok = lt.ok && c.pred.Test(t.run, graph.String(name))
			case plan.PartProperty:
				var col *graph.Column
				if c.known {
					col = column(graph.Label(l), c.key)
				}
				if lt.ok = lt.ok && col != nil; lt.ok {
					lt.tests = append(lt.tests, t.run.columnTest(col, c.pred, c.negate))
					if t.run.opt.Reading == Plain || !col.HasUnknown() {
						lt.narrow(col)
					}
				}
			case plan.PartKey, plan.PartValue:
				lt.ok = false // neither vertices nor edges have these
			}
		}
		out.labels[l] = lt
	}
	for _, c := range t.conds {
		if c.part == plan.PartID {
			out.ids = append(out.ids, c)
		}
	}
	return out
}

// row reports whether a row of a label satisfies the conditions on properties.
func (t *labelTest) row(row uint32) bool {
	for _, test := range t.tests {
		if !test(row) {
			return false
		}
	}
	return true
}

// handle reports whether a vertex or edge satisfies all conditions.
func (t *condTest) handle(kind graph.Kind, h graph.Handle) bool {
	tt := t.table(kind)
	l, row := t.run.g.VertexRow, uint32(0)
	if kind == graph.KindEdge {
		l = t.run.g.EdgeRow
	}
	label, row := l(h)
	lt := &tt.labels[label]
	if !lt.ok || !lt.row(row) {
		return false
	}
	return len(tt.ids) == 0 || t.idsOf(kind, h)
}

func (t *condTest) idsOf(kind graph.Kind, h graph.Handle) bool {
	v := graph.VertexOf(h)
	if kind == graph.KindEdge {
		v = graph.EdgeOf(h)
	}
	for _, c := range t.table(kind).ids {
		if !c.testID(t.run.ID(v)) {
			return false
		}
	}
	return true
}

// value reports whether any value satisfies the conditions.
func (t *condTest) value(v graph.Value) (bool, error) {
	if k := v.Kind(); k == graph.KindVertex || k == graph.KindEdge {
		return t.handle(k, v.Handle()), nil
	}
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

// test reports whether a property satisfies the condition.
func (c *condition) test(v graph.Value) (bool, error) {
	k := v.Kind()
	if k != graph.KindVertexProperty && k != graph.KindProperty {
		return false, value.Errorf("%s cannot be cast to Element", value.ClassName(v))
	}
	isElement := k == graph.KindVertexProperty
	switch c.part {
	case plan.PartID:
		return isElement && c.testID(c.run.ID(v)), nil
	case plan.PartLabel:
		return isElement && c.pred.Test(c.run, graph.String(c.run.Label(v))), nil
	case plan.PartKey:
		key, _ := c.run.Property(v)
		return c.pred.Test(c.run, graph.String(key)), nil
	case plan.PartValue:
		_, val := c.run.Property(v)
		return c.pred.Test(c.run, val), nil
	}
	if !isElement {
		return false, nil
	}
	val, ok := c.run.metaValue(v, c.key, c.known)
	return ok && (c.pred == nil || c.pred.Test(c.run, val)), nil
}

func (c *condition) testID(id graph.Value) bool {
	if c.asText && id.Kind() != graph.KindString {
		id = graph.String(value.Text(c.run, id))
	}
	return c.pred.Test(c.run, id)
}

// hasOp keeps elements that satisfy conditions, or those that do not.
type hasOp struct {
	base
	test *condTest
	want bool
}

func (r *run) hasOp(s *plan.Has, next op) op {
	return &hasOp{base: base{run: r, next: next}, test: r.conds(s.Conds), want: true}
}

// hasNotOp keeps elements without a property.
func (r *run) hasNotOp(s *plan.HasNot, next op) op {
	return &hasOp{base: base{run: r, next: next}, test: r.absence(s)}
}

// absence builds the test that must fail for a property not to be there.
func (r *run) absence(s *plan.HasNot) *condTest {
	r.negated = !r.negated
	t := r.conds([]plan.Cond{{Key: s.Key, Null: s.Null}})
	r.negated = !r.negated
	return t
}

func (o *hasOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	if b.kind != graph.KindNull && b.bulk == nil && b.path == nil && b.sack == nil && b.from == nil {
		o.handles(b)
		return o.pass(b)
	}
	kept := 0
	for i := range n {
		var ok bool
		var err error
		if b.kind != graph.KindNull {
			ok = o.test.handle(b.kind, b.ids[i])
		} else {
			ok, err = o.test.value(b.vals[i])
		}
		if err != nil {
			return err
		}
		if ok == o.want {
			b.move(i, kept)
			kept++
		}
	}
	b.cut(kept)
	return o.pass(b)
}

// handles filters a batch that has nothing but handles.
func (o *hasOp) handles(b *batch) {
	tt := o.test.table(b.kind)
	if b.kind == graph.KindVertex && len(tt.ids) == 0 {
		o.vertices(b, tt)
		return
	}
	place := o.run.g.VertexRow
	if b.kind == graph.KindEdge {
		place = o.run.g.EdgeRow
	}
	kept := 0
	for _, h := range b.ids {
		l, row := place(h)
		lt := &tt.labels[l]
		ok := lt.ok && lt.row(row) && (len(tt.ids) == 0 || o.test.idsOf(b.kind, h))
		if ok == o.want {
			b.ids[kept] = h
			kept++
		}
	}
	b.ids = b.ids[:kept]
}

// vertices filters vertices by their label and properties.
func (o *hasOp) vertices(b *batch, tt *tableTest) {
	g, kept := o.run.g, 0
	for _, h := range b.ids {
		l, row := g.VertexRow(h)
		lt := &tt.labels[l]
		if (lt.ok && lt.row(row)) == o.want {
			b.ids[kept] = h
			kept++
		}
	}
	b.ids = b.ids[:kept]
}
