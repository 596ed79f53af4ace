package graph

// elementLists holds lists of elements that are computed on first use.
type elementLists struct {
	vertices lazy[[]Handle]
	edges    lazy[[]Handle]
	vertexOf []lazy[[]Handle] // by label
	edgeOf   []lazy[[]Handle]
}

func newLists(vertexLabels, edgeLabels int) elementLists {
	return elementLists{vertexOf: make([]lazy[[]Handle], vertexLabels), edgeOf: make([]lazy[[]Handle], edgeLabels)}
}

// Vertices returns all vertices in ascending order of handle, which is the order
// in which the builder first saw their ids.
func (g *Graph) Vertices() []Handle {
	return g.lists.vertices.get(func() []Handle {
		return present(len(g.vertices.positions.items), g.vertices.live, g.HasVertex)
	})
}

// Edges returns all visible edges in ascending order of handle.
func (g *Graph) Edges() []Handle {
	return g.lists.edges.get(func() []Handle {
		return present(len(g.edges.positions.items), g.NumEdges(), g.HasEdge)
	})
}

func present(limit, size int, include func(Handle) bool) []Handle {
	hs := make([]Handle, 0, size)
	for h := range Handle(limit) {
		if include(h) {
			hs = append(hs, h)
		}
	}
	return hs
}

// VerticesOf returns the vertices of a label.
func (g *Graph) VerticesOf(l Label) []Handle {
	t := g.vertices.table(l)
	if t == nil {
		return nil
	}
	if t.removed == 0 {
		return t.rows.items
	}
	return g.lists.vertexOf[l].get(func() []Handle { return filterRows(t, g.HasVertex) })
}

// EdgesOf returns the visible edges of a label.
func (g *Graph) EdgesOf(l Label) []Handle {
	t := g.edges.table(l)
	if t == nil {
		return nil
	}
	if t.removed == 0 && len(g.hidden) == 0 {
		return t.rows.items
	}
	return g.lists.edgeOf[l].get(func() []Handle { return filterRows(t, g.HasEdge) })
}

func filterRows(t *table, include func(Handle) bool) []Handle {
	hs := make([]Handle, 0, len(t.rows.items)-t.removed)
	for _, h := range t.rows.items {
		if h != NoHandle && include(h) {
			hs = append(hs, h)
		}
	}
	return hs
}

// VertexRows returns the vertices of a label by row: element i belongs to row i
// of the label's columns, and is NoHandle if that row was removed.
func (g *Graph) VertexRows(l Label) []Handle {
	if t := g.vertices.table(l); t != nil {
		return t.rows.items
	}
	return nil
}

// EdgeRows is like [Graph.VertexRows] for edges, except that it may contain
// edges for which [Graph.HasEdge] is false.
func (g *Graph) EdgeRows(l Label) []Handle {
	if t := g.edges.table(l); t != nil {
		return t.rows.items
	}
	return nil
}

func (l *elementLists) bytes() int64 {
	n := 48 * int64(len(l.vertexOf)+len(l.edgeOf)+2)
	for _, o := range [][]lazy[[]Handle]{l.vertexOf, l.edgeOf} {
		for i := range o {
			n += 4 * int64(cap(o[i].peek()))
		}
	}
	return n + 4*int64(cap(l.vertices.peek())+cap(l.edges.peek()))
}
