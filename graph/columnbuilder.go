package graph

import (
	"cmp"
	"maps"
	"slices"
)

// A columnBuilder collects the values of one column. Rows normally arrive in
// ascending order; the map positions is built only when one does not.
type columnBuilder struct {
	cells                         // the first value of each row
	rows      []uint32            // the row of each cell
	positions map[uint32]int      // row -> index into rows; nil until a row arrives out of order
	dictAt    map[uint64]uint32   // hash of a value -> index into dict
	unknown   map[uint32]uint32   // row whose value is unknown -> code of the reason
	more      map[uint32][]Value  // row -> its values after the first
	details   map[uint32][]detail // row -> ids and meta-properties, in the order of its values
	removed   map[uint32]bool     // rows whose value was removed; the method column drops their cells
}

// builder returns a builder that contains the values of the column.
func (c *Column) builder() *columnBuilder {
	b := &columnBuilder{rows: slices.Collect(c.filledRows())}
	indexes := make([]int32, len(b.rows))
	for i, r := range b.rows {
		indexes[i] = int32(c.Place(r))
	}
	b.cells = c.pick(indexes)
	b.dict = slices.Clip(b.dict)
	if c.side != nil {
		b.unknown, b.more, b.details = maps.Clone(c.side.unknown), maps.Clone(c.side.more), maps.Clone(c.side.details)
	}
	return b
}

// drop removes the values of a row.
func (b *columnBuilder) drop(row uint32) {
	delete(b.unknown, row)
	delete(b.more, row)
	delete(b.details, row)
	if _, ok := b.find(row); ok {
		if b.removed == nil {
			b.removed = map[uint32]bool{}
		}
		b.removed[row] = true
	}
}

// find returns the index of a row in rows and true, or len(rows) and false if it is not there.
func (b *columnBuilder) find(row uint32) (int, bool) {
	n := len(b.rows)
	if b.positions == nil {
		if n == 0 || row > b.rows[n-1] {
			return n, false
		}
		if row == b.rows[n-1] {
			return n - 1, true
		}
		b.positions = make(map[uint32]int, n+1)
		for i, r := range b.rows {
			b.positions[r] = i
		}
	}
	if i, ok := b.positions[row]; ok {
		return i, true
	}
	return n, false
}

// set replaces the values of a row by one.
func (b *columnBuilder) set(row uint32, v Value, in interner) error {
	i, _ := b.find(row)
	if err := b.store(i, v, in); err != nil {
		return err
	}
	if i == len(b.rows) {
		b.rows = append(b.rows, row)
		if b.positions != nil {
			b.positions[row] = i
		}
	}
	delete(b.unknown, row)
	delete(b.more, row)
	delete(b.details, row)
	delete(b.removed, row)
	return nil
}

// add appends a value to those of a row. The details are its id and meta-properties.
func (b *columnBuilder) add(row uint32, v Value, d detail, in interner) error {
	_, unknown := b.unknown[row]
	n := 0
	if _, ok := b.find(row); !ok || unknown || b.removed[row] {
		if err := b.set(row, v, in); err != nil {
			return err
		}
	} else {
		if b.more == nil {
			b.more = map[uint32][]Value{}
		}
		n = len(b.more[row]) + 1
		b.more[row] = append(slices.Clip(b.more[row]), detach(v))
	}
	if !d.id.IsNull() || len(d.meta) > 0 {
		if b.details == nil {
			b.details = map[uint32][]detail{}
		}
		ds := slices.Clip(b.details[row])
		for len(ds) < n {
			ds = append(ds, detail{})
		}
		b.details[row] = append(ds, d)
	}
	return nil
}

// setUnknown marks the value of a row as unknown. The reason is a code of the pool.
func (b *columnBuilder) setUnknown(row, reason uint32) {
	if b.unknown == nil {
		b.unknown = map[uint32]uint32{}
	}
	b.unknown[row] = reason
	delete(b.more, row)
	delete(b.details, row)
}

// store stores v as the i-th cell. If v is of another kind than the cells, it converts them
// to mixed ones.
func (b *columnBuilder) store(i int, v Value, in interner) error {
	k := cellKind(v.kind)
	if b.n == 0 {
		b.kind = k
	}
	if b.kind != k && b.kind != Mixed {
		if err := b.widen(in); err != nil {
			return err
		}
	}
	var code uint32
	var err error
	switch b.kind {
	case KindString:
		code, err = in.intern(v.Str())
	case Mixed:
		code = b.codeOf(v)
	}
	if err != nil {
		return err
	}
	b.put(i, v, code)
	return nil
}

// codeOf returns the index of v in the dictionary.
func (b *columnBuilder) codeOf(v Value) uint32 {
	if b.dictAt == nil {
		b.dictAt = make(map[uint64]uint32, len(b.dict))
		for i, w := range b.dict {
			b.dictAt[w.Hash()] = uint32(i)
		}
	}
	h := v.Hash()
	if i, ok := b.dictAt[h]; ok && b.dict[i].Equal(v) {
		return i
	}
	b.dict = append(b.dict, detach(v))
	b.dictAt[h] = uint32(len(b.dict) - 1)
	return uint32(len(b.dict) - 1)
}

// texts is implemented by interners that can also return the string of a code.
type texts interface {
	text(code uint32) string
}

// widen converts cells of one kind to mixed ones.
func (b *columnBuilder) widen(in interner) error {
	old := b.cells
	b.cells = cells{kind: Mixed}
	for i := range old.n {
		var v Value
		if old.kind == KindString {
			v = String(in.(texts).text(old.codes[i]))
		} else {
			v = old.value(i, nil)
		}
		b.put(i, v, b.codeOf(v))
	}
	return nil
}

// column returns the finished column. Rows whose value was removed or is unknown have no cell
// in it.
func (b *columnBuilder) column(p *pool) *Column {
	order := b.order()
	c := &Column{pool: p, filled: len(order), side: b.sideTables()}
	if len(order) == 0 {
		c.cells = cells{kind: b.kind}
		return c
	}
	last := b.rows[order[len(order)-1]]
	if int(last) >= 4*len(order)+64 {
		c.sparse = true
		c.cells = b.pick(order)
		c.dropUnused()
		c.rows = make([]uint32, len(order))
		for i, index := range order {
			c.rows[i] = b.rows[index]
		}
		return c
	}
	indexes := make([]int32, last+1)
	if len(order) < len(indexes) {
		c.present = NewBits(len(indexes))
	}
	for i := range indexes {
		indexes[i] = -1
	}
	for _, i := range order {
		indexes[b.rows[i]] = i
		if c.present != nil {
			c.present.Set(b.rows[i])
		}
	}
	c.cells = b.pick(indexes)
	c.dropUnused()
	return c
}

// order returns the indexes of the cells that column keeps, ordered by row.
func (b *columnBuilder) order() []int32 {
	order := make([]int32, 0, len(b.rows))
	for i, r := range b.rows {
		if _, unknown := b.unknown[r]; !unknown && !b.removed[r] {
			order = append(order, int32(i))
		}
	}
	if b.positions != nil {
		slices.SortFunc(order, func(i, j int32) int { return cmp.Compare(b.rows[i], b.rows[j]) })
	}
	return order
}

// sideTables returns what the column stores beside its cells, or nil if that is nothing.
func (b *columnBuilder) sideTables() *side {
	if len(b.unknown) == 0 && len(b.more) == 0 && len(b.details) == 0 {
		return nil
	}
	return &side{unknown: maps.Clone(b.unknown), more: maps.Clone(b.more), details: maps.Clone(b.details)}
}
