package exec

import (
	"strconv"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// graphOp emits vertices or edges of the graph, once for each input row. At the
// start of a query the input is a single empty row.
type graphOp struct {
	output
	step *plan.Graph
	kind graph.Kind
	test *condTest
	rows int // size of the next batch, which starts small
}

func (r *run) graphOp(s *plan.Graph, next op) op {
	o := &graphOp{output: r.output(s, next), step: s, kind: graph.KindVertex, test: r.conds(s.Conds)}
	if s.Edges {
		o.kind = graph.KindEdge
	}
	if r.probes != nil {
		r.indexes = append(r.indexes, o.access().String())
	}
	return o
}

// firstRows is the size of the first batch. It is small so that a query with a
// small limit does little work.
const firstRows = 64

func (o *graphOp) push(b *batch) error {
	if o.b.len() == 0 {
		o.rows = min(firstRows, o.run.size)
	}
	for i := range b.len() {
		if err := o.each(func(hs []graph.Handle, rest *condTest) error { return o.offer(b, i, hs, rest) }); err != nil {
			return err
		}
	}
	return o.flush()
}

// offer emits, as results of row i, the elements that pass the test rest, or all if it is nil.
func (o *graphOp) offer(b *batch, i int, hs []graph.Handle, rest *condTest) error {
	simple := b.bulk == nil && b.path == nil && b.sack == nil && !o.extend
	for len(hs) > 0 {
		if simple {
			o.b.prepareHandles(o.kind, false)
		}
		n := min(len(hs), o.rows-o.b.len())
		if err := o.run.meter.spend(n); err != nil {
			return err
		}
		if simple && rest == nil {
			o.b.ids = append(o.b.ids, hs[:n]...)
		} else if err := o.pick(b, i, hs[:n], rest, simple); err != nil {
			return err
		}
		hs = hs[n:]
		if o.b.len() >= o.rows {
			if err := o.flush(); err != nil {
				return err
			}
			o.rows = min(2*o.rows, o.run.size)
		}
	}
	return nil
}

func (o *graphOp) pick(b *batch, i int, hs []graph.Handle, rest *condTest, simple bool) error {
	for _, h := range hs {
		if rest != nil && !rest.matchElement(o.kind, h) {
			continue
		}
		if simple {
			o.b.ids = append(o.b.ids, h)
			continue
		}
		if err := o.emitHandle(b, i, o.kind, h, graph.NoHandle); err != nil {
			return err
		}
	}
	return nil
}

// byIDs returns the elements with the ids, in the order of the ids.
func (r *run) byIDs(ids []graph.Value, kind graph.Kind) []graph.Handle {
	var out []graph.Handle
	for _, id := range ids {
		if h, ok := r.byID(id, kind); ok {
			out = append(out, h)
		}
	}
	return out
}

// byID finds an element by its id, by the text of its id, or by a reference.
func (r *run) byID(id graph.Value, kind graph.Kind) (graph.Handle, bool) {
	if id.Kind() == graph.KindVertex || id.Kind() == graph.KindEdge {
		return id.Handle(), id.Kind() == kind
	}
	find := r.g.VertexByID
	if kind == graph.KindEdge {
		find = r.g.EdgeByID
	}
	if h, ok := find(id); ok {
		return h, true
	}
	if id.Kind() == graph.KindString {
		if n, err := strconv.ParseInt(id.Str(), 10, 64); err == nil {
			return find(graph.Long(n))
		}
	}
	return 0, false
}

// injectOp emits values before its input or, at the start of a nested traversal,
// after its first input row.
type injectOp struct {
	output
	values     []graph.Value
	start      bool // the step is the source of the query: its input is not passed on
	afterFirst bool // emit the values after the first input row, not before it
	done       bool // the values were emitted
}

func (o *injectOp) inject() error {
	if o.done {
		return nil
	}
	o.done = true
	in := &batch{vals: []graph.Value{graph.Null}}
	if o.run.sackInit != nil {
		in.sack = []graph.Value{*o.run.sackInit}
		for _, v := range o.values {
			if err := o.emit(in, 0, v); err != nil {
				return err
			}
		}
		return o.flush()
	}
	// Merge equal values into one traverser.
	var set value.BulkSet
	for _, v := range o.values {
		if _, err := set.Add(v, 1); err != nil {
			return err
		}
	}
	for i := range set.Len() {
		v, n := set.At(i)
		in.bulk = nil
		if n > 1 && !o.run.root.NoBulk {
			in.bulk = []int64{n}
		}
		if err := o.emit(in, 0, v); err != nil {
			return err
		}
	}
	return o.flush()
}

func (o *injectOp) push(b *batch) error {
	if o.afterFirst {
		if err := o.passThrough(b); err != nil {
			return err
		}
		return o.inject()
	}
	if err := o.inject(); err != nil || o.start {
		return err
	}
	return o.passThrough(b)
}

// passThrough passes input rows on with the labels of the step.
func (o *injectOp) passThrough(b *batch) error {
	if o.extend && len(o.labels) > 0 {
		if err := o.run.label(b, o.labels); err != nil {
			return err
		}
	}
	return o.pass(b)
}

func (o *injectOp) finish() error { return o.inject() }

func (o *injectOp) reset() {
	o.done = false
	o.output.reset()
}

// unfold emits the items of a collection.
func unfold(o *output, in *batch, i int) error {
	v := in.value(i)
	if s, ok := value.As[*value.BulkSet](v); ok {
		return unfoldBulks(o, in, i, s)
	}
	if vs, ok := value.Elems(v); ok {
		return emitAll(o, in, i, vs)
	}
	if es, ok := value.Entries(v); ok {
		for _, e := range es {
			if err := o.emit(in, i, graph.EntryOf(e)); err != nil {
				return err
			}
		}
		return nil
	}
	if v.IsNull() {
		return value.Errorf("null cannot be unfolded")
	}
	return o.emit(in, i, v)
}

func emitAll(o *output, in *batch, i int, vs []graph.Value) error {
	if err := o.run.meter.spend(len(vs)); err != nil {
		return err
	}
	for _, v := range vs {
		if err := o.emit(in, i, v); err != nil {
			return err
		}
	}
	return nil
}

// unfoldBulks emits each value of a bulk set once, with its bulk.
func unfoldBulks(o *output, in *batch, i int, s *value.BulkSet) error {
	var row batch
	for j := range s.Len() {
		v, n := s.At(j)
		bulk, err := mulBulk(n, in.count(i))
		if err != nil {
			return err
		}
		row.clear()
		row.appendRow(in, i)
		row.setBulk(bulk)
		if err := o.emit(&row, 0, v); err != nil {
			return err
		}
	}
	return nil
}
