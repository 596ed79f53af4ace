package graph

import (
	"fmt"
	"slices"
)

// edgeChanges collects the changes to edges in a patch.
type edgeChanges struct {
	deleted map[Handle]bool
	created []Handle
	removed map[Handle]bool // edges that were visible and are not any more: deleted or hidden
	added   map[Handle]bool // edges that are visible and were not before
}

// replaceEdges gives each changed vertex the edges of its record. An edge that
// existed before keeps its handle.
func (p *patch) replaceEdges(changes []resolved) error {
	hidden := map[Handle][]Handle{} // hidden edges by changed source
	for _, e := range p.old.hidden {
		if src := p.old.src.items[e]; p.changed[src] {
			hidden[src] = append(hidden[src], e)
		}
	}
	ch := &edgeChanges{deleted: map[Handle]bool{}, removed: map[Handle]bool{}, added: map[Handle]bool{}}
	var todo []newEdge
	for _, c := range changes {
		var oldEdges []Handle
		if p.old.HasVertex(c.vertex) {
			oldEdges, _ = p.old.Incident(c.vertex, Out)
		}
		fresh, err := p.matchEdges(c, slices.Concat(oldEdges, hidden[c.vertex]), ch)
		if err != nil {
			return err
		}
		todo = append(todo, fresh...)
	}
	for _, n := range todo {
		if err := p.addEdge(n, ch); err != nil {
			return fmt.Errorf("patch vertex %s: %w", p.new.VertexID(n.src), err)
		}
	}
	p.markDeleted(ch)
	p.updateHidden(ch)
	p.rewriteBlocks(ch)
	return nil
}

// newEdge is an edge to be created.
type newEdge struct {
	EdgeRecord
	src, dst Handle
	label    Label
}

// matchEdges pairs the existing edges of a vertex with those of its record.
// Unmatched edges are removed; unmatched records are returned.
func (p *patch) matchEdges(c resolved, oldEdges []Handle, ch *edgeChanges) ([]newEdge, error) {
	type end struct {
		label Label
		dst   Handle
	}
	unmatched := map[end][]Handle{}
	for _, e := range oldEdges {
		k := end{p.old.EdgeLabel(e), p.old.dst.items[e]}
		unmatched[k] = append(unmatched[k], e)
	}
	var fresh []newEdge
	if !c.Remove {
		for _, r := range c.Out {
			dst, ok := p.new.vertices.find(r.To)
			if !ok {
				var err error
				if dst, err = p.newVertex(r.To); err != nil {
					return nil, err
				}
			}
			n := newEdge{r, c.vertex, dst, Label(p.intern(&p.new.edgeLabels, &p.old.edgeLabels, r.Label))}
			k := end{n.label, dst}
			i := slices.IndexFunc(unmatched[k], func(e Handle) bool { return p.old.sameEdge(e, r) })
			if i < 0 {
				fresh = append(fresh, n)
				continue
			}
			unmatched[k] = slices.Delete(unmatched[k], i, i+1)
		}
	}
	for _, es := range unmatched {
		for _, e := range es {
			ch.deleted[e] = true
		}
	}
	return fresh, nil
}

// sameEdge reports whether an edge has the properties of a record and, if the
// record has one, its id.
func (g *Graph) sameEdge(e Handle, r EdgeRecord) bool {
	if !r.ID.IsNull() && !g.EdgeID(e).Equal(r.ID) {
		return false
	}
	n := 0
	for _, k := range g.EdgeKeysOf(g.EdgeLabel(e)) {
		if v, ok := g.EdgeValue(e, k); ok {
			name := g.keys.names[k]
			if !slices.ContainsFunc(r.Properties, func(m Meta) bool { return m.Key == name && m.Value.Equal(v) }) {
				return false
			}
			n++
		}
	}
	return n == len(r.Properties)
}

// addEdge creates an edge.
func (p *patch) addEdge(n newEdge, ch *edgeChanges) error {
	g := p.new
	if !n.ID.IsNull() {
		// Edges that this patch deletes keep their ids in the index, next to new edges with the same id.
		remains := func(e Handle) bool { return !g.deleted.Has(e) && !ch.deleted[e] }
		if _, used := g.edges.findWhere(n.ID, remains); used {
			return fmt.Errorf("add edge %s: %w", n.ID, ErrDuplicate)
		}
		if g.edges.ids == nil {
			if err := p.storeEdgeIDs(); err != nil {
				return err
			}
		}
	}
	id := n.ID
	if id.IsNull() && g.edges.ids != nil {
		id = p.freshEdgeID()
	}
	t := p.table(&g.edges, n.label)
	row := uint32(len(t.rows.items))
	e, err := p.append(&g.edges, id, position{label: n.label, row: row})
	if err != nil {
		return err
	}
	t.rows = t.rows.with(e)
	g.src, g.dst = g.src.with(n.src), g.dst.with(n.dst)
	g.edges.live++
	ch.created = append(ch.created, e)
	for _, m := range n.Properties {
		k := Key(p.intern(&g.keys, &p.old.keys, m.Key))
		p.edit(columnRef{false, n.label, k}, edit{row: row, values: []Value{m.Value}})
	}
	return nil
}

