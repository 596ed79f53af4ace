package exec

import "vigil/graph"

// A batch is a sequence of traversers in columns. Either ids holds vertices or
// edges, or vals holds values of any kind.
type batch struct {
	kind graph.Kind     // KindVertex or KindEdge for ids; KindNull for vals
	ids  []graph.Handle // handles
	vals []graph.Value  // values
	bulk []int64        // number of traversers per row; nil when all are one
	path []*node        // path of each row; nil when paths are not needed
	sack []graph.Value  // nil when there are no sacks
	from []graph.Handle // edges: the vertex from which each was reached; nil if unknown
}

// len returns the number of rows.
func (b *batch) len() int {
	if b.kind != graph.KindNull {
		return len(b.ids)
	}
	return len(b.vals)
}

// value returns the object of a row.
func (b *batch) value(i int) graph.Value {
	switch b.kind {
	case graph.KindVertex:
		return graph.VertexOf(b.ids[i])
	case graph.KindEdge:
		return graph.EdgeOf(b.ids[i])
	}
	return b.vals[i]
}

// count returns the bulk of a row.
func (b *batch) count(i int) int64 {
	if b.bulk == nil {
		return 1
	}
	return b.bulk[i]
}

// total returns the sum of all bulks.
func (b *batch) total() (n int64, err error) {
	if b.bulk == nil {
		return int64(b.len()), nil
	}
	for _, c := range b.bulk {
		if n, err = addBulk(n, c); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// setBulk sets the bulk of a batch of one row.
func (b *batch) setBulk(n int64) { b.bulk = append(trim(b.bulk), n) }

// pathOf returns the path of a row, or nil.
func (b *batch) pathOf(i int) *node {
	if b.path == nil {
		return nil
	}
	return b.path[i]
}

// vertex returns the vertex of a row, if it is one.
func (b *batch) vertex(i int) (graph.Handle, bool) { return b.handle(i, graph.KindVertex) }

// edge returns the edge of a row, if it is one.
func (b *batch) edge(i int) (graph.Handle, bool) { return b.handle(i, graph.KindEdge) }

func (b *batch) handle(i int, k graph.Kind) (graph.Handle, bool) {
	if b.kind != graph.KindNull {
		return b.ids[i], b.kind == k
	}
	if v := b.vals[i]; v.Kind() == k {
		return v.Handle(), true
	}
	return 0, false
}

// clear removes all rows and keeps the memory for reuse.
func (b *batch) clear() {
	b.kind = graph.KindNull
	b.ids = b.ids[:0]
	clear(b.vals)
	b.vals = b.vals[:0]
	b.bulk = trim(b.bulk)
	clear(b.path)
	b.path = trim(b.path)
	clear(b.sack)
	b.sack = trim(b.sack)
	b.from = trim(b.from)
}

// prepareHandles prepares b for handles if it is empty; otherwise it changes nothing. The
// columns besides ids become nil, but the column of bulks stays if withBulks is true.
func (b *batch) prepareHandles(k graph.Kind, withBulks bool) {
	if b.len() > 0 {
		return
	}
	b.kind = k
	b.path, b.sack, b.from = nil, nil, nil
	if !withBulks {
		b.bulk = nil
	}
	if b.ids == nil {
		b.ids = make([]graph.Handle, 0, 256)
	}
}

// trim empties a column; a nil column stays nil.
func trim[T any](s []T) []T {
	if s == nil {
		return nil
	}
	return s[:0]
}

// cut keeps the first n rows.
func (b *batch) cut(n int) {
	if b.kind != graph.KindNull {
		b.ids = b.ids[:n]
	} else {
		b.vals = b.vals[:n]
	}
	if b.bulk != nil {
		b.bulk = b.bulk[:n]
	}
	if b.path != nil {
		b.path = b.path[:n]
	}
	if b.sack != nil {
		b.sack = b.sack[:n]
	}
	if b.from != nil {
		b.from = b.from[:n]
	}
}

// move copies row i to row j within the batch.
func (b *batch) move(i, j int) {
	if i == j {
		return
	}
	if b.kind != graph.KindNull {
		b.ids[j] = b.ids[i]
	} else {
		b.vals[j] = b.vals[i]
	}
	if b.bulk != nil {
		b.bulk[j] = b.bulk[i]
	}
	if b.path != nil {
		b.path[j] = b.path[i]
	}
	if b.sack != nil {
		b.sack[j] = b.sack[i]
	}
	if b.from != nil {
		b.from[j] = b.from[i]
	}
}

// appendRow appends row i of another batch. A batch of handles becomes a batch of
// values if the row is of another kind.
func (b *batch) appendRow(in *batch, i int) {
	n := b.len()
	if n == 0 {
		b.kind = in.kind
	}
	if b.kind != in.kind {
		b.toValues()
	}
	if b.kind != graph.KindNull {
		b.ids = append(b.ids, in.ids[i])
	} else {
		b.vals = append(b.vals, in.value(i))
	}
	b.carry(in, i, n)
}

// carry copies all columns except the object from row i of in to row n of b.
func (b *batch) carry(in *batch, i, n int) {
	if in.bulk != nil || b.bulk != nil {
		b.bulk = append(fill(b.bulk, n, 1), in.count(i))
	}
	if in.path != nil || b.path != nil {
		b.path = append(fill(b.path, n, nil), in.pathOf(i))
	}
	if in.sack != nil || b.sack != nil {
		var s graph.Value
		if in.sack != nil {
			s = in.sack[i]
		}
		b.sack = append(fill(b.sack, n, graph.Null), s)
	}
	if in.from != nil || b.from != nil {
		f := graph.NoHandle
		if in.from != nil {
			f = in.from[i]
		}
		b.from = append(fill(b.from, n, graph.NoHandle), f)
	}
}

// fill extends a column to n rows with the value v. The result is never nil.
func fill[T any](s []T, n int, v T) []T {
	for len(s) < n {
		s = append(s, v)
	}
	if s == nil {
		s = make([]T, 0, 16)
	}
	return s
}

// toValues converts a batch of handles to one of values.
func (b *batch) toValues() {
	if b.kind == graph.KindNull {
		return
	}
	for i := range b.ids {
		b.vals = append(b.vals, b.value(i))
	}
	b.kind = graph.KindNull
	b.ids = b.ids[:0]
}

// copyOf makes b a copy of in.
func (b *batch) copyOf(in *batch) {
	b.clear()
	b.kind = in.kind
	b.ids = append(b.ids, in.ids[:in.handles()]...)
	b.vals = append(b.vals, in.vals...)
	b.bulk = copyColumn(b.bulk, in.bulk)
	b.path = copyColumn(b.path, in.path)
	b.sack = copyColumn(b.sack, in.sack)
	b.from = copyColumn(b.from, in.from)
}

// handles returns the number of rows that are handles: all or none.
func (b *batch) handles() int {
	if b.kind == graph.KindNull {
		return 0
	}
	return len(b.ids)
}

func copyColumn[T any](dst, src []T) []T {
	if src == nil {
		return nil
	}
	return append(dst[:0], src...)
}
