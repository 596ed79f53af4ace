package graph

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// A Change replaces one vertex, or removes it.
type Change struct {
	Record
	Remove bool // only the ID of the record counts
}

// Patch returns the graph with some vertices replaced, added or removed. A
// record stands for the whole vertex: properties and outgoing edges that are not
// in it are gone. Edges that lead to a vertex belong to the vertices they start
// from: they stay, and hide while the vertex is away. Of several changes to one
// id the last one counts.
//
// The graph itself is not changed. Columns and blocks of edges that a change
// does not touch are shared, so a patch costs about as much as copying the few
// it does touch. Handles stay valid, unless so much was removed since the graph
// was built that the new one is built from the ground up.
func (g *Graph) Patch(changes []Change) (*Graph, error) {
	p := &patch{old: g, edits: map[columnRef][]edit{}, changed: map[Handle]bool{}}
	p.begin()
	order, err := p.resolve(changes)
	if err != nil {
		return nil, err
	}
	for _, c := range order {
		if err := p.vertex(c.vertex, c.Change); err != nil {
			return nil, fmt.Errorf("patch vertex %s: %w", c.ID, err)
		}
	}
	if err := p.replaceEdges(order); err != nil {
		return nil, err
	}
	if err := p.applyEdits(); err != nil {
		return nil, err
	}
	p.new.lists = newLists(len(p.new.vertexLabels.names), len(p.new.edgeLabels.names))
	if p.new.wasteful() {
		return p.new.compact()
	}
	return p.new, nil
}

// resolved is a change to a known handle.
type resolved struct {
	Change
	vertex Handle
}

// patch is a change in progress. The new graph starts as a copy of the old one
// that shares everything; what is about to change is copied first.
type patch struct {
	old, new *Graph
	changed  map[Handle]bool // vertices with a change
	moved    []Handle        // vertices that left their row or were given one
	edits    map[columnRef][]edit

	ownVertexPlaces bool
	ownTables       map[*table]bool
	ownRows         map[*table]bool
	ownIDs          map[*elements]bool
}

// begin makes the new graph.
func (p *patch) begin() {
	o := p.old
	p.ownTables, p.ownRows, p.ownIDs = map[*table]bool{}, map[*table]bool{}, map[*elements]bool{}
	p.new = &Graph{
		pool: o.pool, keys: o.keys, vertexLabels: o.vertexLabels, edgeLabels: o.edgeLabels,
		vertices: o.vertices, edges: o.edges, src: o.src, dst: o.dst, dead: o.dead,
		blocks: o.blocks, hidden: o.hidden, unnamed: o.unnamed,
	}
	for _, e := range []*elements{&p.new.vertices, &p.new.edges} {
		e.tables = slices.Clone(e.tables)
	}
	for d, bs := range o.blocks {
		p.new.blocks[d] = slices.Clone(bs)
	}
}

// resolve finds or makes the handle of each changed id, the last change to it
// only.
func (p *patch) resolve(changes []Change) ([]resolved, error) {
	var order []resolved
	at := map[Handle]int{}
	for _, c := range changes {
		if c.ID.IsNull() {
			return nil, errors.New("graph: a change needs the id of its vertex")
		}
		v, ok := p.new.vertices.find(c.ID)
		if !ok {
			if c.Remove {
				continue
			}
			var err error
			if v, err = p.newVertex(c.ID); err != nil {
				return nil, err
			}
		}
		if i, again := at[v]; again {
			order[i].Change = c
			continue
		}
		at[v] = len(order)
		p.changed[v] = true
		order = append(order, resolved{c, v})
	}
	return order, nil
}

// newVertex gives an id a handle. The vertex is not there yet.
func (p *patch) newVertex(id Value) (Handle, error) {
	return p.append(&p.new.vertices, id, place{label: NoLabel})
}

// vertex replaces or removes one vertex, its edges apart.
func (p *patch) vertex(v Handle, c Change) error {
	was := p.new.vertices.places.items[v]
	if c.Remove {
		p.leaveRow(v, was)
		return nil
	}
	label := Label(p.intern(&p.new.vertexLabels, &p.old.vertexLabels, c.Label))
	if was.label != label {
		p.leaveRow(v, was)
		p.enterRow(v, label)
	}
	now := p.new.vertices.places.items[v]
	cells, err := p.gather(c.Properties)
	if err != nil {
		return err
	}
	p.compareCells(now, cells, was.label == label)
	return nil
}

// intern numbers a name, in a copy of the symbols when it is new.
func (p *patch) intern(now, before **symbols, name string) uint32 {
	if n, ok := (*now).find(name); ok {
		return n
	}
	if *now == *before {
		c := (*now).clone()
		*now = &c
	}
	return (*now).intern(name)
}

