package graph

import (
	"sync"
	"sync/atomic"
)

// A Graph is an immutable property graph. See the package comment.
type Graph struct {
	pool         *pool
	keys         *symbols
	vertexLabels *symbols
	edgeLabels   *symbols

	vertices elements
	edges    elements
	src, dst sharedSlice[Handle] // by edge
	deleted  Bits                // tombstones of edges

	blocks [2][]*block // by direction, by vertex label

	hidden       []Handle // edges with a missing end, ascending
	generatedIDs int64    // number of ids generated for vertex properties: -1, -2 and so on

	lists   elementLists
	lineage *lineage
}

// NumVertices returns the number of vertices.
func (g *Graph) NumVertices() int { return g.vertices.live }

// NumEdges returns the number of visible edges.
func (g *Graph) NumEdges() int { return g.edges.live - len(g.hidden) }

// HiddenEdges returns the number of edges that are hidden because one of their
// ends is not in the graph.
func (g *Graph) HiddenEdges() int { return len(g.hidden) }

// VertexCap returns a number above every vertex handle. Not every handle below
// it is a vertex: see [Graph.HasVertex].
func (g *Graph) VertexCap() int { return len(g.vertices.positions.items) }

// EdgeCap returns a number above every edge handle. Not every handle below it is
// an edge: see [Graph.HasEdge].
func (g *Graph) EdgeCap() int { return len(g.edges.positions.items) }

// HasVertex reports whether v is a vertex of the graph.
func (g *Graph) HasVertex(v Handle) bool {
	return int(v) < len(g.vertices.positions.items) && g.vertices.positions.items[v].label != NoLabel
}

// HasEdge reports whether e is a visible edge of the graph.
func (g *Graph) HasEdge(e Handle) bool {
	return int(e) < len(g.edges.positions.items) && !g.deleted.Has(e) &&
		(len(g.hidden) == 0 || g.isConnected(e))
}

// isConnected reports whether both ends of an edge are in the graph.
func (g *Graph) isConnected(e Handle) bool {
	return g.HasVertex(g.src.items[e]) && g.HasVertex(g.dst.items[e])
}

// VertexLabel returns the label of a vertex.
func (g *Graph) VertexLabel(v Handle) Label { return g.vertices.positions.items[v].label }

// EdgeLabel returns the label of an edge.
func (g *Graph) EdgeLabel(e Handle) Label { return g.edges.positions.items[e].label }

// VertexRow returns the label of a vertex and its row in the columns of that
// label.
func (g *Graph) VertexRow(v Handle) (Label, uint32) {
	p := g.vertices.positions.items[v]
	return p.label, p.row
}

// EdgeRow returns the label of an edge and its row in the columns of that label.
func (g *Graph) EdgeRow(e Handle) (Label, uint32) {
	p := g.edges.positions.items[e]
	return p.label, p.row
}

// Source returns the vertex an edge starts from.
func (g *Graph) Source(e Handle) Handle { return g.src.items[e] }

// Target returns the vertex an edge leads to.
func (g *Graph) Target(e Handle) Handle { return g.dst.items[e] }

// VertexID returns the id of a vertex.
func (g *Graph) VertexID(v Handle) Value { return g.vertices.id(v) }

// EdgeID returns the id of an edge. A generated id may change with a patch.
func (g *Graph) EdgeID(e Handle) Value { return g.edges.id(e) }

// VertexByID returns the vertex with an id. Equal numbers are the same id regardless of width.
func (g *Graph) VertexByID(id Value) (Handle, bool) {
	v, ok := g.vertices.find(id)
	return v, ok && g.HasVertex(v)
}

// EdgeByID returns the edge with an id. Equal numbers are the same id regardless of width.
func (g *Graph) EdgeByID(id Value) (Handle, bool) {
	e, ok := g.edgeByID(id)
	return e, ok && g.HasEdge(e)
}

// edgeByID returns the edge with an id, visible or hidden.
func (g *Graph) edgeByID(id Value) (Handle, bool) {
	// A removed edge may have had the same id.
	return g.edges.findWhere(id, func(e Handle) bool { return !g.deleted.Has(e) })
}

// VertexLabels returns the names of all vertex labels, by number. A label may have no vertices.
func (g *Graph) VertexLabels() []string { return g.vertexLabels.names }

// EdgeLabels returns the names of all edge labels, by number.
func (g *Graph) EdgeLabels() []string { return g.edgeLabels.names }

// Keys returns the names of all property keys, by number.
func (g *Graph) Keys() []string { return g.keys.names }

// VertexLabelByName returns the number of a vertex label.
func (g *Graph) VertexLabelByName(name string) (Label, bool) {
	n, ok := g.vertexLabels.find(name)
	return Label(n), ok
}

// EdgeLabelByName returns the number of an edge label.
func (g *Graph) EdgeLabelByName(name string) (Label, bool) {
	n, ok := g.edgeLabels.find(name)
	return Label(n), ok
}

// KeyByName returns the number of a property key.
func (g *Graph) KeyByName(name string) (Key, bool) {
	n, ok := g.keys.find(name)
	return Key(n), ok
}

// CodeOf returns the code of a string. A string without a code does not occur in any string column.
func (g *Graph) CodeOf(s string) (uint32, bool) { return g.pool.code(s) }

// StringOf returns the string of a code.
func (g *Graph) StringOf(code uint32) string { return g.pool.str(code) }

// NumCodes returns a number above every string code.
func (g *Graph) NumCodes() int { return g.pool.count() }

// Bytes returns the estimated memory of the graph, including lists and indexes
// that have been made. Memory that several graphs share is counted in each.
func (g *Graph) Bytes() int64 {
	n := g.pool.bytes() + g.keys.bytes() + g.vertexLabels.bytes() + g.edgeLabels.bytes()
	n += g.vertices.bytes() + g.edges.bytes() + 4*int64(cap(g.src.items)+cap(g.dst.items)+cap(g.hidden)) + 8*int64(cap(g.deleted))
	for _, bs := range g.blocks {
		for _, b := range bs {
			n += b.bytes()
		}
	}
	return n + g.lists.bytes()
}

// lazy is a value that is computed on first use.
type lazy[T any] struct {
	once  sync.Once
	value atomic.Pointer[T]
}

func (o *lazy[T]) get(make func() T) T {
	o.once.Do(func() {
		v := make()
		o.value.Store(&v)
	})
	return *o.value.Load()
}

// peek returns the value, or its zero value if it has not been computed.
func (o *lazy[T]) peek() (v T) {
	if p := o.value.Load(); p != nil {
		v = *p
	}
	return v
}
