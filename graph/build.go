package graph

import (
	"cmp"
	"errors"
	"maps"
	"slices"
)

// Build returns the graph. The builder cannot be used again.
func (b *Builder) Build() (*Graph, error) {
	if b.built {
		return nil, errors.New("graph: Build was already called")
	}
	// A pointer into the builder would keep the whole builder alive.
	keys, vertexLabels, edgeLabels := b.keys, b.vertexLabels, b.edgeLabels
	g := &Graph{
		pool:         b.pool.pool(),
		keys:         &keys,
		vertexLabels: &vertexLabels,
		edgeLabels:   &edgeLabels,
		src:          newSharedSlice(fit(b.src)),
		dst:          newSharedSlice(fit(b.dst)),
		generatedIDs: b.generatedIDs,
	}
	g.vertices = b.vertices.elements(g.pool, true)
	g.edges = b.edges.elements(g.pool, b.edges.hasIDs)
	g.vertices.cover(len(g.vertexLabels.names))
	g.edges.cover(len(g.edgeLabels.names))
	*b = Builder{built: true}
	g.finish()
	return g, nil
}

// cover adds empty tables for labels that have no elements.
func (e *elements) cover(labels int) {
	for len(e.tables) < labels {
		e.tables = append(e.tables, &table{})
	}
}

// finish computes the adjacency lists and other data derived from the elements.
func (g *Graph) finish() {
	g.lineage = newLineage(len(g.vertices.positions.items))
	for e := range Handle(len(g.src.items)) {
		if !g.isConnected(e) {
			g.hidden = append(g.hidden, e)
		}
	}
	for _, d := range []Direction{Out, In} {
		g.blocks[d] = g.makeBlocks(d)
	}
	g.lists = newLists(len(g.vertexLabels.names), len(g.edgeLabels.names))
}

func (e *elementsBuilder) elements(p *pool, hasIDs bool) elements {
	out := elements{positions: newSharedSlice(fit(e.positions)), live: e.live}
	for _, tb := range e.tables {
		t := &table{rows: newSharedSlice(fit(tb.rows)), keys: slices.Sorted(maps.Keys(tb.cols))}
		for _, k := range t.keys {
			t.cols = append(t.cols, tb.cols[k].column(p))
			delete(tb.cols, k) // let the builder's copy be collected
		}
		out.tables = append(out.tables, t)
	}
	if hasIDs {
		out.ids = e.ids.column(p)
		out.byID = idIndex{table: e.byID, base: len(e.positions)}
	}
	return out
}

// endpoints returns the vertex at which an edge starts in a direction, and the vertex at its other end.
func (g *Graph) endpoints(e Handle, d Direction) (from, to Handle) {
	if d == Out {
		return g.src.items[e], g.dst.items[e]
	}
	return g.dst.items[e], g.src.items[e]
}

// makeBlocks sorts all visible edges by vertex label, row, edge label and handle.
func (g *Graph) makeBlocks(d Direction) []*block {
	blocks := g.shapeBlocks(d)
	slots := make([]uint32, len(g.src.items)) // of each edge, its index in starts
	g.eachEdge(func(e Handle) {
		b, i := g.position(blocks, e, d)
		slots[e] = uint32(i)
		b.starts[i+1]++ // counts are stored one position later
	})
	for _, b := range blocks {
		if b != nil {
			for i := 1; i < len(b.starts); i++ {
				b.starts[i] += b.starts[i-1]
			}
		}
	}
	g.eachEdge(func(e Handle) {
		from, to := g.endpoints(e, d)
		b := blocks[g.vertices.positions.items[from].label]
		next := &b.starts[slots[e]]
		b.to[*next], b.edge[*next] = to, e
		*next++
	})
	for _, b := range blocks {
		if b != nil {
			// Every start has advanced to the position of the next one.
			copy(b.starts[1:], b.starts)
			b.starts[0] = 0
			if b.sparse {
				g.sortSparse(b, d)
			}
		}
	}
	return blocks
}

// shapeBlocks returns the empty blocks of a direction.
func (g *Graph) shapeBlocks(d Direction) []*block {
	blocks := make([]*block, len(g.vertices.tables))
	sizes := make([]int, len(blocks))
	seen := map[[2]Label]bool{}
	g.eachEdge(func(e Handle) {
		from, _ := g.endpoints(e, d)
		l, edgeLabel := g.vertices.positions.items[from].label, g.edges.positions.items[e].label
		sizes[l]++
		// Consecutive edges mostly have the same labels, so try the label that was added last before seen.
		if b := blocks[l]; b != nil && b.labels[len(b.labels)-1] == edgeLabel || seen[[2]Label{l, edgeLabel}] {
			return
		}
		seen[[2]Label{l, edgeLabel}] = true
		if blocks[l] == nil {
			blocks[l] = &block{}
		}
		blocks[l].labels = append(blocks[l].labels, edgeLabel)
	})
	for l, b := range blocks {
		if b != nil {
			slices.Sort(b.labels)
			rows := len(g.vertices.tables[l].rows.items)
			b.sparse = shouldBeSparse(rows, len(b.labels), sizes[l])
			b.starts = make([]uint32, rows*b.stride()+1)
			b.to, b.edge = make([]Handle, sizes[l]), make([]Handle, sizes[l])
		}
	}
	return blocks
}

// sortSparse orders the edges of each row of a sparse block by label.
func (g *Graph) sortSparse(b *block, d Direction) {
	b.edgeLabels = make([]Label, len(b.edge))
	for row := range len(b.starts) - 1 {
		lo, hi := b.starts[row], b.starts[row+1]
		slices.SortFunc(b.edge[lo:hi], g.byLabel)
		for i := lo; i < hi; i++ {
			b.edgeLabels[i] = g.EdgeLabel(b.edge[i])
			_, b.to[i] = g.endpoints(b.edge[i], d)
		}
	}
}

// byLabel orders edges by label, then handle.
func (g *Graph) byLabel(a, b Handle) int {
	return cmp.Or(cmp.Compare(g.EdgeLabel(a), g.EdgeLabel(b)), cmp.Compare(a, b))
}

// position returns the block of an edge and its index in starts.
func (g *Graph) position(blocks []*block, e Handle, d Direction) (*block, int) {
	from, _ := g.endpoints(e, d)
	p := g.vertices.positions.items[from]
	b := blocks[p.label]
	if b.sparse {
		return b, int(p.row)
	}
	return b, int(p.row)*len(b.labels) + b.slot(g.edges.positions.items[e].label)
}

// eachEdge calls f for every visible edge.
func (g *Graph) eachEdge(f func(e Handle)) {
	for e := range Handle(len(g.src.items)) {
		if g.HasEdge(e) {
			f(e)
		}
	}
}
