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
	Remove bool // remove the vertex; only the ID of the record is used
}

// Patch returns a graph in which some vertices are replaced, added or removed. A
// record describes the whole vertex: properties and outgoing edges that are not
// in it are removed. Incoming edges belong to their source vertices: they are
// kept, and hidden while the vertex is missing. Among several changes to one id,
// the last one is applied.
//
// The original graph is not changed. Columns and adjacency blocks that a change
// does not affect are shared, so a patch costs about as much as copying the
// affected ones. Handles stay valid, unless so much has been removed since the
// graph was built that the patch compacts it; see [Graph.SharesHandles].
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
	if p.new.needsCompaction() {
		return p.new.compact()
	}
	p.new.lineage = g.lineage.extend(g.VertexCap(), p.new.VertexCap())
	return p.new, nil
}

// resolved is a change together with the handle of its vertex.
type resolved struct {
	Change
	vertex Handle
}

// patch is a change in progress. The new graph starts as a copy that shares
// everything; parts are copied before they are changed.
type patch struct {
	old, new *Graph
	changed  map[Handle]bool // vertices with a change
	moved    []Handle        // vertices that were removed from or assigned to a row
	edits    map[columnRef][]edit

	// The parts of the new graph that it does not share with the old one.
	ownPositions bool
	ownTables    map[*table]bool
	ownRows      map[*table]bool
	ownIDs       map[*elements]bool
}

// begin creates the new graph.
func (p *patch) begin() {
	o := p.old
	p.ownTables, p.ownRows, p.ownIDs = map[*table]bool{}, map[*table]bool{}, map[*elements]bool{}
	p.new = &Graph{
		pool: o.pool, keys: o.keys, vertexLabels: o.vertexLabels, edgeLabels: o.edgeLabels,
		vertices: o.vertices, edges: o.edges, src: o.src, dst: o.dst, deleted: o.deleted,
		blocks: o.blocks, hidden: o.hidden, generatedIDs: o.generatedIDs,
	}
	for _, e := range []*elements{&p.new.vertices, &p.new.edges} {
		e.tables = slices.Clone(e.tables)
	}
	for d, bs := range o.blocks {
		p.new.blocks[d] = slices.Clone(bs)
	}
}

// resolve finds or creates the handle of each changed id. It keeps only the last change to an id.
func (p *patch) resolve(changes []Change) ([]resolved, error) {
	var order []resolved
	indexes := map[Handle]int{}
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
		if i, exists := indexes[v]; exists {
			order[i].Change = c
			continue
		}
		indexes[v] = len(order)
		p.changed[v] = true
		order = append(order, resolved{c, v})
	}
	return order, nil
}

// newVertex assigns a handle to an id. The vertex itself is added later.
func (p *patch) newVertex(id Value) (Handle, error) {
	return p.append(&p.new.vertices, id, position{label: NoLabel})
}

// vertex replaces or removes one vertex, without its edges.
func (p *patch) vertex(v Handle, c Change) error {
	old := p.new.vertices.positions.items[v]
	if c.Remove {
		p.removeRow(v, old)
		return nil
	}
	label := Label(p.intern(&p.new.vertexLabels, &p.old.vertexLabels, c.Label))
	if old.label != label {
		p.removeRow(v, old)
		p.assignRow(v, label)
	}
	now := p.new.vertices.positions.items[v]
	cells, err := p.collectEdits(c.Properties)
	if err != nil {
		return err
	}
	p.compareCells(now, cells, old.label == label)
	return nil
}

// intern returns the number of a name. It copies the symbols before adding a new name.
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

// setPosition changes the label and row of a vertex.
func (p *patch) setPosition(v Handle, to position) {
	vs := &p.new.vertices
	// Elements that this patch appended are not shared.
	if !p.ownPositions && int(v) < len(p.old.vertices.positions.items) {
		vs.positions = newSharedSlice(slices.Clone(vs.positions.items))
		p.ownPositions = true
	}
	vs.positions.items[v] = to
	p.moved = append(p.moved, v)
}

// removeRow removes a vertex from its table.
func (p *patch) removeRow(v Handle, old position) {
	if old.label == NoLabel {
		return
	}
	t := p.table(&p.new.vertices, old.label)
	if !p.ownRows[t] {
		t.rows = newSharedSlice(slices.Clone(t.rows.items))
		p.ownRows[t] = true
	}
	t.rows.items[old.row] = NoHandle
	t.removed++
	for i, c := range t.cols {
		if _, unknown := c.Unknown(old.row); unknown || c.Has(old.row) {
			p.edit(columnRef{true, old.label, t.keys[i]}, edit{row: old.row})
		}
	}
	p.setPosition(v, position{label: NoLabel})
	p.new.vertices.live--
}

// assignRow adds a vertex as a row to a table.
func (p *patch) assignRow(v Handle, l Label) {
	t := p.table(&p.new.vertices, l)
	p.setPosition(v, position{label: l, row: uint32(len(t.rows.items))})
	t.rows = t.rows.with(v)
	p.new.vertices.live++
}

// table returns the table of a label for modification. It creates or copies the table if necessary.
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

// append adds an element that has no handle yet.
func (p *patch) append(e *elements, id Value, position position) (Handle, error) {
	h := Handle(len(e.positions.items))
	if e.ids != nil {
		if !p.ownIDs[e] {
			e.byID.patched = slices.Clone(e.byID.patched)
		}
		if err := p.appendID(e, h, id); err != nil {
			return NoHandle, err
		}
		e.byID.add(idHash(id), e.id)
		p.ownIDs[e] = true
	}
	e.positions = e.positions.with(position)
	return h, nil
}

// appendID stores the id of a new element.
func (p *patch) appendID(e *elements, h Handle, id Value) error {
	last := edit{row: h, values: []Value{id}}
	if p.ownIDs[e] && cellKind(id.kind) == e.ids.kind && e.ids.kind != Mixed {
		e.ids.extend()
		return e.ids.overwrite(last, p.new.pool)
	}
	ids, err := e.ids.withEdits([]edit{last}, p.new.pool)
	if err != nil {
		return err
	}
	e.ids = ids
	return nil
}

// needsCompaction reports whether a large part of the graph is left over from
// removals, so that it should be compacted.
func (g *Graph) needsCompaction() bool {
	// A small graph is not compacted for less than this.
	const minRemoved, minBytes = 4096, 1 << 20
	rows := 0
	for _, t := range g.vertices.tables {
		rows += t.removed
	}
	return rows > g.vertices.live/3+minRemoved ||
		len(g.edges.positions.items)-g.edges.live > g.edges.live/3+minRemoved ||
		g.pool.addedSize() > int64(len(g.pool.blob))/2+minBytes
}

// compact rebuilds the same graph.
func (g *Graph) compact() (*Graph, error) {
	hidden := map[Handle][]Handle{}
	for _, e := range g.hidden {
		hidden[g.src.items[e]] = append(hidden[g.src.items[e]], e)
	}
	b := NewBuilder(Limits{})
	b.generatedIDs = g.generatedIDs
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
