package graph

// A Hop traverses the edges of one label, or of all labels, in one direction. It
// caches the block of the last vertex label, so it is faster than
// [Graph.NeighboursBy] when consecutive vertices mostly have the same label. It
// is not safe for concurrent use.
type Hop struct {
	positions []position
	blocks    []*block // by vertex label
	only      Label    // NoLabel for all

	label  Label // the vertex label of the cached block
	block  *block
	starts []uint32
	stride int // starts of one row
	first  int // index of the first relevant start in a row
	span   int // number of starts from first to the one at which the edges end
}

// HopAll returns a hop over the edges of all labels.
func (g *Graph) HopAll(d Direction) Hop { return g.HopBy(d, NoLabel) }

// HopBy returns a hop over the edges of one label.
func (g *Graph) HopBy(d Direction, l Label) Hop {
	return Hop{positions: g.vertices.positions.items, blocks: g.blocks[d], only: l, label: NoLabel}
}

// selectLabel caches the block for vertices of a label.
func (h *Hop) selectLabel(l Label) {
	h.label, h.block, h.starts = l, nil, nil
	if int(l) >= len(h.blocks) || h.blocks[l] == nil {
		return
	}
	b := h.blocks[l]
	h.first, h.stride, h.span = 0, b.stride(), b.stride()
	if h.only != NoLabel {
		slot := b.slot(h.only)
		if slot < 0 {
			return
		}
		if !b.sparse {
			h.first, h.span = slot, 1
		}
	}
	h.block, h.starts = b, b.starts
}

// find returns the range of the edges of a vertex in the block of its label.
func (h *Hop) find(v Handle) (lo, hi uint32) {
	position := h.positions[v]
	if position.label != h.label {
		h.selectLabel(position.label)
	}
	i := int(position.row)*h.stride + h.first
	if i+h.span >= len(h.starts) {
		return 0, 0
	}
	if h.block.sparse && h.only != NoLabel {
		return h.block.sparseRange(position.row, h.only)
	}
	return h.starts[i], h.starts[i+h.span]
}

// To returns the vertices at the other end of the edges of v. See [Graph.Neighbours].
func (h *Hop) To(v Handle) []Handle {
	lo, hi := h.find(v)
	if lo == hi {
		return nil
	}
	return h.block.to[lo:hi:hi]
}

// Edges returns the edges of v and, in parallel, the vertices at their other ends. See [Graph.Incident].
func (h *Hop) Edges(v Handle) (edges, to []Handle) {
	lo, hi := h.find(v)
	if lo == hi {
		return nil, nil
	}
	return h.block.edge[lo:hi:hi], h.block.to[lo:hi:hi]
}

// Degree returns the number of the edges of v.
func (h *Hop) Degree(v Handle) int {
	lo, hi := h.find(v)
	return int(hi - lo)
}
