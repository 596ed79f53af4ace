package graph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// snapshotMagic is the magic number of a snapshot. A snapshot is the in-memory
// graph without the parts that reading rebuilds: hash tables, adjacency lists,
// indexes. It consists of little-endian numbers after the magic number, with a
// checksum at the end.
const snapshotMagic = "VIGILGR\x01"

// ErrSnapshot is the error of data that is not a valid snapshot.
var ErrSnapshot = errors.New("graph: not a snapshot")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// WriteTo writes a snapshot of the graph. Generated ids may differ in the graph that is read back.
func (g *Graph) WriteTo(w io.Writer) (int64, error) {
	tidy := g
	// The format has no deleted edges, no removed rows and no strings that patches added.
	hasRemovedRows := slices.ContainsFunc(g.vertices.tables, func(t *table) bool { return t.removed > 0 })
	if g.deleted != nil || hasRemovedRows || g.pool.patchStrings() != nil {
		var err error
		if tidy, err = g.compact(); err != nil {
			return 0, err
		}
	}
	e := &encoder{buf: []byte(snapshotMagic)}
	tidy.encode(e)
	e.buf = binary.LittleEndian.AppendUint32(e.buf, crc32.Checksum(e.buf, castagnoli))
	n, err := w.Write(e.buf)
	return int64(n), err
}

// Read reads a snapshot until the end of r.
func Read(r io.Reader) (*Graph, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	return Decode(data)
}

// Decode returns the graph of a snapshot. It keeps no reference to data.
func Decode(data []byte) (*Graph, error) {
	end := len(data) - 4
	if end < len(snapshotMagic) || string(data[:len(snapshotMagic)]) != snapshotMagic {
		return nil, ErrSnapshot
	}
	if binary.LittleEndian.Uint32(data[end:]) != crc32.Checksum(data[:end], castagnoli) {
		return nil, fmt.Errorf("%w: wrong checksum", ErrSnapshot)
	}
	return decodeBody(data[len(snapshotMagic):end])
}

func decodeBody(body []byte) (*Graph, error) {
	d := &decoder{data: body}
	g := decodeGraph(d)
	if d.err == nil && len(d.data) > 0 {
		d.fail("data after the end")
	}
	if d.err != nil {
		return nil, d.err
	}
	return g, nil
}

func (g *Graph) encode(e *encoder) {
	e.text(g.pool.blob)
	encodeNumbers(e, g.pool.ends)
	for _, s := range []*symbols{g.keys, g.vertexLabels, g.edgeLabels} {
		e.number(len(s.names))
		for _, name := range s.names {
			e.text(name)
		}
	}
	e.buf = binary.LittleEndian.AppendUint64(e.buf, uint64(g.generatedIDs))
	e.number(len(g.vertices.positions.items))
	for _, t := range g.vertices.tables {
		encodeNumbers(e, t.rows.items)
		e.columns(t)
	}
	e.column(g.vertices.ids)
	labels := make([]Label, len(g.edges.positions.items))
	for i, p := range g.edges.positions.items {
		labels[i] = p.label
	}
	encodeNumbers(e, labels)
	encodeNumbers(e, g.src.items)
	encodeNumbers(e, g.dst.items)
	for _, t := range g.edges.tables {
		e.columns(t)
	}
	e.flag(g.edges.ids != nil)
	if g.edges.ids != nil {
		e.column(g.edges.ids)
	}
}

func decodeGraph(d *decoder) *Graph {
	g := &Graph{pool: d.pool(), keys: d.symbols(), vertexLabels: d.symbols(), edgeLabels: d.symbols()}
	g.generatedIDs = int64(d.uint64())
	d.limits = limits{keys: len(g.keys.names)}
	d.strings = g.pool
	d.vertices(g)
	d.edges(g)
	if d.err != nil {
		return nil
	}
	g.finish()
	return g
}

// pool reads the strings.
func (d *decoder) pool() *pool {
	p := &pool{blob: d.text(), ends: decodeNumbers[uint32](d)}
	if !slices.IsSorted(p.ends) || len(p.ends) > 0 && int(p.ends[len(p.ends)-1]) != len(p.blob) {
		d.fail("strings overlap")
	}
	if d.err == nil {
		p.table = hashTable(len(p.ends), 0, func(i uint32) uint64 { return hashString(p.str(i)) })
	}
	return p
}

func (d *decoder) symbols() *symbols {
	s := &symbols{}
	n := d.count(4) // a name takes at least the 4 bytes of its length
	for range n {
		s.intern(d.text())
	}
	if len(s.names) != n {
		d.fail("a name is duplicated")
	}
	return s
}

// vertices reads the vertex tables and ids.
func (d *decoder) vertices(g *Graph) {
	n := d.count(1) // every vertex takes at least one byte
	positions := slices.Repeat([]position{{label: NoLabel}}, n)
	for l := range g.vertexLabels.names {
		t := &table{rows: newSharedSlice(decodeNumbers[Handle](d))}
		for row, v := range t.rows.items {
			if int(v) >= n || positions[v].label != NoLabel {
				d.fail("a vertex is duplicated or has no id")
				return
			}
			positions[v] = position{Label(l), uint32(row)}
		}
		g.vertices.live += len(t.rows.items)
		d.columns(t)
		g.vertices.tables = append(g.vertices.tables, t)
	}
	g.vertices.positions = newSharedSlice(positions)
	d.limits.rows = n
	g.vertices.ids = d.column()
	g.vertices.indexIDs(d)
}

// edges reads the edges.
func (d *decoder) edges(g *Graph) {
	labels := decodeNumbers[Label](d)
	src, dst := decodeNumbers[Handle](d), decodeNumbers[Handle](d)
	n, vertices := len(labels), len(g.vertices.positions.items)
	if len(src) != n || len(dst) != n {
		d.fail("edges without ends")
		return
	}
	positions := make([]position, n)
	rows := make([][]Handle, len(g.edgeLabels.names))
	for e, l := range labels {
		if int(l) >= len(rows) || int(src[e]) >= vertices || int(dst[e]) >= vertices {
			d.fail("an edge has no label or no end")
			return
		}
		positions[e] = position{l, uint32(len(rows[l]))}
		rows[l] = append(rows[l], Handle(e))
	}
	for _, rs := range rows {
		t := &table{rows: newSharedSlice(fit(rs))}
		d.columns(t)
		g.edges.tables = append(g.edges.tables, t)
	}
	g.src, g.dst = newSharedSlice(src), newSharedSlice(dst)
	g.edges.positions, g.edges.live = newSharedSlice(positions), n
	if d.flag() {
		d.limits.rows = n
		g.edges.ids = d.column()
		g.edges.indexIDs(d)
	}
}

// indexIDs builds the id index and checks that ids are unique.
func (e *elements) indexIDs(d *decoder) {
	n := len(e.positions.items)
	if d.err != nil {
		return
	}
	if e.ids.filled != n {
		d.fail("an element has no id")
		return
	}
	table := hashTable(0, n, nil)
	for h := range Handle(n) {
		id := e.id(h)
		hash := idHash(id)
		if _, exists := probe(table, hash, func(x uint32) bool { return Eq(e.id(x), id) }); exists {
			d.fail("an id is duplicated")
			return
		}
		insert(table, hash, h)
	}
	e.byID = idIndex{table: table, base: n}
}
