package graph

import (
	"errors"
	"fmt"
	"math"
)

// ErrDuplicate is the error of an id that is already used.
var ErrDuplicate = errors.New("graph: id is already used")

// Limits limit the size of a graph. Zero means only the limit of the format.
type Limits struct {
	Vertices int   // vertices, including those that only edges refer to
	Edges    int   // edges, including hidden ones: those with a missing end
	Bytes    int64 // estimated bytes of strings and cells; roughly the size of the graph
}

// A Builder builds a graph. Vertices and edges may be added in any order: an
// edge refers to its ends by id, and they may be added later. A Builder is not
// safe for concurrent use. After an error, only the effect of the failed call is
// lost. Strings and collections are copied.
type Builder struct {
	limits       Limits
	pool         poolBuilder
	keys         symbols
	vertexLabels symbols
	edgeLabels   symbols
	vertices     elementsBuilder
	edges        elementsBuilder
	src, dst     []Handle
	cellBytes    int64
	nextID       int64 // next generated id
	generatedIDs int64 // number of ids generated for vertex properties: -1, -2 and so on
	built        bool
}

// elementsBuilder collects vertices or edges.
type elementsBuilder struct {
	positions []position
	tables    []*tableBuilder
	ids       columnBuilder
	byID      []uint32 // see hashTable
	live      int
	hasIDs    bool // at least one element has a given id
}

type tableBuilder struct {
	rows []Handle
	cols map[Key]*columnBuilder
}

// NewBuilder returns an empty builder.
func NewBuilder(l Limits) *Builder { return &Builder{limits: l} }

// text returns the string with a code: see intern.
func (b *poolBuilder) text(code uint32) string { return string(b.bytesOf(code)) }

// text returns the string with a code: see intern.
func (p *pool) text(code uint32) string { return p.str(code) }

// AddVertex adds a vertex and returns its handle, which is also its handle in
// the graph. For a null id it generates a unique number. It fails with
// [ErrDuplicate] when the id is used.
func (b *Builder) AddVertex(id Value, label string) (Handle, error) {
	if id.IsNull() {
		id = b.unusedID(&b.vertices)
	}
	v, err := b.vertexHandle(id)
	if err != nil {
		return NoHandle, err
	}
	if b.vertices.positions[v].label != NoLabel {
		return NoHandle, fmt.Errorf("add vertex %s: %w", id, ErrDuplicate)
	}
	b.vertices.addRow(v, Label(b.vertexLabels.intern(label)))
	return v, nil
}

// unusedID returns a number that is not yet used as an id.
func (b *Builder) unusedID(e *elementsBuilder) Value {
	for {
		id := Long(b.nextID)
		b.nextID++
		if _, used := e.find(id, &b.pool); !used {
			return id
		}
	}
}

// vertexHandle returns the handle of the vertex with an id. If the id is new, it reserves
// a handle for a vertex that may be added later.
func (b *Builder) vertexHandle(id Value) (Handle, error) {
	if v, ok := b.vertices.find(id, &b.pool); ok {
		return v, nil
	}
	if n := len(b.vertices.positions); n >= math.MaxInt32 || b.limits.Vertices > 0 && n >= b.limits.Vertices {
		return NoHandle, fmt.Errorf("add vertex %s: %w", id, ErrTooLarge)
	}
	return b.vertices.create(id, &b.pool)
}

// AddEdge adds an edge between the vertices with the given ids and returns its
// handle, which is also its handle in the graph. With a null id, the graph
// generates the id. It fails with [ErrDuplicate] when the id is used.
func (b *Builder) AddEdge(id Value, label string, from, to Value) (Handle, error) {
	if n := len(b.src); n >= math.MaxInt32 || b.limits.Edges > 0 && n >= b.limits.Edges {
		return NoHandle, fmt.Errorf("add edge %s: %w", label, ErrTooLarge)
	}
	if !id.IsNull() {
		if _, used := b.edges.find(id, &b.pool); used {
			return NoHandle, fmt.Errorf("add edge %s: %w", id, ErrDuplicate)
		}
	}
	src, err := b.vertexHandle(from)
	if err != nil {
		return NoHandle, err
	}
	dst, err := b.vertexHandle(to)
	if err != nil {
		return NoHandle, err
	}
	e, err := b.createEdge(id)
	if err != nil {
		return NoHandle, err
	}
	b.edges.addRow(e, Label(b.edgeLabels.intern(label)))
	b.src, b.dst = append(b.src, src), append(b.dst, dst)
	return e, nil
}

// createEdge creates an edge with an id. Until the first edge with a given id, ids are
// equal to handles and not stored; that edge makes createEdge store the earlier ones.
func (b *Builder) createEdge(id Value) (Handle, error) {
	es := &b.edges
	if id.IsNull() && !es.hasIDs {
		es.positions = append(es.positions, position{label: NoLabel})
		return Handle(len(es.positions) - 1), nil
	}
	if !es.hasIDs {
		es.hasIDs = true
		earlier := es.positions
		es.positions = nil
		for i := range earlier {
			if _, err := es.create(Long(int64(i)), &b.pool); err != nil {
				return NoHandle, err
			}
		}
		copy(es.positions, earlier) // restores the labels and rows, which create does not set
		// AddEdge could not find ids that were not stored yet.
		if _, used := es.find(id, &b.pool); used {
			return NoHandle, fmt.Errorf("add edge %s: %w", id, ErrDuplicate)
		}
	}
	if id.IsNull() {
		id = b.unusedID(es)
	}
	return es.create(id, &b.pool)
}

