package graph

import (
	"cmp"
	"slices"
)

// rewriteBlock rewrites one block with some rows changed.
func (p *patch) rewriteBlock(d Direction, l Label, changed []rowEdges) {
	for int(l) >= len(p.new.blocks[d]) {
		p.new.blocks[d] = append(p.new.blocks[d], nil)
	}
	slices.SortFunc(changed, func(a, b rowEdges) int { return cmp.Compare(a.row, b.row) })
	old := p.new.blocks[d][l]
	if old == nil {
		old = &block{starts: []uint32{0}}
	}
	rows := len(p.new.vertices.tables[l].rows.items)
	w := newBlockWriter(p.new, d, old, rows, changed)
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

// A blockWriter writes a block row by row.
type blockWriter struct {
	g          *Graph
	d          Direction
	old, new   *block
	sameLayout bool // both blocks are sparse, or dense with the same labels
}

// newBlockWriter returns a writer for a block with a slot for every edge label
// of the old block and of the changed rows.
func newBlockWriter(g *Graph, d Direction, old *block, rows int, changed []rowEdges) *blockWriter {
	labels := slices.Clone(old.labels)
	size := len(old.to)
	for _, c := range changed {
		size += len(c.edges)
		for _, e := range c.edges {
			if i, ok := slices.BinarySearch(labels, g.EdgeLabel(e)); !ok {
				labels = slices.Insert(labels, i, g.EdgeLabel(e))
			}
		}
	}
	// The number of old edges is an estimate of the number of new ones.
	b := &block{labels: labels, sparse: shouldBeSparse(rows, len(labels), len(old.to))}
	b.to, b.edge = make([]Handle, 0, size), make([]Handle, 0, size)
	if b.sparse {
		b.edgeLabels = make([]Label, 0, size)
	}
	b.starts = make([]uint32, 0, rows*b.stride()+1)
	sameLayout := b.sparse == old.sparse && (b.sparse || len(labels) == len(old.labels))
	return &blockWriter{g: g, d: d, old: old, new: b, sameLayout: sameLayout}
}

// copyRows copies the unchanged rows from <= row < to. Rows that the old block does not have are
// written without edges.
func (w *blockWriter) copyRows(from, to uint32) {
	k := w.old.stride()
	copied := from // the end of the rows that the old block has
	if k > 0 {     // an old block without labels has no rows
		copied = max(from, min(to, uint32((len(w.old.starts)-1)/k)))
	}
	if w.sameLayout && from < copied {
		lo, hi := w.old.starts[int(from)*k], w.old.starts[int(copied)*k]
		shift := uint32(len(w.new.to)) - lo
		w.new.to = append(w.new.to, w.old.to[lo:hi]...)
		w.new.edge = append(w.new.edge, w.old.edge[lo:hi]...)
		if w.new.sparse {
			w.new.edgeLabels = append(w.new.edgeLabels, w.old.edgeLabels[lo:hi]...)
		}
		for _, s := range w.old.starts[int(from)*k : int(copied)*k] {
			w.new.starts = append(w.new.starts, s+shift)
		}
		from = copied
	}
	for ; from < to; from++ {
		lo, hi := w.old.all(from)
		w.row(w.old.edge[lo:hi])
	}
}

// row writes one row.
func (w *blockWriter) row(edges []Handle) {
	if w.new.sparse {
		w.new.starts = append(w.new.starts, uint32(len(w.new.to)))
		for _, e := range edges {
			w.edge(e)
			w.new.edgeLabels = append(w.new.edgeLabels, w.g.EdgeLabel(e))
		}
		return
	}
	for _, l := range w.new.labels {
		w.new.starts = append(w.new.starts, uint32(len(w.new.to)))
		for len(edges) > 0 && w.g.EdgeLabel(edges[0]) == l {
			w.edge(edges[0])
			edges = edges[1:]
		}
	}
}

func (w *blockWriter) edge(e Handle) {
	_, to := w.g.endpoints(e, w.d)
	w.new.to, w.new.edge = append(w.new.to, to), append(w.new.edge, e)
}
