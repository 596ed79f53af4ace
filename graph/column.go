package graph

import (
	"iter"
	"slices"
)

// A Column holds the values of one property key for the elements of one label,
// by row. The cells hold at most one value per row. When a vertex has several
// values under a key, further values are in a side table.
//
// A dense column has a position for every row; a sparse column has positions
// only for rows with a value. Rows beyond the column have no value.
type Column struct {
	cells
	rows    []uint32 // sparse: the rows with a value, ascending
	sparse  bool
	present Bits // dense: the rows with a value; nil when all have one
	filled  int  // number of rows with a value
	side    *side
	pool    *pool
	index   lazyIndex
}

// side holds the side tables that few columns have.
type side struct {
	unknown map[uint32]uint32   // row -> code of the reason
	more    map[uint32][]Value  // row -> the second and further values
	details map[uint32][]detail // row -> ids and meta-properties, by index of the value
}

// A detail holds the id and the meta-properties of a vertex property.
type detail struct {
	id   Value
	meta []Property
}

// A Property is a key with its value.
type Property struct {
	Key   Key
	Value Value
}

// Kind returns the kind of all values of the column, or Mixed.
func (c *Column) Kind() Kind { return c.kind }

// Filled returns the number of rows with a value.
func (c *Column) Filled() int { return c.filled }

// Place returns the position of a row's value in the slices of the column, or a
// negative number when the row has none.
func (c *Column) Place(row uint32) int {
	if c.sparse {
		if i, ok := slices.BinarySearch(c.rows, row); ok {
			return i
		}
		return -1
	}
	if int(row) >= c.n || c.present != nil && !c.present.Has(row) {
		return -1
	}
	return int(row)
}

// At returns the first value of a row.
func (c *Column) At(row uint32) (Value, bool) {
	i := c.Place(row)
	if i < 0 {
		return Value{}, false
	}
	return c.value(i, c.pool), true
}

// Has reports whether a row has a value.
func (c *Column) Has(row uint32) bool { return c.Place(row) >= 0 }

// Rows returns the rows of a sparse column in ascending order: position i
// belongs to row Rows()[i]. For a dense column it returns nil and false:
// position i belongs to row i, if [Column.Present] contains it.
func (c *Column) Rows() ([]uint32, bool) { return c.rows, c.sparse }

// Present returns the rows of a dense column that have a value, or nil when all rows have one.
func (c *Column) Present() Bits { return c.present }

// Places returns the number of positions: the length of the slice of values.
func (c *Column) Places() int { return c.n }

// Bools returns the values of a column of booleans: the positions that are true.
func (c *Column) Bools() Bits { return c.bools }

// Ints returns the values of a column of ints.
func (c *Column) Ints() []int32 { return c.ints }

// Longs returns the values of a column of longs.
func (c *Column) Longs() []int64 { return c.longs }

// Floats returns the values of a column of floats.
func (c *Column) Floats() []float32 { return c.floats }

// Doubles returns the values of a column of doubles.
func (c *Column) Doubles() []float64 { return c.doubles }

// Codes returns the values of a column of strings as codes; see [Graph.StringOf]
// and [Graph.CodeOf]. For a mixed column it returns indexes into [Column.Dict].
func (c *Column) Codes() []uint32 { return c.codes }

// Dict returns the distinct values of a mixed column.
func (c *Column) Dict() []Value { return c.dict }

// HasMany reports whether some row has more than one value.
func (c *Column) HasMany() bool { return c.side != nil && len(c.side.more) > 0 }

// Count returns the number of values of a row.
func (c *Column) Count(row uint32) int {
	if !c.Has(row) {
		return 0
	}
	if c.side == nil {
		return 1
	}
	return 1 + len(c.side.more[row])
}

// Nth returns the i-th value of a row. The row must have it.
func (c *Column) Nth(row uint32, i int) Value {
	if i == 0 {
		return c.value(c.Place(row), c.pool)
	}
	return c.side.more[row][i-1]
}

// HasUnknown reports whether the value of some row is unknown.
func (c *Column) HasUnknown() bool { return c.side != nil && len(c.side.unknown) > 0 }

// Unknown returns the reason if the value of a row is unknown. Such a row has no value.
func (c *Column) Unknown(row uint32) (reason string, ok bool) {
	if c.side == nil {
		return "", false
	}
	code, ok := c.side.unknown[row]
	if !ok {
		return "", false
	}
	return c.pool.str(code), true
}

// UnknownRows returns the rows whose value is unknown, in ascending order.
func (c *Column) UnknownRows() []uint32 {
	if c.side == nil {
		return nil
	}
	rows := make([]uint32, 0, len(c.side.unknown))
	for r := range c.side.unknown {
		rows = append(rows, r)
	}
	slices.Sort(rows)
	return rows
}

// detail returns the id and meta-properties of the i-th value of a row.
func (c *Column) detail(row uint32, i int) detail {
	if c.side == nil {
		return detail{}
	}
	if ds := c.side.details[row]; i < len(ds) {
		return ds[i]
	}
	return detail{}
}

func (c *Column) bytes() int64 {
	n := c.cells.bytes() + 4*int64(cap(c.rows)) + 8*int64(cap(c.present)) + 240 + c.index.built.peek().bytes()
	if c.side == nil {
		return n
	}
	n += 16 * int64(len(c.side.unknown))
	for _, vs := range c.side.more {
		for _, v := range vs {
			n += v.Bytes() + 8
		}
	}
	for _, ds := range c.side.details {
		for _, d := range ds {
			n += d.id.Bytes() + 32
			for _, m := range d.meta {
				n += m.Value.Bytes() + 8
			}
		}
	}
	return n
}

// rowAt returns the row of a position.
func (c *Column) rowAt(i int) uint32 {
	if c.sparse {
		return c.rows[i]
	}
	return uint32(i)
}

// filledRows returns the rows that have a value, in ascending order.
func (c *Column) filledRows() iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for i := range c.n {
			if c.sparse || c.present == nil || c.present.Has(uint32(i)) {
				if !yield(c.rowAt(i)) {
					return
				}
			}
		}
	}
}