// SetProperty sets the only value of a key of a vertex.
func (b *Builder) SetProperty(vertex Handle, key string, v Value) error {
	c, row := b.vertices.column(vertex, Key(b.keys.intern(key)))
	if err := b.charge(v); err != nil {
		return err
	}
	return c.set(row, v, &b.pool)
}

// VertexProperty is one of several values of a key of a vertex.
type VertexProperty struct {
	ID    Value // null when it has no given id
	Value Value
	Meta  []Meta
}

// Meta is a meta-property: a property of a vertex property.
type Meta struct {
	Key   string
	Value Value
}

// maxMeta is the number of meta-properties that a value can have: [MetaPropertyOf] has 15 bits for
// the index.
const maxMeta = 1 << 15

// checkMeta returns an error if the value has too many meta-properties.
func (p VertexProperty) checkMeta() error {
	if len(p.Meta) > maxMeta {
		return fmt.Errorf("set property: a value has %d meta-properties, more than %d: %w", len(p.Meta), maxMeta, ErrTooLarge)
	}
	return nil
}

// AddProperty adds a value to a key of a vertex. It fails with [ErrTooLarge] if the value has more
// than 32,768 meta-properties.
func (b *Builder) AddProperty(vertex Handle, key string, p VertexProperty) error {
	if err := p.checkMeta(); err != nil {
		return err
	}
	c, row := b.vertices.column(vertex, Key(b.keys.intern(key)))
	if err := b.charge(p.Value); err != nil {
		return err
	}
	d := detail{id: detach(p.ID)}
	for _, m := range p.Meta {
		d.meta = append(d.meta, Property{Key(b.keys.intern(m.Key)), detach(m.Value)})
	}
	if _, exists := c.find(row); exists && d.id.IsNull() { // VertexPropertyID computes the id of the first value
		b.generatedIDs++
		d.id = Long(-b.generatedIDs)
	}
	return c.add(row, p.Value, d, &b.pool)
}

// SetUnknown records that the value of a key of a vertex could not be read, and the reason.
func (b *Builder) SetUnknown(vertex Handle, key, reason string) error {
	c, row := b.vertices.column(vertex, Key(b.keys.intern(key)))
	code, err := b.pool.intern(reason)
	if err != nil {
		return err
	}
	c.setUnknown(row, code)
	return nil
}

// SetEdgeProperty sets the value of a key of an edge.
func (b *Builder) SetEdgeProperty(edge Handle, key string, v Value) error {
	c, row := b.edges.column(edge, Key(b.keys.intern(key)))
	if err := b.charge(v); err != nil {
		return err
	}
	return c.set(row, v, &b.pool)
}

// charge adds the size of a value to the total. It fails if the total would exceed the limit.
func (b *Builder) charge(v Value) error {
	n := int64(8)
	if cellKind(v.kind) == Mixed {
		n += v.Bytes()
	}
	if b.limits.Bytes > 0 && b.cellBytes+n+int64(len(b.pool.blob)) > b.limits.Bytes {
		return fmt.Errorf("set property: %w", ErrTooLarge)
	}
	b.cellBytes += n
	return nil
}

// find returns the handle of an id.
func (e *elementsBuilder) find(id Value, p *poolBuilder) (Handle, bool) {
	if e.ids.kind == KindString {
		if id.kind != KindString {
			return 0, false
		}
		s := id.Str()
		return probe(e.byID, hashString(s), func(h uint32) bool { return string(p.bytesOf(e.ids.codes[h])) == s })
	}
	return probe(e.byID, idHash(id), func(h uint32) bool { return Eq(e.id(h, p), id) })
}

func (e *elementsBuilder) id(h Handle, p *poolBuilder) Value {
	if e.ids.kind == KindString {
		return String(string(p.bytesOf(e.ids.codes[h])))
	}
	return e.ids.value(int(h), nil)
}

// create adds an element with an id that is not yet used.
func (e *elementsBuilder) create(id Value, p *poolBuilder) (Handle, error) {
	h := Handle(len(e.positions))
	if err := e.ids.set(h, id, p); err != nil {
		return NoHandle, err
	}
	if n := len(e.positions); !hasRoom(e.byID, n) {
		e.byID = hashTable(n, 2*n+8, func(i uint32) uint64 { return idHash(e.id(i, p)) })
	}
	insert(e.byID, idHash(id), h)
	e.positions = append(e.positions, position{label: NoLabel})
	return h, nil
}

// addRow adds the element h as a row to the table of its label.
func (e *elementsBuilder) addRow(h Handle, l Label) {
	for int(l) >= len(e.tables) {
		e.tables = append(e.tables, &tableBuilder{cols: map[Key]*columnBuilder{}})
	}
	t := e.tables[l]
	e.positions[h] = position{label: l, row: uint32(len(t.rows))}
	t.rows = append(t.rows, h)
	e.live++
}

// column returns the column of a key and the row of an element in it.
func (e *elementsBuilder) column(h Handle, k Key) (*columnBuilder, uint32) {
	p := e.positions[h]
	t := e.tables[p.label]
	c := t.cols[k]
	if c == nil {
		c = &columnBuilder{}
		t.cols[k] = c
	}
	return c, p.row
}
