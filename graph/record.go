package graph

// A Record is a vertex with its properties and outgoing edges: the unit in which
// graphs are loaded and changed.
type Record struct {
	ID         Value
	Label      string
	Properties []PropertyRecord
	Out        []EdgeRecord
}

// A PropertyRecord is one property of a vertex. Several records with the same
// key are the values of that key.
type PropertyRecord struct {
	Key string
	VertexProperty
	Unknown bool   // the value could not be read
	Reason  string // reason why it could not be read
}

// An EdgeRecord is an outgoing edge of the vertex that it is listed with.
type EdgeRecord struct {
	ID         Value // null when it has no given id
	Label      string
	To         Value
	Properties []Meta
}

// Add adds a vertex with its properties and edges. When it fails, a part of the
// vertex may have been added.
func (b *Builder) Add(r Record) error {
	v, err := b.AddVertex(r.ID, r.Label)
	if err != nil {
		return err
	}
	for i, p := range r.Properties {
		switch {
		case p.Unknown:
			err = b.SetUnknown(v, p.Key, p.Reason)
		case p.isPlain() && !isRepeated(r.Properties, i):
			err = b.SetProperty(v, p.Key, p.Value)
		default:
			err = b.AddProperty(v, p.Key, p.VertexProperty)
		}
		if err != nil {
			return err
		}
	}
	from := r.ID
	if from.IsNull() {
		from = b.vertices.id(v, &b.pool)
	}
	for _, e := range r.Out {
		if err := b.addEdgeRecord(from, e); err != nil {
			return err
		}
	}
	return nil
}

func (b *Builder) addEdgeRecord(from Value, r EdgeRecord) error {
	e, err := b.AddEdge(r.ID, r.Label, from, r.To)
	if err != nil {
		return err
	}
	for _, p := range r.Properties {
		if err := b.SetEdgeProperty(e, p.Key, p.Value); err != nil {
			return err
		}
	}
	return nil
}

// isPlain reports whether the property has neither an id nor meta-properties.
func (p VertexProperty) isPlain() bool { return p.ID.IsNull() && len(p.Meta) == 0 }

// isRepeated reports whether an earlier property has the key of property i.
func isRepeated(ps []PropertyRecord, i int) bool {
	for _, p := range ps[:i] {
		if p.Key == ps[i].Key {
			return true
		}
	}
	return false
}

// Record returns a vertex with its properties and all outgoing edges, including
// hidden ones. Ids that the graph computes instead of storing are null.
func (g *Graph) Record(v Handle) Record {
	return g.record(v, g.hiddenFrom(v))
}

// hiddenFrom returns the hidden edges from v.
func (g *Graph) hiddenFrom(v Handle) []Handle {
	var es []Handle
	for _, e := range g.hidden {
		if g.src.items[e] == v {
			es = append(es, e)
		}
	}
	return es
}

func (g *Graph) record(v Handle, hidden []Handle) Record {
	p := g.vertices.positions.items[v]
	r := Record{ID: g.VertexID(v), Label: g.vertexLabels.names[p.label]}
	for _, k := range g.VertexKeysOf(p.label) {
		r.Properties = g.appendProperties(r.Properties, g.VertexColumn(p.label, k), k, p.row)
	}
	visible, _ := g.Incident(v, Out)
	for _, es := range [2][]Handle{visible, hidden} {
		for _, e := range es {
			r.Out = append(r.Out, g.edgeRecord(e))
		}
	}
	return r
}

func (g *Graph) appendProperties(ps []PropertyRecord, c *Column, k Key, row uint32) []PropertyRecord {
	name := g.keys.names[k]
	if reason, ok := c.Unknown(row); ok {
		return append(ps, PropertyRecord{Key: name, Unknown: true, Reason: reason})
	}
	for i := range c.Count(row) {
		d := c.detail(row, i)
		vp := VertexProperty{ID: d.id, Value: c.Nth(row, i)}
		for _, m := range d.meta {
			vp.Meta = append(vp.Meta, Meta{g.keys.names[m.Key], m.Value})
		}
		ps = append(ps, PropertyRecord{Key: name, VertexProperty: vp})
	}
	return ps
}

func (g *Graph) edgeRecord(e Handle) EdgeRecord {
	p := g.edges.positions.items[e]
	r := EdgeRecord{Label: g.edgeLabels.names[p.label], To: g.VertexID(g.dst.items[e])}
	if g.edges.ids != nil {
		r.ID = g.EdgeID(e)
	}
	for _, k := range g.EdgeKeysOf(p.label) {
		if v, ok := g.EdgeColumn(p.label, k).At(p.row); ok {
			r.Properties = append(r.Properties, Meta{g.keys.names[k], v})
		}
	}
	return r
}