// setPlace changes the place of a vertex.
func (p *patch) setPlace(v Handle, to place) {
	vs := &p.new.vertices
	// What this patch appended is not shared with anyone.
	if !p.ownVertexPlaces && int(v) < len(p.old.vertices.places.items) {
		vs.places = grown(slices.Clone(vs.places.items))
		p.ownVertexPlaces = true
	}
	vs.places.items[v] = to
	p.moved = append(p.moved, v)
}

// leaveRow takes a vertex out of its table.
func (p *patch) leaveRow(v Handle, was place) {
	if was.label == NoLabel {
		return
	}
	t := p.table(&p.new.vertices, was.label)
	if !p.ownRows[t] {
		t.rows = grown(slices.Clone(t.rows.items))
		p.ownRows[t] = true
	}
	t.rows.items[was.row] = NoHandle
	t.gone++
	for i, c := range t.cols {
		if _, unknown := c.Unknown(was.row); unknown || c.Has(was.row) {
			p.edit(columnRef{true, was.label, t.keys[i]}, edit{row: was.row})
		}
	}
	p.setPlace(v, place{label: NoLabel})
	p.new.vertices.live--
}

// enterRow gives a vertex a row of a table.
func (p *patch) enterRow(v Handle, l Label) {
	t := p.table(&p.new.vertices, l)
	p.setPlace(v, place{label: l, row: uint32(len(t.rows.items))})
	t.rows = t.rows.with(v)
	p.new.vertices.live++
}

// table returns the table of a label, made for the purpose or copied so that it
// may be changed.
func (p *patch) table(e *elements, l Label) *table {
	for int(l) >= len(e.tables) {
		t := &table{}
		e.tables = append(e.tables, t)
		p.ownTables[t] = true
	}
	t := e.tables[l]
	if !p.ownTables[t] {
		c := *t
		c.cols = slices.Clone(t.cols)
		t = &c
		e.tables[l] = t
		p.ownTables[t] = true
	}
	return t
}

// append adds an element that had no handle.
func (p *patch) append(e *elements, id Value, at place) (Handle, error) {
	h := Handle(len(e.places.items))
	if e.ids != nil {
		if !p.ownIDs[e] {
			e.byID.late = slices.Clone(e.byID.late)
		}
		if err := p.appendID(e, h, id); err != nil {
			return NoHandle, err
		}
		e.byID.add(idHash(id), e.id)
		p.ownIDs[e] = true
	}
	e.places = e.places.with(at)
	return h, nil
}

// appendID stores the id of a new element.
func (p *patch) appendID(e *elements, h Handle, id Value) error {
	last := edit{row: h, values: []Value{id}}
	if p.ownIDs[e] && cellKind(id.kind) == e.ids.kind && e.ids.kind != Mixed {
		e.ids.extend()
		return e.ids.overwrite(last, p.new.pool)
	}
	ids, err := e.ids.edited([]edit{last}, p.new.pool)
	if err != nil {
		return err
	}
	e.ids = ids
	return nil
}

// wasteful reports whether a good part of the graph is left over from what was
// removed.
func (g *Graph) wasteful() bool {
	const slack = 4096
	rows := 0
	for _, t := range g.vertices.tables {
		rows += t.gone
	}
	return rows > g.vertices.live/3+slack ||
		len(g.edges.places.items)-g.edges.live > g.edges.live/3+slack ||
		g.pool.lateSize() > int64(len(g.pool.blob))/2+slack<<8
}

// compact returns the same graph built from the ground up.
func (g *Graph) compact() (*Graph, error) {
	hidden := map[Handle][]Handle{}
	for _, e := range g.hidden {
		hidden[g.src.items[e]] = append(hidden[g.src.items[e]], e)
	}
	b := NewBuilder(Limits{})
	b.unnamed = g.unnamed
	for _, names := range []struct{ to, from *symbols }{
		{&b.keys, g.keys}, {&b.vertexLabels, g.vertexLabels}, {&b.edgeLabels, g.edgeLabels},
	} {
		*names.to = symbols{names: slices.Clone(names.from.names), nums: maps.Clone(names.from.nums)}
	}
	for _, v := range g.Vertices() {
		if err := b.Add(g.record(v, hidden[v])); err != nil {
			return nil, fmt.Errorf("compact: %w", err)
		}
	}
	for _, e := range g.hidden {
		if !g.HasVertex(g.src.items[e]) {
			if err := b.addEdgeRecord(g.VertexID(g.src.items[e]), g.edgeRecord(e)); err != nil {
				return nil, fmt.Errorf("compact: %w", err)
			}
		}
	}
	return b.Build()
}
