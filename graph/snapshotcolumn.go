package graph

import (
	"maps"
	"slices"
)

// limits are the bounds that a decoded column is checked against.
type limits struct {
	keys int
	rows int // rows of the current table; for a column of ids, the number of elements
}

func (e *encoder) columns(t *table) {
	encodeNumbers(e, t.keys)
	for _, c := range t.cols {
		e.column(c)
	}
}

func (d *decoder) columns(t *table) {
	d.limits.rows = len(t.rows.items)
	t.keys = decodeNumbers[Key](d)
	for i, k := range t.keys {
		if int(k) >= d.limits.keys || i > 0 && k <= t.keys[i-1] {
			d.fail("a table has a wrong key")
			return
		}
		t.cols = append(t.cols, d.column())
	}
}

func (e *encoder) column(c *Column) {
	e.buf = append(e.buf, byte(c.kind))
	e.number(c.n)
	e.number(c.filled)
	e.flag(c.sparse)
	e.flag(c.present != nil)
	e.flag(c.side != nil)
	if c.sparse {
		encodeNumbers(e, c.rows)
	}
	if c.present != nil {
		encodeNumbers(e, c.present)
	}
	e.cells(&c.cells)
	if c.side != nil {
		e.side(c.side)
	}
}

func (d *decoder) column() *Column {
	c := &Column{pool: d.strings}
	c.kind, c.n, c.filled = Kind(d.byte()), d.number(), d.number()
	c.sparse = d.flag()
	hasPresent, hasSide := d.flag(), d.flag()
	if c.sparse {
		c.rows = decodeNumbers[uint32](d)
	}
	if hasPresent {
		c.present = decodeNumbers[uint64](d)
	}
	d.cells(&c.cells)
	if d.err == nil {
		d.checkColumn(c, hasPresent)
	}
	if hasSide && d.err == nil {
		c.side = d.side(c)
	}
	return c
}

// checkColumn checks that the parts of a column are consistent.
func (d *decoder) checkColumn(c *Column, hasPresent bool) {
	ok := c.n <= d.limits.rows && (c.filled == c.n || hasPresent)
	switch {
	case c.sparse:
		ok = ok && !hasPresent && len(c.rows) == c.n
		for i, r := range c.rows {
			ok = ok && int(r) < d.limits.rows && (i == 0 || r > c.rows[i-1])
		}
	case hasPresent:
		ok = ok && c.present.Count() == c.filled && len(c.present) == len(NewBits(c.n))
		if used := c.n % 64; ok && used > 0 { // bits of the last word that belong to rows
			ok = c.present[len(c.present)-1]>>used == 0
		}
	}
	if !ok {
		d.fail("a column does not fit its table")
	}
}

func (e *encoder) cells(c *cells) {
	switch c.kind {
	case KindBool:
		encodeNumbers(e, c.bools)
	case KindInt:
		encodeNumbers(e, c.ints)
	case KindLong:
		encodeNumbers(e, c.longs)
	case KindFloat:
		encodeFloats32(e, c.floats)
	case KindDouble:
		encodeFloats64(e, c.doubles)
	case KindString:
		encodeNumbers(e, c.codes)
	case Mixed:
		encodeNumbers(e, c.codes)
		e.values(c.dict)
	}
}

func (d *decoder) cells(c *cells) {
	n := 0 // number of decoded cells
	switch c.kind {
	case KindNull: // has no cells
	case KindBool:
		c.bools = decodeNumbers[uint64](d)
		n = c.n
		if len(c.bools) != len(NewBits(c.n)) {
			d.fail("a column lacks cells")
		}
	case KindInt:
		c.ints = decodeNumbers[int32](d)
		n = len(c.ints)
	case KindLong:
		c.longs = decodeNumbers[int64](d)
		n = len(c.longs)
	case KindFloat:
		c.floats = decodeFloats32(d)
		n = len(c.floats)
	case KindDouble:
		c.doubles = decodeFloats64(d)
		n = len(c.doubles)
	case KindString:
		c.codes = decodeNumbers[uint32](d)
		n = len(c.codes)
		d.checkBelow(c.codes, len(d.strings.ends))
	case Mixed:
		c.codes = decodeNumbers[uint32](d)
		c.dict = d.values()
		n = len(c.codes)
		d.checkBelow(c.codes, len(c.dict))
	default:
		d.fail("a column has an unknown kind")
	}
	if n != c.n {
		d.fail("a column lacks cells")
	}
}

func (e *encoder) side(s *side) {
	rows := slices.Sorted(maps.Keys(s.unknown))
	reasons := make([]uint32, len(rows))
	for i, r := range rows {
		reasons[i] = s.unknown[r]
	}
	encodeNumbers(e, rows)
	encodeNumbers(e, reasons)
	rows = slices.Sorted(maps.Keys(s.more))
	encodeNumbers(e, rows)
	for _, r := range rows {
		e.values(s.more[r])
	}
	rows = slices.Sorted(maps.Keys(s.details))
	encodeNumbers(e, rows)
	for _, r := range rows {
		e.number(len(s.details[r]))
		for _, dt := range s.details[r] {
			e.value(dt.id)
			e.number(len(dt.meta))
			for _, m := range dt.meta {
				e.number(int(m.Key))
				e.value(m.Value)
			}
		}
	}
}

func (d *decoder) side(c *Column) *side {
	s := &side{}
	rows, reasons := decodeNumbers[uint32](d), decodeNumbers[uint32](d)
	d.checkBelow(rows, d.limits.rows)
	d.checkBelow(reasons, len(d.strings.ends))
	if len(rows) != len(reasons) {
		d.fail("an unknown cell has no reason")
		return s
	}
	for i, r := range rows {
		if s.unknown == nil {
			s.unknown = map[uint32]uint32{}
		}
		s.unknown[r] = reasons[i]
		if c.Has(r) {
			d.fail("an unknown cell has a value")
		}
	}
	for _, r := range decodeNumbers[uint32](d) {
		if s.more == nil {
			s.more = map[uint32][]Value{}
		}
		s.more[r] = d.values()
		if !c.Has(r) {
			d.fail("a cell has a second value and no first")
		}
	}
	for _, r := range decodeNumbers[uint32](d) {
		if s.details == nil {
			s.details = map[uint32][]detail{}
		}
		ds := make([]detail, d.count(1))
		for i := range ds {
			ds[i] = d.detail()
		}
		s.details[r] = ds
		if !c.Has(r) || len(ds) > 1+len(s.more[r]) {
			d.fail("a cell has more details than values")
		}
	}
	return s
}

func (d *decoder) detail() detail {
	dt := detail{id: d.value(0)}
	const minSize = 4 + 1 // of a property: the number of its key, and a null
	n := d.count(minSize)
	if n > maxMeta {
		d.fail("a value has too many meta-properties")
		return dt
	}
	for range n {
		k := d.number()
		if k >= d.limits.keys {
			d.fail("a property has a wrong key")
			break
		}
		dt.meta = append(dt.meta, Property{Key(k), d.value(0)})
	}
	return dt
}
