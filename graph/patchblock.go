package graph

import (
	"cmp"
	"slices"
)

// rewriteBlock makes one block anew with some rows changed.
func (p *patch) rewriteBlock(d Direction, l Label, changed []rowEdges) {
	for int(l) >= len(p.new.blocks[d]) {
		p.new.blocks[d] = append(p.new.blocks[d], nil)
	}
	slices.SortFunc(changed, func(a, b rowEdges) int { return cmp.Compare(a.row, b.row) })
	old := p.new.blocks[d][l]
	if old == nil {
		old = &block{starts: []uint32{0}}
	}
	w := &blockWriter{g: p.new, d: d, old: old, new: p.new.widened(old, changed)}
	size := len(old.to)
	for _, c := range changed {
		size += len(c.edges)
	}
	w.new.to, w.new.edge = make([]Handle, 0, size), make([]Handle, 0, size)
	rows := len(p.new.vertices.tables[l].rows.items)
	w.new.starts = make([]uint32, 0, rows*len(w.new.labels)+1)
	next := uint32(0)
	for _, c := range changed {
		w.copyRows(next, c.row)
		w.row(c.edges)
		next = c.row + 1
	}
	w.copyRows(next, uint32(rows))
	w.new.starts = append(w.new.starts, uint32(len(w.new.to)))
	p.new.blocks[d][l] = w.new
}

// widened returns a block with a slot for every edge label of the old one and of
// the changed rows, slots in order of label.
func (g *Graph) widened(old *block, changed []rowEdges) *block {
	labels := slices.Clone(old.labels)
	for _, c := range changed {
		for _, e := range c.edges {
			if l := g.EdgeLabel(e); !slices.Contains(labels, l) {
				labels = append(labels, l)
			}
		}
	}
	if len(labels) == len(old.labels) {
		return &block{labels: old.labels, slots: old.slots}
	}
	slices.Sort(labels)
	b := &block{labels: labels, slots: slices.Repeat([]int32{-1}, len(g.edgeLabels.names))}
	for s, l := range labels {
		b.slots[l] = int32(s)
	}
	return b
}

// A blockWriter writes a block row by row.
type blockWriter struct {
	g        *Graph
	d        Direction
	old, new *block
}

// copyRows writes rows that did not change.
func (w *blockWriter) copyRows(from, to uint32) {
	k := len(w.old.labels)
	have := uint32(0)
	if k > 0 {
		have = uint32((len(w.old.starts) - 1) / k)
	}
	kept := min(to, have)
	if from < kept {
		lo, hi := w.old.starts[int(from)*k], w.old.starts[int(kept)*k]
		shift := uint32(len(w.new.to)) - lo
		w.new.to = append(w.new.to, w.old.to[lo:hi]...)
		w.new.edge = append(w.new.edge, w.old.edge[lo:hi]...)
		if len(w.new.labels) == k {
			for _, s := range w.old.starts[int(from)*k : int(kept)*k] {
				w.new.starts = append(w.new.starts, s+shift)
			}
		} else {
			w.spread(from, kept, shift)
		}
		from = kept
	}
	for ; from < to; from++ {
		w.row(nil)
	}
}

// spread writes the starts of rows that gain slots.
func (w *blockWriter) spread(from, to, shift uint32) {
	k := len(w.old.labels)
	for r := from; r < to; r++ {
		at := w.old.starts[int(r)*k:]
		s := 0
		for _, l := range w.new.labels {
			w.new.starts = append(w.new.starts, at[s]+shift)
			if s < k && w.old.labels[s] == l {
				s++
			}
		}
	}
}

// row writes one row.
func (w *blockWriter) row(edges []Handle) {
	for _, l := range w.new.labels {
		w.new.starts = append(w.new.starts, uint32(len(w.new.to)))
		for len(edges) > 0 && w.g.EdgeLabel(edges[0]) == l {
			_, to := w.g.ends(edges[0], w.d)
			w.new.to, w.new.edge = append(w.new.to, to), append(w.new.edge, edges[0])
			edges = edges[1:]
		}
	}
}
