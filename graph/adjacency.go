package graph

import "slices"

// A Direction is the way an edge is followed.
type Direction uint8

// The directions: Out from the source of an edge to its target, In the other
// way.
const (
	Out Direction = iota
	In
)

// A block holds the edges of the vertices of one label in one direction. The
// edges of one row lie together, ordered by edge label and then by handle.
//
// A tight block has a slot in every row for each edge label that occurs in the
// block. Where that would be mostly empty slots, the block is loose: a row knows
// only where its edges start, and each edge says its label.
type block struct {
	labels []Label  // the edge labels that occur, ascending; a slot is a position in it
	starts []uint32 // tight: (row*len(labels) + slot) -> where its edges start; loose: by row. One more at the end
	to     []Handle // the vertex at the other end
	edge   []Handle // the edge, in parallel
	by     []Label  // loose: the label of the edge, in parallel
	loose  bool
}

// tooLoose reports whether a block is better off without slots.
func tooLoose(rows, labels, edges int) bool { return rows*(labels-1) > 8*edges+1024 }

// stride returns how many starts a row has.
func (b *block) stride() int {
	if b.loose {
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
	for i, have := range b.labels {
		if have == l {
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

// some returns the range of the edges of a row with one label.
func (b *block) some(row uint32, l Label) (lo, hi uint32) {
	if b == nil {
		return 0, 0
	}
	s := b.slot(l)
	if s < 0 {
		return 0, 0
	}
	if b.loose {
		return b.someLoose(row, l)
	}
	i := int(row)*len(b.labels) + s
	if i+1 >= len(b.starts) {
		return 0, 0
	}
	return b.starts[i], b.starts[i+1]
}

func (b *block) someLoose(row uint32, l Label) (lo, hi uint32) {
	lo, hi = b.all(row)
	by := b.by[lo:hi]
	i, _ := slices.BinarySearch(by, l)
	j, _ := slices.BinarySearch(by[i:], l+1)
	return lo + uint32(i), lo + uint32(i+j)
}

func (b *block) bytes() int64 {
	if b == nil {
		return 0
	}
	return 4 * int64(cap(b.labels)+cap(b.starts)+cap(b.to)+cap(b.edge)+cap(b.by))
}

// block returns the block and row of a vertex.
func (g *Graph) block(v Handle, d Direction) (*block, uint32) {
	p := g.vertices.places.items[v]
	if int(p.label) >= len(g.blocks[d]) {
		return nil, 0
	}
	return g.blocks[d][p.label], p.row
}

// Neighbours returns the vertices at the other end of the edges of v in one
// direction, ordered by edge label; a vertex to which several edges lead is
// there several times.
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
	lo, hi := b.some(row, l)
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
	lo, hi := b.some(row, l)
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
	lo, hi := b.some(row, l)
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
