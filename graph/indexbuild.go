package graph

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// makeIndex builds an index by sorting the cells of the column.
func (c *Column) makeIndex(rows []Handle) *Index {
	switch {
	case c.HasMany():
		return c.makeWideIndex(rows)
	case c.kind == KindString:
		return c.makeTextIndex(rows)
	}
	positions := make([]uint32, 0, c.filled)
	for row := range c.filledRows() {
		positions = append(positions, uint32(c.Place(row)))
	}
	order := c.placeOrder()
	slices.SortStableFunc(positions, order)
	x := &Index{elems: make([]Handle, len(positions))}
	var first []uint32 // position of the first cell with each distinct value
	for i, p := range positions {
		x.elems[i] = rows[c.rowAt(int(p))]
		if i == 0 || order(positions[i-1], p) != 0 {
			first = append(first, p)
			x.starts = append(x.starts, uint32(i))
		}
	}
	x.starts = fit(append(x.starts, uint32(len(positions))))
	first = fit(first)
	x.size, x.held = len(first), 4*int64(cap(first))
	x.value = func(i int) Value { return c.value(int(first[i]), c.pool) }
	return x
}

// placeOrder returns a comparison function for the values at two positions.
func (c *Column) placeOrder() func(a, b uint32) int {
	switch c.kind {
	case KindInt:
		return func(a, b uint32) int { return cmp.Compare(c.ints[a], c.ints[b]) }
	case KindLong:
		return func(a, b uint32) int { return cmp.Compare(c.longs[a], c.longs[b]) }
	}
	return func(a, b uint32) int { return Order(c.value(int(a), c.pool), c.value(int(b), c.pool)) }
}

// makeTextIndex is makeIndex for a column of strings. It sorts the distinct strings only.
func (c *Column) makeTextIndex(rows []Handle) *Index {
	ranks := map[uint32]uint32{}
	for row := range c.filledRows() {
		ranks[c.codes[c.Place(row)]]++ // counts first, ranks later
	}
	codes := slices.Collect(maps.Keys(ranks))
	slices.SortFunc(codes, func(a, b uint32) int { return strings.Compare(c.pool.str(a), c.pool.str(b)) })
	x := &Index{size: len(codes), starts: make([]uint32, len(codes)+1), elems: make([]Handle, c.filled)}
	for i, code := range codes {
		x.starts[i+1] = x.starts[i] + ranks[code]
		ranks[code] = uint32(i)
	}
	next := slices.Clone(x.starts)
	for row := range c.filledRows() {
		slot := &next[ranks[c.codes[c.Place(row)]]]
		x.elems[*slot] = rows[row]
		*slot++
	}
	x.value, x.held = func(i int) Value { return String(c.pool.str(codes[i])) }, 4*int64(cap(codes))
	return x
}

// makeWideIndex is makeIndex for a column in which some row has several values.
func (c *Column) makeWideIndex(rows []Handle) *Index {
	type cell struct {
		v Value
		h Handle
	}
	var all []cell
	for row := range c.filledRows() {
		for i := range c.Count(row) {
			v := c.Nth(row, i)
			repeated := false
			for j := range i {
				repeated = repeated || Order(c.Nth(row, j), v) == 0
			}
			if !repeated {
				all = append(all, cell{v, rows[row]})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b cell) int { return Order(a.v, b.v) })
	x := &Index{}
	var values []Value
	for i, a := range all {
		if i == 0 || Order(all[i-1].v, a.v) != 0 {
			values = append(values, a.v)
			x.starts = append(x.starts, uint32(i))
		}
		x.elems = append(x.elems, a.h)
	}
	x.starts = append(x.starts, uint32(len(all)))
	x.size, x.held = len(values), valueSize*int64(cap(values)) // what the values refer to belongs to the column
	x.value = func(i int) Value { return values[i] }
	return x
}
