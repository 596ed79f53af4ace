package graph

import "sync/atomic"

// A lineage is a sequence of patched graphs in which a handle always belongs to the
// same vertex id. It counts the handles that have been assigned.
type lineage struct{ vertices atomic.Int64 }

func newLineage(vertices int) *lineage {
	l := new(lineage)
	l.vertices.Store(int64(vertices))
	return l
}

// extend returns the lineage after a patch: the same, unless another patch of the same
// graph has assigned the new handles to other vertices.
func (l *lineage) extend(before, after int) *lineage {
	if before == after || l.vertices.CompareAndSwap(int64(before), int64(after)) {
		return l
	}
	return newLineage(after)
}

// SharesHandles reports whether a vertex handle of g that is also a handle of o belongs to
// the same vertex id in both. It is true for a graph and those patched from it, until a
// patch compacts the graph. If several patches of one graph add vertices, it is true for
// the first of them only. Either graph may lack the vertex: see [Graph.HasVertex].
func (g *Graph) SharesHandles(o *Graph) bool { return g.lineage == o.lineage }
