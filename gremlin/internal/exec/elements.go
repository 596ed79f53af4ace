package exec

import (
	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// ID returns the id of a vertex, edge or vertex property.
func (r *run) ID(v graph.Value) graph.Value {
	switch v.Kind() {
	case graph.KindVertex:
		return r.g.VertexID(v.Handle())
	case graph.KindEdge:
		return r.g.EdgeID(v.Handle())
	case graph.KindVertexProperty:
		p := v.Property()
		return r.g.VertexPropertyID(p.Owner, p.Key, p.Index)
	}
	return graph.Null
}

// Label returns the label of an element. That of a vertex property is its key.
func (r *run) Label(v graph.Value) string {
	switch v.Kind() {
	case graph.KindVertex:
		return r.g.VertexLabels()[r.g.VertexLabel(v.Handle())]
	case graph.KindEdge:
		return r.g.EdgeLabels()[r.g.EdgeLabel(v.Handle())]
	}
	return r.g.Keys()[v.Property().Key]
}

// Ends returns the ids of the source and target vertices of an edge.
func (r *run) Ends(v graph.Value) (out, in graph.Value) {
	e := v.Handle()
	return r.g.VertexID(r.g.Source(e)), r.g.VertexID(r.g.Target(e))
}

// VertexProperty returns key and value of a vertex property.
func (r *run) VertexProperty(v graph.Value) (string, graph.Value) {
	p := v.Property()
	return r.g.Keys()[p.Key], r.g.VertexPropertyValue(p.Owner, p.Key, p.Index)
}

// Property returns key and value of a property of any kind.
func (r *run) Property(v graph.Value) (string, graph.Value) {
	if v.Kind() == graph.KindVertexProperty {
		return r.VertexProperty(v)
	}
	p := v.Property()
	if p.Edge {
		val, _ := r.g.EdgeValue(p.Owner, p.Key)
		return r.g.Keys()[p.Key], val
	}
	m := r.g.MetaProperties(p.Owner, p.Key, p.Index)[p.Meta]
	return r.g.Keys()[m.Key], m.Value
}

// canonical returns the representative of the values that equal v. Edge properties
// and meta-properties are equal if key and value are, regardless of their
// owners; the first of them is the representative.
func (r *run) canonical(v graph.Value) graph.Value {
	if v.Kind() != graph.KindProperty {
		return v
	}
	key, val := r.Property(v)
	i, fresh := r.pairs.Put(graph.EntryOf(graph.Entry{Key: graph.String(key), Value: val}))
	if fresh {
		r.firsts = append(r.firsts, v)
	}
	return r.firsts[i]
}

// part returns a part of an element, property or map entry.
func (r *run) part(v graph.Value, part plan.Part) (graph.Value, bool, error) {
	k := v.Kind()
	isElement := isElement(v)
	isProperty := k == graph.KindVertexProperty || k == graph.KindProperty
	switch {
	case part == plan.PartID && isElement:
		return r.ID(v), true, nil
	case part == plan.PartLabel && isElement:
		return graph.String(r.Label(v)), true, nil
	case part == plan.PartKey && isProperty:
		key, _ := r.Property(v)
		return graph.String(key), true, nil
	case part == plan.PartValue && isProperty:
		_, val := r.Property(v)
		return val, true, nil
	case part == plan.PartKeys || part == plan.PartValues:
		return column(v, part == plan.PartValues)
	}
	return graph.Null, false, notElement(v)
}

// column returns the keys or the values of a map, map entry or path.
func column(v graph.Value, vals bool) (graph.Value, bool, error) {
	if v.Kind() == graph.KindEntry {
		if vals {
			return v.Entry().Value, true, nil
		}
		return v.Entry().Key, true, nil
	}
	if p, ok := value.As[*value.Path](v); ok {
		if vals {
			return graph.List(p.Objects...), true, nil
		}
		return pathLabels(p), true, nil
	}
	es, ok := value.Entries(v)
	if !ok {
		return graph.Null, false, value.Errorf("The provided object does not have accessible keys or values: %s", value.ClassName(v))
	}
	out := make([]graph.Value, len(es))
	for i, e := range es {
		out[i] = e.Key
		if vals {
			out[i] = e.Value
		}
	}
	if vals {
		return graph.List(out...), true, nil
	}
	return graph.Set(out...), true, nil
}

func pathLabels(p *value.Path) graph.Value {
	out := make([]graph.Value, len(p.Objects))
	for i := range out {
		ls := p.LabelsAt(i)
		set := make([]graph.Value, len(ls))
		for j, l := range ls {
			set[j] = graph.String(l)
		}
		out[i] = graph.Set(set...)
	}
	return graph.List(out...)
}

// partOf is the projector of by(T.id), by(label), by(keys).
type partOf struct {
	run  *run
	part plan.Part
}

func (p *partOf) row(in *batch, i int) (graph.Value, bool, error) { return p.project(in.value(i)) }

func (p *partOf) project(v graph.Value) (graph.Value, bool, error) { return p.run.part(v, p.part) }

// keyBy is the projector of by("key"): the value of a property or of a map.
type keyBy struct {
	run   *run
	name  string
	key   graph.Key
	known bool            // whether the graph has the key
	cols  []*graph.Column // by vertex label
}

func (r *run) keyOf(name string) *keyBy {
	p := &keyBy{run: r, name: name}
	p.key, p.known = r.g.KeyByName(name)
	if p.known {
		p.cols = r.g.VertexColumns(p.key)
	}
	return p
}

func (b *keyBy) row(in *batch, i int) (graph.Value, bool, error) {
	if in.kind == graph.KindVertex {
		v, ok := b.vertex(in.ids[i])
		return v, ok, nil
	}
	return b.project(in.value(i))
}

// vertex returns the first value of the key of a vertex.
func (b *keyBy) vertex(h graph.Handle) (graph.Value, bool) {
	if !b.known {
		return graph.Null, false
	}
	l, row := b.run.g.VertexRow(h)
	if c := b.cols[l]; c != nil {
		return c.At(row)
	}
	return graph.Null, false
}

// appendAll adds all values of the key of a vertex to a list.
func (b *keyBy) appendAll(out []graph.Value, h graph.Handle) []graph.Value {
	if !b.known {
		return out
	}
	l, row := b.run.g.VertexRow(h)
	c := b.cols[l]
	if c == nil {
		return out
	}
	if !c.HasMany() {
		if v, ok := c.At(row); ok {
			out = append(out, v)
		}
		return out
	}
	for i := range c.Count(row) {
		out = append(out, c.Nth(row, i))
	}
	return out
}

func (b *keyBy) project(v graph.Value) (graph.Value, bool, error) {
	switch v.Kind() {
	case graph.KindVertex:
		w, ok := b.vertex(v.Handle())
		return w, ok, nil
	case graph.KindEdge:
		if !b.known {
			return graph.Null, false, nil
		}
		w, ok := b.run.g.EdgeValue(v.Handle(), b.key)
		return w, ok, nil
	case graph.KindVertexProperty:
		w, ok := b.run.metaValue(v, b.key, b.known)
		return w, ok, nil
	case graph.KindNull:
		return graph.Null, false, nil
	}
	if es, ok := value.Entries(v); ok {
		for _, e := range es {
			if e.Key.Kind() == graph.KindString && e.Key.Str() == b.name {
				return e.Value, true, nil
			}
		}
		return graph.Null, true, nil // a missing key of a map yields null
	}
	return graph.Null, false, value.Errorf("The by(%q) modulator can only be applied to a traverser that is an Element or a Map - it is being applied to [%s] a %s instead",
		b.name, value.Text(b.run, v), value.ClassName(v))
}

// metaValue returns a property of a vertex property.
func (r *run) metaValue(v graph.Value, key graph.Key, known bool) (graph.Value, bool) {
	if !known {
		return graph.Null, false
	}
	p := v.Property()
	for _, m := range r.g.MetaProperties(p.Owner, p.Key, p.Index) {
		if m.Key == key {
			return m.Value, true
		}
	}
	return graph.Null, false
}

// Text formats a value of a graph as text.
func Text(g *graph.Graph, v graph.Value) string { return value.Text(&run{g: g}, v) }
