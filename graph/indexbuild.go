package graph

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// makeIndex builds the index of the column. rows holds the element of each row.
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
	compare := c.comparePlaces()
	slices.SortStableFunc(positions, compare)
	x := &Index{elems: make([]Handle, len(positions))}
	var first []uint32 // for each distinct value, the position of the first cell that has it
	for i, p := range positions {
		x.elems[i] = rows[c.rowAt(int(p))]
		if i == 0 || compare(positions[i-1], p) != 0 {
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

// comparePlaces returns a function that compares the values at two positions.
func (c *Column) comparePlaces() func(a, b uint32) int {
	switch c.kind {
	case KindInt:
		return func(a, b uint32) int { return cmp.Compare(c.ints[a], c.ints[b]) }
	case KindLong:
		return func(a, b uint32) int { return cmp.Compare(c.longs[a], c.longs[b]) }
	}
	return func(a, b uint32) int { return Order(c.value(int(a), c.pool), c.value(int(b), c.pool)) }
}

// makeTextIndex is makeIndex for a column of strings. It sorts the distinct strings instead of
// the cells.
func (c *Column) makeTextIndex(rows []Handle) *Index {
	counts := map[uint32]uint32{} // code of a string -> number of its cells
	for row := range c.filledRows() {
		counts[c.codes[c.Place(row)]]++
	}
	codes := slices.Collect(maps.Keys(counts))
	slices.SortFunc(codes, func(a, b uint32) int { return strings.Compare(c.pool.str(a), c.pool.str(b)) })
	x := &Index{size: len(codes), starts: make([]uint32, len(codes)+1), elems: make([]Handle, c.filled)}
	ranks := counts // code of a string -> its index in the sorted codes; it reuses the memory of counts
	for i, code := range codes {
		x.starts[i+1] = x.starts[i] + counts[code]
		ranks[code] = uint32(i)
	}
	next := slices.Clone(x.starts) // for each distinct string, where its next element goes in elems
	for row := range c.filledRows() {
		at := &next[ranks[c.codes[c.Place(row)]]]
		x.elems[*at] = rows[row]
		*at++
	}
	x.value, x.held = func(i int) Value { return String(c.pool.str(codes[i])) }, 4*int64(cap(codes))
	return x
}

// makeWideIndex is makeIndex for a column in which some rows have several values. An element
// is in the index once for each of its distinct values.
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
	x.size, x.held = len(values), valueSize*int64(cap(values)) // without the memory that the values refer to, which is part of the column
	x.value = func(i int) Value { return values[i] }
	return x
}
