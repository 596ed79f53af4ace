package graph

// VertexColumn returns the column of a key for the vertices of a label, or nil
// when no such vertex has the key.
func (g *Graph) VertexColumn(l Label, k Key) *Column { return g.vertices.table(l).column(k) }

// EdgeColumn returns the column of a key for the edges of a label, or nil.
func (g *Graph) EdgeColumn(l Label, k Key) *Column { return g.edges.table(l).column(k) }

// VertexColumns returns the columns of a key by vertex label, nil for labels
// without the key. It is for reading one key of many vertices.
func (g *Graph) VertexColumns(k Key) []*Column { return columnsOf(g.vertices.tables, k) }

// EdgeColumns returns the columns of a key by edge label.
func (g *Graph) EdgeColumns(k Key) []*Column { return columnsOf(g.edges.tables, k) }

func columnsOf(tables []*table, k Key) []*Column {
	cols := make([]*Column, len(tables))
	for i, t := range tables {
		cols[i] = t.column(k)
	}
	return cols
}

// VertexKeysOf returns the keys that vertices of a label may have, in the order
// in which the graph first saw them.
func (g *Graph) VertexKeysOf(l Label) []Key {
	if t := g.vertices.table(l); t != nil {
		return t.keys
	}
	return nil
}

// EdgeKeysOf returns the keys that edges of a label may have.
func (g *Graph) EdgeKeysOf(l Label) []Key {
	if t := g.edges.table(l); t != nil {
		return t.keys
	}
	return nil
}

// VertexValue returns the first value of a key of a vertex.
func (g *Graph) VertexValue(v Handle, k Key) (Value, bool) {
	p := g.vertices.positions.items[v]
	if c := g.vertices.table(p.label).column(k); c != nil {
		return c.At(p.row)
	}
	return Value{}, false
}

// EdgeValue returns the value of a key of an edge.
func (g *Graph) EdgeValue(e Handle, k Key) (Value, bool) {
	p := g.edges.positions.items[e]
	if c := g.edges.table(p.label).column(k); c != nil {
		return c.At(p.row)
	}
	return Value{}, false
}

// VertexUnknown returns the reason if the value of a key of a vertex is unknown.
func (g *Graph) VertexUnknown(v Handle, k Key) (reason string, ok bool) {
	p := g.vertices.positions.items[v]
	if c := g.vertices.table(p.label).column(k); c != nil {
		return c.Unknown(p.row)
	}
	return "", false
}

// HasUnknown reports whether some vertex or edge has an unknown value under a
// key.
func (g *Graph) HasUnknown(k Key) bool {
	for _, ts := range [2][]*table{g.vertices.tables, g.edges.tables} {
		for _, t := range ts {
			if c := t.column(k); c != nil && c.HasUnknown() {
				return true
			}
		}
	}
	return false
}

// VertexPropertyCount returns the number of values of a key of a vertex.
func (g *Graph) VertexPropertyCount(v Handle, k Key) int {
	p := g.vertices.positions.items[v]
	if c := g.vertices.table(p.label).column(k); c != nil {
		return c.Count(p.row)
	}
	return 0
}

// VertexPropertyValue returns the i-th value of a key of a vertex. The vertex must have it.
func (g *Graph) VertexPropertyValue(v Handle, k Key, i int) Value {
	p := g.vertices.positions.items[v]
	return g.vertices.table(p.label).column(k).Nth(p.row, i)
}

// VertexPropertyID returns the id of the i-th value of a key of a vertex. A
// generated id may change with a patch, and may equal an id that was given to another
// value.
func (g *Graph) VertexPropertyID(v Handle, k Key, i int) Value {
	p := g.vertices.positions.items[v]
	if id := g.vertices.table(p.label).column(k).detail(p.row, i).id; !id.IsNull() {
		return id
	}
	// Only the first value of a key may lack a stored id: the builder generates negative ids
	// for the others. Keys have fewer than 31 bits, so that this number is unique by vertex
	// and key.
	return Long(int64(v)<<31 | int64(k))
}

// MetaProperties returns the meta-properties of the i-th value of a key of a vertex.
func (g *Graph) MetaProperties(v Handle, k Key, i int) []Property {
	p := g.vertices.positions.items[v]
	return g.vertices.table(p.label).column(k).detail(p.row, i).meta
}
