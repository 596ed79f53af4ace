package graph

import "slices"

// A Direction is the direction in which an edge is traversed.
type Direction uint8

// The directions: Out from the source of an edge to its target, In from the target to the source.
const (
	Out Direction = iota
	In
)

// A block is the adjacency list, in compressed sparse row form, of the vertices
// of one label in one direction. The edges of one row are contiguous, ordered by
// edge label and then by handle.
//
// A dense block has a slot in every row for each edge label that occurs in the
// block. When most slots would be empty, the block is sparse: a row has only the
// start of its edges, and each edge has its label.
type block struct {
	labels     []Label  // the edge labels that occur, ascending; a slot is an index into it
	starts     []uint32 // offsets of edges: dense by row*len(labels)+slot, sparse by row; with an end offset
	to         []Handle // the vertex at the other end
	edge       []Handle // the edge, in parallel
	edgeLabels []Label  // sparse: the label of the edge, in parallel
	sparse     bool
}

// shouldBeSparse reports whether a block should be sparse.
func shouldBeSparse(rows, labels, edges int) bool { return rows*(labels-1) > 8*edges+1024 }

// stride returns the number of starts per row.
func (b *block) stride() int {
	if b.sparse {
		return 1
	}
	return len(b.labels)
}

// slot returns the slot of an edge label, or a negative number.
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

// all returns the range of the edges of a row.
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

// withLabel returns the range of the edges of a row that have a label.
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

// block returns the block and row of a vertex.
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

// EdgeLabelsAt returns the edge labels that vertices of a label have in one
// direction. A vertex of that label has no edges with other labels.
func (g *Graph) EdgeLabelsAt(l Label, d Direction) []Label {
	if int(l) >= len(g.blocks[d]) || g.blocks[d][l] == nil {
		return nil
	}
	return g.blocks[d][l].labels
}
