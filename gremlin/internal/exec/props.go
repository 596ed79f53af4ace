package exec

import (
	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// propertiesOp emits the properties of elements, or their values.
type propertiesOp struct {
	output
	values   bool
	onlyKeys bool // emit only the properties with one of keys, which may be empty
	keys     []graph.Key
	filter   *child
	single   *keyBy // the key, if the step is values(key) with a single key
}

func (r *run) propertiesOp(s *plan.Properties, next op) (op, error) {
	o := &propertiesOp{output: r.output(s, next), values: s.Values, onlyKeys: s.Some, keys: r.keys(s.Keys)}
	var err error
	if s.Filter != nil {
		o.filter, err = r.newChild(s.Filter)
	} else if s.Values && len(s.Keys) == 1 {
		o.single = r.keyOf(s.Keys[0])
	}
	return o, err
}

// keys returns the keys that exist in the graph.
func (r *run) keys(names []string) []graph.Key {
	var out []graph.Key
	for _, name := range names {
		if k, ok := r.g.KeyByName(name); ok {
			out = append(out, k)
		}
	}
	return out
}

func (o *propertiesOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	if o.single != nil && b.kind == graph.KindVertex {
		return o.pushSingleKey(b)
	}
	for i := range n {
		err := o.run.eachProperty(b.value(i), o.keys, o.onlyKeys, func(p graph.Value) error {
			if o.filter != nil && p.Kind() == graph.KindVertexProperty {
				if _, ok, err := o.filter.firstOf(p); err != nil || !ok {
					return err
				}
			}
			if o.values {
				_, p = o.run.Property(p)
			}
			return o.emit(b, i, p)
		})
		if err != nil {
			return err
		}
	}
	return o.flush()
}

// pushSingleKey is the fast path for the values of a single key of vertices.
func (o *propertiesOp) pushSingleKey(b *batch) error {
	if !o.single.known {
		return nil
	}
	g := o.run.g
	for i, h := range b.ids {
		l, row := g.VertexRow(h)
		c := o.single.cols[l]
		if c == nil {
			continue
		}
		if v, ok := c.At(row); ok {
			if err := o.emit(b, i, v); err != nil {
				return err
			}
		}
		if !c.HasMany() {
			continue
		}
		for k := 1; k < c.Count(row); k++ {
			if err := o.emit(b, i, c.Nth(row, k)); err != nil {
				return err
			}
		}
	}
	return o.flush()
}

// eachProperty calls fn for the properties of an element, either all or those with the given keys.
func (r *run) eachProperty(v graph.Value, keys []graph.Key, onlyKeys bool, fn func(graph.Value) error) error {
	g := r.g
	switch v.Kind() {
	case graph.KindVertex:
		h := v.Handle()
		if !onlyKeys {
			keys = g.VertexKeysOf(g.VertexLabel(h))
		}
		for _, k := range keys {
			for i := range g.VertexPropertyCount(h, k) {
				if err := fn(graph.VertexPropertyOf(h, k, i)); err != nil {
					return err
				}
			}
		}
		return nil
	case graph.KindEdge:
		h := v.Handle()
		if !onlyKeys {
			keys = g.EdgeKeysOf(g.EdgeLabel(h))
		}
		for _, k := range keys {
			if _, ok := g.EdgeValue(h, k); ok {
				if err := fn(graph.EdgePropertyOf(h, k)); err != nil {
					return err
				}
			}
		}
		return nil
	case graph.KindVertexProperty:
		return r.eachMeta(v, keys, onlyKeys, fn)
	}
	return notElement(v)
}

// isElement reports whether v is a vertex, an edge or a vertex property.
func isElement(v graph.Value) bool {
	k := v.Kind()
	return k == graph.KindVertex || k == graph.KindEdge || k == graph.KindVertexProperty
}

func notElement(v graph.Value) error {
	return value.Errorf("%s cannot be cast to Element", value.ClassName(v))
}

// eachMeta is eachProperty for a vertex property, whose properties are meta-properties.
func (r *run) eachMeta(v graph.Value, keys []graph.Key, onlyKeys bool, fn func(graph.Value) error) error {
	p := v.Property()
	metas := r.g.MetaProperties(p.Owner, p.Key, p.Index)
	emit := func(m int) error { return fn(graph.MetaPropertyOf(p.Owner, p.Key, p.Index, m)) }
	if !onlyKeys {
		for m := range metas {
			if err := emit(m); err != nil {
				return err
			}
		}
		return nil
	}
	for _, k := range keys {
		for m := range metas {
			if metas[m].Key != k {
				continue
			}
			if err := emit(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// mapBuilder collects the entries of a map in order.
type mapBuilder struct {
	entries []graph.Entry
	keys    value.Keys // keys of entries, when there are more than fewEntries
}

// fewEntries is the number of entries up to which a linear search is used.
const fewEntries = 8

// find returns the index of a key, or -1.
func (m *mapBuilder) find(k graph.Value) int {
	if len(m.entries) > fewEntries {
		return m.keys.Find(k)
	}
	for i := range m.entries {
		if equal(m.entries[i].Key, k) {
			return i
		}
	}
	return -1
}

func (m *mapBuilder) put(k, v graph.Value) {
	if i := m.find(k); i >= 0 {
		m.entries[i].Value = v
		return
	}
	m.entries = append(m.entries, graph.Entry{Key: k, Value: v})
	switch n := len(m.entries); {
	case n == fewEntries+1:
		for _, e := range m.entries {
			m.keys.Put(e.Key)
		}
	case n > fewEntries+1:
		m.keys.Put(k)
	}
}

func (m *mapBuilder) value() graph.Value { return graph.Map(m.entries...) }

func tokenValue(t value.Token) graph.Value { return graph.Opaque(t) }

// propertyMap makes maps of the properties of elements.
func (r *run) propertyMap(s *plan.PropertyMap, next op) (op, error) {
	keys := r.keys(s.Keys)
	by, err := r.projector(s.By)
	if err != nil {
		return nil, err
	}
	var filter *child
	if s.Filter != nil {
		if filter, err = r.newChild(s.Filter); err != nil {
			return nil, err
		}
	}
	return r.valueMapper(s, next, func(v graph.Value) (graph.Value, error) {
		if !isElement(v) {
			return graph.Null, notElement(v)
		}
		var m mapBuilder
		if s.Mode == plan.ElementMap {
			r.elementTokens(&m, v)
		} else if s.Mode == plan.ValueMap {
			r.valueTokens(&m, v, s.Tokens)
		}
		lists := v.Kind() == graph.KindVertex && s.Mode != plan.ElementMap
		err := r.eachProperty(v, keys, s.Some, func(p graph.Value) error {
			if filter != nil && p.Kind() == graph.KindVertexProperty {
				if _, ok, err := filter.firstOf(p); err != nil || !ok {
					return err
				}
			}
			key, val := r.Property(p)
			if s.Mode == plan.PropertyMapOf {
				val = p
			}
			m.collect(graph.String(key), val, lists)
			return nil
		})
		if err != nil {
			return graph.Null, err
		}
		if s.By == nil {
			return m.value(), nil
		}
		return m.projectValue(by)
	}), nil
}

// collect adds a value under a key, in a list if there may be several.
func (m *mapBuilder) collect(k, v graph.Value, list bool) {
	if !list {
		m.put(k, v)
		return
	}
	i := m.find(k)
	if i < 0 {
		m.put(k, graph.List(v))
		return
	}
	old := m.entries[i].Value.Elems()
	m.entries[i].Value = graph.List(append(old[:len(old):len(old)], v)...)
}

// projectValue replaces each value by the value of a by(); it drops entries without a value.
func (m *mapBuilder) projectValue(by projector) (graph.Value, error) {
	var out mapBuilder
	for _, e := range m.entries {
		v, ok, err := by.project(e.Value)
		if err != nil {
			return graph.Null, err
		}
		if ok && !v.IsNull() {
			out.put(e.Key, v)
		}
	}
	return out.value(), nil
}

func (r *run) valueTokens(m *mapBuilder, v graph.Value, tokens int) {
	if tokens&plan.WithIDs != 0 {
		m.put(tokenValue(value.TokenID), r.ID(v))
	}
	if v.Kind() == graph.KindVertexProperty {
		key, val := r.VertexProperty(v)
		if tokens&plan.WithKeys != 0 {
			m.put(tokenValue(value.TokenKey), graph.String(key))
		}
		if tokens&plan.WithValues != 0 {
			m.put(tokenValue(value.TokenValue), val)
		}
	} else if tokens&plan.WithLabels != 0 {
		m.put(tokenValue(value.TokenLabel), graph.String(r.Label(v)))
	}
}

func (r *run) elementTokens(m *mapBuilder, v graph.Value) {
	m.put(tokenValue(value.TokenID), r.ID(v))
	if v.Kind() == graph.KindVertexProperty {
		key, val := r.VertexProperty(v)
		m.put(tokenValue(value.TokenKey), graph.String(key))
		m.put(tokenValue(value.TokenValue), val)
		return
	}
	m.put(tokenValue(value.TokenLabel), graph.String(r.Label(v)))
	if v.Kind() != graph.KindEdge {
		return
	}
	e := v.Handle()
	m.put(tokenValue(value.TokenIn), r.endMap(r.g.Target(e)))
	m.put(tokenValue(value.TokenOut), r.endMap(r.g.Source(e)))
}

// endMap returns the map of a vertex at the end of an edge: id and label.
func (r *run) endMap(h graph.Handle) graph.Value {
	var m mapBuilder
	v := graph.VertexOf(h)
	m.put(tokenValue(value.TokenID), r.ID(v))
	m.put(tokenValue(value.TokenLabel), graph.String(r.Label(v)))
	return m.value()
}
