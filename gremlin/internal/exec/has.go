package exec

import (
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// condTest tests a conjunction of conditions. Vertices and edges are tested by
// their rows; the tests of columns are built on first use.
type condTest struct {
	run    *run
	conds  []*condition
	tables [2]*tableTest // tests of vertices and of edges
}

// conds builds the test of conditions, or returns nil when there are none.
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

// tableTest holds the row tests by label; nil entries have not been built yet.
type tableTest struct {
	test   *condTest
	kind   graph.Kind
	labels []*labelTest
	ids    []*condition // conditions on the id
}

type labelTest struct {
	ok      bool // elements with this label may satisfy the conditions
	tests   []rowTest
	limited bool     // only the rows in rows can satisfy them
	rows    []uint32 // rows that have a value
}

// narrow restricts the test to the rows with a value in a column, if that is sparse.
func (t *labelTest) narrow(c *graph.Column) {
	rows, sparse := c.Rows()
	if sparse && (!t.limited || len(rows) < len(t.rows)) {
		t.limited, t.rows = true, rows
	}
}

// table returns the tests of vertices or edges.
func (t *condTest) table(kind graph.Kind) *tableTest {
	index := 0
	if kind == graph.KindEdge {
		index = 1
	}
	if t.tables[index] == nil {
		t.tables[index] = t.makeTable(kind)
	}
	return t.tables[index]
}

func (t *condTest) makeTable(kind graph.Kind) *tableTest {
	n := len(t.run.g.VertexLabels())
	if kind == graph.KindEdge {
		n = len(t.run.g.EdgeLabels())
	}
	out := &tableTest{test: t, kind: kind, labels: make([]*labelTest, n)}
	for _, c := range t.conds {
		if c.part == plan.PartID {
			out.ids = append(out.ids, c)
		}
	}
	return out
}

// label returns the test of the rows of a label.
func (t *tableTest) label(l graph.Label) *labelTest {
	if lt := t.labels[l]; lt != nil {
		return lt
	}
	return t.make(l)
}

func (t *tableTest) make(l graph.Label) *labelTest {
	lt := &labelTest{ok: t.mayMatch(l)}
	t.labels[l] = lt
	if !lt.ok {
		return lt
	}
	r := t.test.run
	for _, c := range t.test.conds {
		if c.part != plan.PartProperty {
			continue
		}
		col := t.column(l, c)
		lt.tests = append(lt.tests, r.columnTest(col, c.pred, c.negate))
		if r.opt.Reading == Plain || !col.HasUnknown() { // otherwise rows without a value may match
			lt.narrow(col)
		}
	}
	return lt
}

// mayMatch reports whether elements of a label can satisfy the conditions.
func (t *tableTest) mayMatch(l graph.Label) bool {
	names := t.test.run.g.VertexLabels()
	if t.kind == graph.KindEdge {
		names = t.test.run.g.EdgeLabels()
	}
	for _, c := range t.test.conds {
		switch c.part {
		case plan.PartLabel:
			if !c.pred.Test(t.test.run, graph.String(names[l])) {
				return false
			}
		case plan.PartProperty:
			if t.column(l, c) == nil {
				return false
			}
		case plan.PartKey, plan.PartValue:
			return false // neither vertices nor edges have these parts
		}
	}
	return true
}

// column returns the column of a condition, or nil.
func (t *tableTest) column(l graph.Label, c *condition) *graph.Column {
	if !c.known {
		return nil
	}
	if t.kind == graph.KindEdge {
		return t.test.run.g.EdgeColumn(l, c.key)
	}
	return t.test.run.g.VertexColumn(l, c.key)
}

// matchRow reports whether a row of a label satisfies the conditions on properties.
func (t *labelTest) matchRow(row uint32) bool {
	for _, test := range t.tests {
		if !test(row) {
			return false
		}
	}
	return true
}

// matchElement reports whether a vertex or edge satisfies all conditions.
func (t *condTest) matchElement(kind graph.Kind, h graph.Handle) bool {
	tt := t.table(kind)
	rowOf := t.run.g.VertexRow
	if kind == graph.KindEdge {
		rowOf = t.run.g.EdgeRow
	}
	label, row := rowOf(h)
	lt := tt.label(label)
	if !lt.ok || !lt.matchRow(row) {
		return false
	}
	return len(tt.ids) == 0 || t.matchIDs(kind, h)
}

func (t *condTest) matchIDs(kind graph.Kind, h graph.Handle) bool {
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

// matchValue reports whether v, which may be of any kind, satisfies the conditions.
func (t *condTest) matchValue(v graph.Value) (bool, error) {
	if k := v.Kind(); k == graph.KindVertex || k == graph.KindEdge {
		return t.matchElement(k, v.Handle()), nil
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
	asText bool // compare ids as text
	negate bool // invert the treatment of unknown values
}

func (r *run) cond(c plan.Cond) *condition {
	out := &condition{run: r, part: c.Part, pred: c.Pred, negate: r.negated}
	if c.Part == plan.PartProperty && !c.Null {
		out.key, out.known = r.g.KeyByName(c.Key)
	}
	if c.Part == plan.PartID {
		out.pred = r.idPred(c.Pred)
		out.asText = comparesStrings(out.pred)
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

// comparesStrings reports whether a predicate compares only with strings. Ids of other
// types are then compared as text.
func comparesStrings(p *plan.Pred) bool {
	if len(p.Args) > 0 {
		return false
	}
	if p.Op == plan.Within || p.Op == plan.Without {
		isOther := func(v graph.Value) bool { return !v.IsNull() && v.Kind() != graph.KindString }
		return len(p.Values) > 0 && !slices.ContainsFunc(p.Values, isOther)
	}
	isText := p.Op > plan.TypeOf // text predicates come after typeOf(); connectives are excluded above
	return isText || p.Value.Kind() == graph.KindString
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

// absence builds the test that a property exists, for a hasNot(): the elements that fail it are
// kept. Therefore the Reading of unknown values is inverted.
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
		o.filterHandles(b)
		return o.pass(b)
	}
	passed := 0
	for i := range n {
		var ok bool
		var err error
		if b.kind != graph.KindNull {
			ok = o.test.matchElement(b.kind, b.ids[i])
		} else {
			ok, err = o.test.matchValue(b.vals[i])
		}
		if err != nil {
			return err
		}
		if ok == o.want {
			b.move(i, passed)
			passed++
		}
	}
	b.cut(passed)
	return o.pass(b)
}

// filterHandles filters a batch that has only handles.
func (o *hasOp) filterHandles(b *batch) {
	tt := o.test.table(b.kind)
	if b.kind == graph.KindVertex && len(tt.ids) == 0 {
		o.filterVertices(b, tt)
		return
	}
	rowOf := o.run.g.VertexRow
	if b.kind == graph.KindEdge {
		rowOf = o.run.g.EdgeRow
	}
	passed := 0
	for _, h := range b.ids {
		l, row := rowOf(h)
		lt := tt.label(l)
		ok := lt.ok && lt.matchRow(row) && (len(tt.ids) == 0 || o.test.matchIDs(b.kind, h))
		if ok == o.want {
			b.ids[passed] = h
			passed++
		}
	}
	b.ids = b.ids[:passed]
}

// filterVertices filters vertices by their label and properties.
func (o *hasOp) filterVertices(b *batch, tt *tableTest) {
	g, passed := o.run.g, 0
	for _, h := range b.ids {
		l, row := g.VertexRow(h)
		lt := tt.label(l)
		if (lt.ok && lt.matchRow(row)) == o.want {
			b.ids[passed] = h
			passed++
		}
	}
	b.ids = b.ids[:passed]
}
