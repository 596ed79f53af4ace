package graph

import (
	"errors"
	"maps"
	"slices"
)

// Build returns the graph. The builder cannot be used again.
func (b *Builder) Build() (*Graph, error) {
	if b.built {
		return nil, errors.New("graph: builder was used already")
	}
	b.built = true
	g := &Graph{
		pool:         b.pool.pool(),
		keys:         &b.keys,
		vertexLabels: &b.vertexLabels,
		edgeLabels:   &b.edgeLabels,
		src:          grown(slices.Clip(b.src)),
		dst:          grown(slices.Clip(b.dst)),
		unnamed:      b.unnamed,
	}
	g.vertices = b.vertices.elements(g.pool, true)
	g.edges = b.edges.elements(g.pool, b.edges.named)
	for e := range Handle(len(b.src)) {
		if !g.joined(e) {
			g.hidden = append(g.hidden, e)
		}
	}
	for _, d := range []Direction{Out, In} {
		g.blocks[d] = g.makeBlocks(d)
	}
	g.lists = newLists(len(g.vertexLabels.names), len(g.edgeLabels.names))
	return g, nil
}

func (e *elementsBuilder) elements(p *pool, named bool) elements {
	out := elements{places: grown(slices.Clip(e.places)), live: e.live}
	for _, tb := range e.tables {
		t := &table{rows: grown(slices.Clip(tb.rows)), keys: slices.Sorted(maps.Keys(tb.cols))}
		for _, k := range t.keys {
			t.cols = append(t.cols, tb.cols[k].column(p))
			delete(tb.cols, k) // the builder's copy is garbage from here on
		}
		out.tables = append(out.tables, t)
	}
	if named {
		out.ids = e.ids.column(p)
		out.byID = idIndex{table: e.byID, base: len(e.places)}
	}
	return out
}

// ends returns the vertex that an edge belongs to when it is followed in a
// direction, and the one it leads to.
func (g *Graph) ends(e Handle, d Direction) (from, to Handle) {
	if d == Out {
		return g.src.items[e], g.dst.items[e]
	}
	return g.dst.items[e], g.src.items[e]
}

// makeBlocks sorts all edges that can be seen by vertex label, row and edge
// label, keeping their order otherwise.
func (g *Graph) makeBlocks(d Direction) []*block {
	blocks := make([]*block, len(g.vertices.tables))
	nLabels := len(g.edgeLabels.names)
	g.eachEdge(func(e Handle) {
		from, _ := g.ends(e, d)
		l := g.vertices.places.items[from].label
		if blocks[l] == nil {
			blocks[l] = &block{slots: slices.Repeat([]int32{-1}, nLabels)}
		}
		blocks[l].slots[g.edges.places.items[e].label] = 0
	})
	for l, b := range blocks {
		if b != nil {
			b.number(len(g.vertices.tables[l].rows.items))
		}
	}
	g.eachEdge(func(e Handle) { // count into the place after
		b, i := g.position(blocks, e, d)
		b.starts[i+1]++
	})
	next := make([][]uint32, len(blocks))
	for l, b := range blocks {
		if b != nil {
			for i := 1; i < len(b.starts); i++ {
				b.starts[i] += b.starts[i-1]
			}
			n := b.starts[len(b.starts)-1]
			b.to, b.edge = make([]Handle, n), make([]Handle, n)
			next[l] = slices.Clone(b.starts)
		}
	}
	g.eachEdge(func(e Handle) {
		b, i := g.position(blocks, e, d)
		from, to := g.ends(e, d)
		at := &next[g.vertices.places.items[from].label][i]
		b.to[*at], b.edge[*at] = to, e
		*at++
	})
	return blocks
}

// number gives each edge label that occurs a slot and makes room for the rows.
func (b *block) number(rows int) {
	for l, s := range b.slots {
		if s == 0 {
			b.slots[l] = int32(len(b.labels))
			b.labels = append(b.labels, Label(l))
		}
	}
	b.starts = make([]uint32, rows*len(b.labels)+1)
}

// position returns the block of an edge and its place in starts.
func (g *Graph) position(blocks []*block, e Handle, d Direction) (*block, int) {
	from, _ := g.ends(e, d)
	p := g.vertices.places.items[from]
	b := blocks[p.label]
	return b, int(p.row)*len(b.labels) + int(b.slots[g.edges.places.items[e].label])
}

// eachEdge calls f for every edge that can be seen.
func (g *Graph) eachEdge(f func(e Handle)) {
	for e := range Handle(len(g.src.items)) {
		if g.HasEdge(e) {
			f(e)
		}
	}
}
