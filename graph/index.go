package graph

import (
	"sort"
	"strings"
	"sync/atomic"
)

// An Index lists the elements of one label sorted by their value under one key,
// in the order of [Order]. Every result is a subslice without copying. Elements
// with equal values are ordered by row.
type Index struct {
	size   int // number of distinct values
	value  func(i int) Value
	starts []uint32 // elems[starts[i]:starts[i+1]] have the i-th distinct value
	elems  []Handle
	held   int64 // bytes that the function in value refers to, without the column
}

// lazyIndex is the index of a column, which is built on demand.
type lazyIndex struct {
	built    lazy[*Index]
	requests atomic.Int32 // calls of VerticesWith before it was built
}

func (x *lazyIndex) isReady() bool { return x.built.peek() != nil }

// Distinct returns the number of distinct values.
func (x *Index) Distinct() int { return x.size }

// At returns the i-th distinct value and the elements that have it.
func (x *Index) At(i int) (Value, []Handle) { return x.value(i), x.part(i, i+1) }

func (x *Index) part(lo, hi int) []Handle {
	if lo >= hi {
		return nil
	}
	a, b := x.starts[lo], x.starts[hi]
	return x.elems[a:b:b]
}

// Equal returns the elements with a value that is [Eq] to v.
func (x *Index) Equal(v Value) []Handle {
	if v.isNaN() {
		return nil
	}
	lo := sort.Search(x.size, func(i int) bool { return Order(x.value(i), v) >= 0 })
	hi := lo
	for hi < x.size && Eq(x.value(hi), v) {
		hi++
	}
	return x.part(lo, hi)
}

// A Bound is one end of a range of values. The zero Bound means unbounded.
type Bound struct {
	Value  Value
	Within bool // inclusive
	Set    bool
}

// Range returns the elements whose value has the type of the bounds and is
// between them. At least one bound must be set. It returns false when an index
// does not support the values, as for collections.
func (x *Index) Range(from, to Bound) ([]Handle, bool) {
	v := from.Value
	if !from.Set {
		v = to.Value
	}
	if v.kind > KindUUID || from.Set && to.Set && rank(from.Value.kind) != rank(to.Value.kind) {
		return nil, false
	}
	if from.Value.isNaN() || to.Value.isNaN() {
		return nil, true
	}
	class := rank(v.kind)
	lo := sort.Search(x.size, func(i int) bool {
		w := x.value(i)
		return rank(w.kind) > class || rank(w.kind) == class && (!from.Set || isAbove(w, from))
	})
	hi := sort.Search(x.size, func(i int) bool {
		w := x.value(i)
		// NaN is the last number, but in no range.
		return rank(w.kind) > class || rank(w.kind) == class && (w.isNaN() || to.Set && !isBelow(w, to))
	})
	return x.part(lo, hi), true
}

func isAbove(w Value, b Bound) bool {
	c := Order(w, b.Value)
	return c > 0 || c == 0 && b.Within
}

func isBelow(w Value, b Bound) bool {
	c := Order(w, b.Value)
	return c < 0 || c == 0 && b.Within
}

// Prefix returns the elements whose value is a string that starts with s.
func (x *Index) Prefix(s string) []Handle {
	lo := sort.Search(x.size, func(i int) bool { return Order(x.value(i), String(s)) >= 0 })
	hi := lo + sort.Search(x.size-lo, func(i int) bool {
		w := x.value(lo + i)
		return w.kind != KindString || !strings.HasPrefix(w.Str(), s)
	})
	return x.part(lo, hi)
}

// bytes returns the memory of the index.
func (x *Index) bytes() int64 {
	if x == nil {
		return 0
	}
	return 4*int64(cap(x.starts)+cap(x.elems)) + x.held + 80
}

// VertexIndex returns the index of a key for the vertices of a label and builds
// it on first use. It returns nil when there is no such column.
func (g *Graph) VertexIndex(l Label, k Key) *Index {
	c := g.VertexColumn(l, k)
	if c == nil {
		return nil
	}
	return c.buildIndex(g.vertices.tables[l].rows.items)
}

// VertexIndexReady reports whether the index of a key has been built.
func (g *Graph) VertexIndexReady(l Label, k Key) bool {
	c := g.VertexColumn(l, k)
	return c != nil && c.index.isReady()
}

// VerticesWith appends to dst the vertices of a label that have a value [Eq] to
// v under a key, and returns the result. It scans a column at the first call for
// it and builds an index at the second.
func (g *Graph) VerticesWith(dst []Handle, l Label, k Key, v Value) []Handle {
	c := g.VertexColumn(l, k)
	if c == nil {
		return dst
	}
	rows := g.vertices.tables[l].rows.items
	if !c.index.isReady() && c.index.requests.Add(1) == 1 {
		return c.scan(dst, rows, v)
	}
	return append(dst, c.buildIndex(rows).Equal(v)...)
}

func (c *Column) buildIndex(rows []Handle) *Index {
	return c.index.built.get(func() *Index { return c.makeIndex(rows) })
}

// scan appends the elements with a value Eq to v.
func (c *Column) scan(dst, rows []Handle, v Value) []Handle {
	if c.kind == KindString && !c.HasMany() {
		code, ok := uint32(0), false
		if v.kind == KindString {
			code, ok = c.pool.code(v.Str())
		}
		if !ok {
			return dst
		}
		for i, cellCode := range c.codes {
			if cellCode == code && (c.present == nil || c.present.Has(uint32(i))) {
				dst = append(dst, rows[c.rowAt(i)])
			}
		}
		return dst
	}
	for row := range c.filledRows() {
		for i := range c.Count(row) {
			if Eq(c.Nth(row, i), v) {
				dst = append(dst, rows[row])
				break
			}
		}
	}
	return dst
}
