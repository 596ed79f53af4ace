package graph

import "slices"

// A Handle identifies a vertex or an edge of one graph. Handles are dense: they
// can be used as indexes into slices and bit sets.
type Handle = uint32

// NoHandle is not the handle of any element.
const NoHandle = ^Handle(0)

// A Label is the number of a vertex label or of an edge label of one graph.
// Vertex and edge labels are numbered separately.
type Label uint32

// NoLabel is not the number of any label.
const NoLabel = ^Label(0)

// A Key is the number of a property key of one graph.
type Key uint32

// NoKey is not the number of any key.
const NoKey = ^Key(0)

// A position is the table and row of an element.
type position struct {
	label Label // NoLabel when the element is missing
	row   uint32
}

// A table holds the elements of one label.
type table struct {
	rows    sharedSlice[Handle] // NoHandle where a vertex was removed
	removed int                 // number of removed rows
	keys    []Key               // ascending
	cols    []*Column
}

// column returns the column of a key, or nil.
func (t *table) column(k Key) *Column {
	if t == nil {
		return nil
	}
	// Most tables have few keys, for which a linear scan is faster than binary search.
	if len(t.keys) <= 16 {
		for i, key := range t.keys {
			if key == k {
				return t.cols[i]
			}
		}
		return nil
	}
	if i, ok := slices.BinarySearch(t.keys, k); ok {
		return t.cols[i]
	}
	return nil
}

// bytes returns the estimated memory: 4 bytes per row, and 4 for the key and 8 for the
// pointer of each column.
func (t *table) bytes() int64 {
	n := 4*int64(cap(t.rows.items)) + 12*int64(len(t.keys))
	for _, c := range t.cols {
		n += c.bytes()
	}
	return n
}

// elements holds the common parts of vertices and edges.
type elements struct {
	positions sharedSlice[position]
	tables    []*table // by label
	ids       *Column  // by handle; nil for edges if none has a given id: their ids are their handles
	byID      idIndex
	live      int // number of elements that are not removed
}

func (e *elements) table(l Label) *table {
	if int(l) < len(e.tables) {
		return e.tables[l]
	}
	return nil
}

// id returns the id of an element.
func (e *elements) id(h Handle) Value {
	if e.ids == nil {
		return Long(int64(h))
	}
	v, _ := e.ids.At(h)
	return v
}

// bytes returns the estimated memory. A position has 8 bytes.
func (e *elements) bytes() int64 {
	n := 8*int64(cap(e.positions.items)) + e.byID.bytes()
	if e.ids != nil {
		n += e.ids.bytes()
	}
	for _, t := range e.tables {
		if t != nil {
			n += t.bytes()
		}
	}
	return n
}
