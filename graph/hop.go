package graph

// A Hop follows the edges of one label, or of all labels, in one direction. It
// has looked up beforehand what [Graph.NeighboursBy] looks up for each vertex,
// so it is worth making for more than a few vertices. It is safe for concurrent
// use.
type Hop struct {
	places []place
	parts  []hopPart // by vertex label
	by     Label
}

// hopPart is the part of a block that a hop uses.
type hopPart struct {
	starts []uint32
	to     []Handle
	edge   []Handle
	stride int    // starts of one row
	first  int    // the first start of the row that counts
	span   int    // how many starts further its edges end
	loose  *block // the block, when the edges of the label must be searched
}

// HopAll returns a hop over the edges of all labels.
func (g *Graph) HopAll(d Direction) *Hop {
	h := &Hop{places: g.vertices.places.items, parts: make([]hopPart, len(g.blocks[d]))}
	for l, b := range g.blocks[d] {
		if b != nil {
			k := b.stride()
			h.parts[l] = hopPart{starts: b.starts, to: b.to, edge: b.edge, stride: k, span: k}
		}
	}
	return h
}

// HopBy returns a hop over the edges of one label.
func (g *Graph) HopBy(d Direction, l Label) *Hop {
	h := &Hop{places: g.vertices.places.items, parts: make([]hopPart, len(g.blocks[d])), by: l}
	for vl, b := range g.blocks[d] {
		if b == nil || b.slot(l) < 0 {
			continue
		}
		p := hopPart{starts: b.starts, to: b.to, edge: b.edge, stride: b.stride(), span: 1}
		switch {
		case b.loose && len(b.labels) > 1:
			p.loose = b
		case !b.loose:
			p.first = b.slot(l)
		}
		h.parts[vl] = p
	}
	return h
}

// find returns the part for a vertex and the range of its edges in it.
func (h *Hop) find(v Handle) (p *hopPart, lo, hi uint32) {
	at := h.places[v]
	if int(at.label) >= len(h.parts) {
		return nil, 0, 0
	}
	p = &h.parts[at.label]
	i := int(at.row)*p.stride + p.first
	if i+p.span >= len(p.starts) {
		return p, 0, 0
	}
	if p.loose != nil {
		lo, hi = p.loose.someLoose(at.row, h.by)
		return p, lo, hi
	}
	return p, p.starts[i], p.starts[i+p.span]
}

// To returns the vertices that the edges of v lead to. See [Graph.Neighbours].
func (h *Hop) To(v Handle) []Handle {
	p, lo, hi := h.find(v)
	if lo == hi {
		return nil
	}
	return p.to[lo:hi:hi]
}

// Edges returns the edges of v and, in parallel, the vertices they lead to. See
// [Graph.Incident].
func (h *Hop) Edges(v Handle) (edges, to []Handle) {
	p, lo, hi := h.find(v)
	if lo == hi {
		return nil, nil
	}
	return p.edge[lo:hi:hi], p.to[lo:hi:hi]
}

// Degree returns the number of the edges of v.
func (h *Hop) Degree(v Handle) int {
	_, lo, hi := h.find(v)
	return int(hi - lo)
}
