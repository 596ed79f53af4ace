package graph

import "slices"

// A columnRef identifies a column of the graph.
type columnRef struct {
	vertex bool
	label  Label
	key    Key
}

// An edit is the new content of one row of a column: values, unknown, or nothing.
type edit struct {
	row     uint32
	values  []Value
	details []detail // by index of the value; may be shorter
	unknown bool
	reason  uint32 // code of the reason why it is unknown
}

// edit records an edit. Among several edits to one row, the last one is applied.
func (p *patch) edit(c columnRef, e edit) { p.edits[c] = append(p.edits[c], e) }

// collectEdits collects the properties of a record by key. The caller sets the row.
func (p *patch) collectEdits(ps []PropertyRecord) (map[Key]edit, error) {
	cells := make(map[Key]edit, len(ps))
	for _, pr := range ps {
		k := Key(p.intern(&p.new.keys, &p.old.keys, pr.Key))
		c := cells[k]
		if pr.Unknown {
			reason, err := p.new.pool.intern(pr.Reason)
			if err != nil {
				return nil, err
			}
			cells[k] = edit{unknown: true, reason: reason}
			continue
		}
		if err := pr.checkMeta(); err != nil {
			return nil, err
		}
		if c.unknown {
			c = edit{}
		}
		d := detail{id: detach(pr.ID)}
		for _, m := range pr.Meta {
			d.meta = append(d.meta, Property{Key(p.intern(&p.new.keys, &p.old.keys, m.Key)), detach(m.Value)})
		}
		c.values = append(c.values, pr.Value)
		c.details = append(c.details, d)
		cells[k] = c
	}
	return cells, nil
}

// compareCells records edits for the cells of a vertex that differ from the current ones.
func (p *patch) compareCells(position position, cells map[Key]edit, rowKept bool) {
	var t *table // stays nil for a new row, which has no current cells
	if rowKept {
		t = p.new.vertices.table(position.label)
		for i, k := range t.keys {
			c := t.cols[i]
			_, exists := cells[k]
			if _, unknown := c.Unknown(position.row); !exists && (unknown || c.Has(position.row)) {
				p.edit(columnRef{true, position.label, k}, edit{row: position.row})
			}
		}
	}
	for k, e := range cells {
		if c := t.column(k); c != nil && c.equalCell(position.row, e) {
			continue
		}
		e.row = position.row
		p.generateIDs(&e)
		p.edit(columnRef{true, position.label, k}, e)
	}
}

// generateIDs generates the missing ids of the second and further values, and
// removes details that are all empty.
func (p *patch) generateIDs(e *edit) {
	for i := 1; i < len(e.details); i++ {
		if e.details[i].id.IsNull() {
			p.new.generatedIDs++
			e.details[i].id = Long(-p.new.generatedIDs)
		}
	}
	if len(e.details) == 1 && e.details[0].id.IsNull() && len(e.details[0].meta) == 0 {
		e.details = nil
	}
}

// equalCell reports whether a row already has the content of an edit from collectEdits, which
// has a detail for every value.
func (c *Column) equalCell(row uint32, e edit) bool {
	if c.side != nil {
		if reason, ok := c.side.unknown[row]; ok || e.unknown {
			return ok && e.unknown && reason == e.reason
		}
	}
	if e.unknown || c.Count(row) != len(e.values) {
		return false
	}
	for i, v := range e.values {
		if !c.Nth(row, i).Equal(v) || !c.detail(row, i).covers(e.details[i]) {
			return false
		}
	}
	return true
}

// covers reports whether d equals want; a null id in want matches any id.
func (d detail) covers(want detail) bool {
	return (want.id.IsNull() || d.id.Equal(want.id)) &&
		slices.EqualFunc(d.meta, want.meta, func(a, b Property) bool { return a.Key == b.Key && a.Value.Equal(b.Value) })
}

// applyEdits rewrites the columns that have edits.
func (p *patch) applyEdits() error {
	for ref, edits := range p.edits {
		es := &p.new.edges
		if ref.vertex {
			es = &p.new.vertices
		}
		t := p.table(es, ref.label)
		i, ok := slices.BinarySearch(t.keys, ref.key)
		if !ok {
			t.keys = slices.Insert(slices.Clone(t.keys), i, ref.key)
			t.cols = slices.Insert(t.cols, i, &Column{pool: p.new.pool})
		}
		c, err := t.cols[i].withEdits(edits, p.new.pool)
		if err != nil {
			return err
		}
		t.cols[i] = c
	}
	return nil
}

// withEdits returns a copy of the column with some rows changed.
func (c *Column) withEdits(edits []edit, p *pool) (*Column, error) {
	if d, err := c.overwritten(edits, p); d != nil || err != nil {
		return d, err
	}
	b := c.builder()
	for _, e := range edits {
		b.drop(e.row)
		if e.unknown {
			b.setUnknown(e.row, e.reason)
		}
		for i, v := range e.values {
			var d detail
			if i < len(e.details) {
				d = e.details[i]
			}
			if err := b.add(e.row, v, d, p); err != nil {
				return nil, err
			}
		}
	}
	return b.column(p), nil
}

// overwritten is withEdits for the common case: a dense column that stays dense and
// of one kind, and cells with at most one plain value. It returns nil in other
// cases.
func (c *Column) overwritten(edits []edit, p *pool) (*Column, error) {
	last, n := 0, c.n
	for _, e := range edits {
		if e.unknown || len(e.values) > 1 || len(e.details) > 0 ||
			len(e.values) == 1 && cellKind(e.values[0].kind) != c.kind {
			return nil, nil
		}
		last = max(last, int(e.row))
	}
	if c.sparse || c.side != nil || c.kind == Mixed || c.n == 0 || last >= n+64 {
		return nil, nil
	}
	d := &Column{cells: c.clone(), filled: c.filled, pool: p}
	if c.present != nil || !isSimpleOverwrite(edits, n) {
		d.present = c.presence(max(n, last+1))
	}
	for d.n <= last {
		d.extend()
	}
	for _, e := range edits {
		if err := d.overwrite(e, p); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// isSimpleOverwrite reports whether all edits are to rows below n or append consecutive rows.
func isSimpleOverwrite(edits []edit, n int) bool {
	for _, e := range edits {
		if len(e.values) == 0 || int(e.row) > n {
			return false
		}
		n = max(n, int(e.row)+1)
	}
	return true
}

// presence returns the rows of a dense column that have a value, with capacity
// for the rows below n.
func (c *Column) presence(n int) Bits {
	b := NewBits(n)
	if c.present != nil {
		copy(b, c.present)
		return b
	}
	for i := range uint32(c.n) {
		b.Set(i)
	}
	return b
}

// overwrite applies an edit to an existing cell of a dense column. If the edit has no value,
// present must not be nil.
func (c *Column) overwrite(e edit, p *pool) error {
	// Without present, the rows below filled have a value; the cells after them were just appended.
	existed := c.present != nil && c.present.Has(e.row) || c.present == nil && int(e.row) < c.filled
	if existed {
		c.filled--
	}
	if len(e.values) == 0 {
		c.present.Clear(e.row)
		return nil
	}
	var code uint32
	if c.kind == KindString {
		var err error
		if code, err = p.intern(e.values[0].Str()); err != nil {
			return err
		}
	}
	c.put(int(e.row), e.values[0], code)
	if c.present != nil {
		c.present.Set(e.row)
	}
	c.filled++
	return nil
}