// storeEdgeIDs stores the generated ids of all edges, because an edge with a given
// id is about to be added.
func (p *patch) storeEdgeIDs() error {
	es := &p.new.edges
	var b columnBuilder
	for h := range Handle(len(es.positions.items)) {
		if err := b.set(h, Long(int64(h)), p.new.pool); err != nil {
			return err
		}
	}
	es.ids = b.column(p.new.pool)
	n := len(es.positions.items)
	es.byID = idIndex{table: hashTable(n, 0, func(i uint32) uint64 { return idHash(es.id(i)) }), base: n}
	p.ownIDs[es] = n > 0
	return nil
}

// freshEdgeID returns a number that is not used as the id of an edge.
func (p *patch) freshEdgeID() Value {
	for i := int64(len(p.new.edges.positions.items)); ; i++ {
		if _, used := p.new.edges.find(Long(i)); !used {
			return Long(i)
		}
	}
}

// markDeleted adds tombstones for the deleted edges.
func (p *patch) markDeleted(ch *edgeChanges) {
	if len(ch.deleted) == 0 {
		return
	}
	g := p.new
	deleted := NewBits(len(g.edges.positions.items))
	copy(deleted, g.deleted)
	for e := range ch.deleted {
		deleted.Set(e)
		p.table(&g.edges, g.EdgeLabel(e)).removed++
	}
	g.deleted = deleted
	g.edges.live -= len(ch.deleted)
}

// updateHidden determines which edges become visible or hidden, and updates the
// list of hidden edges.
func (p *patch) updateHidden(ch *edgeChanges) {
	for e := range ch.deleted {
		if p.old.HasEdge(e) {
			ch.removed[e] = true
		}
	}
	var hidden []Handle
	for _, e := range p.old.hidden {
		switch {
		case ch.deleted[e]:
		case p.new.isConnected(e):
			ch.added[e] = true
		default:
			hidden = append(hidden, e)
		}
	}
	for _, e := range ch.created {
		if p.new.isConnected(e) {
			ch.added[e] = true
		} else {
			hidden = append(hidden, e)
		}
	}
	for _, v := range p.moved {
		if p.new.HasVertex(v) || !p.old.HasVertex(v) {
			continue // v was not removed
		}
		es, _ := p.old.Incident(v, In)
		for _, e := range es {
			if !ch.deleted[e] && !ch.removed[e] {
				ch.removed[e] = true
				hidden = append(hidden, e)
			}
		}
	}
	slices.Sort(hidden)
	p.new.hidden = hidden
}

// rowEdges is the new list of edges of one row of a block.
type rowEdges struct {
	row   uint32
	edges []Handle // ordered by edge label, then handle
}

// rewriteBlocks rewrites the blocks in which the list of a row changed.
func (p *patch) rewriteBlocks(ch *edgeChanges) {
	for _, d := range []Direction{Out, In} {
		extra := map[Handle][]Handle{} // vertex -> edges added to its list
		for e := range ch.added {
			v, _ := p.new.endpoints(e, d)
			extra[v] = append(extra[v], e)
		}
		touched := map[Handle]bool{}
		for v := range extra {
			touched[v] = true
		}
		for e := range ch.removed {
			v, _ := p.old.endpoints(e, d)
			touched[v] = true
		}
		for _, v := range p.moved {
			touched[v] = true
		}
		rows := map[Label][]rowEdges{}
		for v := range touched {
			p.rowsOf(v, d, extra[v], ch, rows)
		}
		for l, changed := range rows {
			p.rewriteBlock(d, l, changed)
		}
	}
}

// rowsOf collects the rows that change because the edges or the row of a vertex change.
func (p *patch) rowsOf(v Handle, d Direction, extra []Handle, ch *edgeChanges, rows map[Label][]rowEdges) {
	var edges []Handle
	if p.old.HasVertex(v) {
		oldEdges, _ := p.old.Incident(v, d)
		for _, e := range oldEdges {
			if !ch.removed[e] {
				edges = append(edges, e)
			}
		}
		old, now := p.old.vertices.positions.items[v], p.new.vertices.positions.items[v]
		if old != now && len(oldEdges) > 0 {
			rows[old.label] = append(rows[old.label], rowEdges{row: old.row})
		}
	}
	now := p.new.vertices.positions.items[v]
	edges = append(edges, extra...)
	if now.label == NoLabel || len(edges) == 0 && !p.old.HasVertex(v) {
		return
	}
	slices.SortFunc(edges, p.new.byLabel)
	rows[now.label] = append(rows[now.label], rowEdges{now.row, edges})
}
