package graph

import "slices"

// A Direction is the direction in which an edge is traversed.
type Direction uint8

// The directions: Out from the source of an edge to its target, In from the target to the source.
const (
	Out Direction = iota
	In
)

// A block holds the adjacency lists of the vertices of one label in one direction, in
// compressed sparse row form. A row is one vertex. Its edges are contiguous in the slices to
// and edge, ordered by edge label and then by handle.
//
// A slot is one edge label within one row. A dense block stores where the edges of every slot
// start. When most slots would be empty, the block is sparse: it stores where the edges of
// every row start, and the label of every edge.
type block struct {
	labels     []Label  // the edge labels that occur in the block, ascending
	starts     []uint32 // where edges start, then the number of edges; dense: at row*len(labels)+slot, sparse: at row
	to         []Handle // of each edge, the vertex at its other end
	edge       []Handle // of each edge, its handle
	edgeLabels []Label  // of each edge, its label; only in sparse blocks
	sparse     bool
}

// shouldBeSparse reports whether a block with these numbers of rows, edge labels and edges
// should be sparse.
func shouldBeSparse(rows, labels, edges int) bool { return rows*(labels-1) > 8*edges+1024 }

// stride returns the number of elements of starts per row.
func (b *block) stride() int {
	if b.sparse {
		return 1
	}
	return len(b.labels)
}

// slot returns the index of an edge label in labels, or -1 if no edge of the block has it.
func (b *block) slot(l Label) int {
	if len(b.labels) > 16 {
		if i, ok := slices.BinarySearch(b.labels, l); ok {
			return i
		}
		return -1
	}
	for i, label := range b.labels {
		if label == l {
			return i
		}
	}
	return -1
}

// all returns the range lo to hi, without hi, of the edges of a row. The range is empty if b is
// nil or the row is beyond its end.
func (b *block) all(row uint32) (lo, hi uint32) {
	if b == nil {
		return 0, 0
	}
	k := b.stride()
	i := int(row) * k
	if i+k >= len(b.starts) {
		return 0, 0
	}
	return b.starts[i], b.starts[i+k]
}

// withLabel is like all for the edges of a row that have one label.
func (b *block) withLabel(row uint32, l Label) (lo, hi uint32) {
	if b == nil {
		return 0, 0
	}
	s := b.slot(l)
	if s < 0 {
		return 0, 0
	}
	if b.sparse {
		return b.sparseRange(row, l)
	}
	i := int(row)*len(b.labels) + s
	if i+1 >= len(b.starts) {
		return 0, 0
	}
	return b.starts[i], b.starts[i+1]
}

// sparseRange is withLabel for sparse blocks.
func (b *block) sparseRange(row uint32, l Label) (lo, hi uint32) {
	lo, hi = b.all(row)
	labels := b.edgeLabels[lo:hi]
	i, _ := slices.BinarySearch(labels, l)
	j, _ := slices.BinarySearch(labels[i:], l+1)
	return lo + uint32(i), lo + uint32(i+j)
}

func (b *block) bytes() int64 {
	if b == nil {
		return 0
	}
	return 4 * int64(cap(b.labels)+cap(b.starts)+cap(b.to)+cap(b.edge)+cap(b.edgeLabels))
}

// block returns the block and row of a vertex in one direction. The block is nil if no vertex
// of that label has edges in that direction.
func (g *Graph) block(v Handle, d Direction) (*block, uint32) {
	p := g.vertices.positions.items[v]
	if int(p.label) >= len(g.blocks[d]) {
		return nil, 0
	}
	return g.blocks[d][p.label], p.row
}

// Neighbours returns the vertices at the other end of the edges of v in one
// direction, ordered by edge label. A vertex occurs once per edge.
func (g *Graph) Neighbours(v Handle, d Direction) []Handle {
	b, row := g.block(v, d)
	lo, hi := b.all(row)
	if lo == hi {
		return nil
	}
	return b.to[lo:hi:hi]
}

// NeighboursBy is like [Graph.Neighbours] for the edges of one label.
func (g *Graph) NeighboursBy(v Handle, d Direction, l Label) []Handle {
	b, row := g.block(v, d)
	lo, hi := b.withLabel(row, l)
	if lo == hi {
		return nil
	}
	return b.to[lo:hi:hi]
}

// Incident returns the edges of v in one direction and, in parallel, the
// vertices at their other ends.
func (g *Graph) Incident(v Handle, d Direction) (edges, to []Handle) {
	b, row := g.block(v, d)
	lo, hi := b.all(row)
	if lo == hi {
		return nil, nil
	}
	return b.edge[lo:hi:hi], b.to[lo:hi:hi]
}

// IncidentBy is like [Graph.Incident] for the edges of one label.
func (g *Graph) IncidentBy(v Handle, d Direction, l Label) (edges, to []Handle) {
	b, row := g.block(v, d)
	lo, hi := b.withLabel(row, l)
	if lo == hi {
		return nil, nil
	}
	return b.edge[lo:hi:hi], b.to[lo:hi:hi]
}

// Degree returns the number of edges of v in one direction.
func (g *Graph) Degree(v Handle, d Direction) int {
	b, row := g.block(v, d)
	lo, hi := b.all(row)
	return int(hi - lo)
}

// DegreeBy returns the number of edges of v in one direction with one label.
func (g *Graph) DegreeBy(v Handle, d Direction, l Label) int {
	b, row := g.block(v, d)
	lo, hi := b.withLabel(row, l)
	return int(hi - lo)
}
