package graph

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"unsafe"
)

// An interner assigns codes to strings.
type interner interface {
	intern(s string) (uint32, error)
}

// cells is a sequence of values in the narrowest representation that holds them
// all. Only the slice for its kind is used.
type cells struct {
	kind    Kind // Bool, Int, Long, Float, Double, String, Mixed, or Null before the first value
	n       int
	bools   Bits
	ints    []int32
	longs   []int64
	floats  []float32
	doubles []float64
	codes   []uint32 // String: codes of the pool; Mixed: indexes into dict
	dict    []Value
}

// cellKind returns the kind of cells that holds values of kind k.
func cellKind(k Kind) Kind {
	switch k {
	case KindBool, KindInt, KindLong, KindFloat, KindDouble, KindString:
		return k
	}
	return Mixed
}

// value returns the value at position i.
func (c *cells) value(i int, p *pool) Value {
	switch c.kind {
	case KindString:
		return String(p.str(c.codes[i]))
	case KindBool:
		return Bool(c.bools.Has(uint32(i)))
	case KindInt:
		return Int(c.ints[i])
	case KindLong:
		return Long(c.longs[i])
	case KindFloat:
		return Float(c.floats[i])
	case KindDouble:
		return Double(c.doubles[i])
	}
	return c.dict[c.codes[i]]
}

// put stores a value whose cellKind is c.kind at position i, which may be the
// end. code is the code of a string or an index into dict.
func (c *cells) put(i int, v Value, code uint32) {
	if i == c.n {
		c.extend()
	}
	switch c.kind {
	case KindBool:
		c.bools.Clear(uint32(i))
		if v.Bool() {
			c.bools.Set(uint32(i))
		}
	case KindInt:
		c.ints[i] = int32(v.num)
	case KindLong:
		c.longs[i] = int64(v.num)
	case KindFloat:
		c.floats[i] = math.Float32frombits(uint32(v.num))
	case KindDouble:
		c.doubles[i] = math.Float64frombits(v.num)
	default:
		c.codes[i] = code
	}
}

// extend appends a zero value.
func (c *cells) extend() {
	switch c.kind {
	case KindBool:
		if c.n%64 == 0 {
			c.bools = append(c.bools, 0)
		}
	case KindInt:
		c.ints = append(c.ints, 0)
	case KindLong:
		c.longs = append(c.longs, 0)
	case KindFloat:
		c.floats = append(c.floats, 0)
	case KindDouble:
		c.doubles = append(c.doubles, 0)
	default:
		c.codes = append(c.codes, 0)
	}
	c.n++
}

// pick returns the cells at the given positions in order. A negative position
// yields the zero of the kind.
func (c *cells) pick(indexes []int32) cells {
	out := cells{kind: c.kind, n: len(indexes), dict: c.dict}
	switch c.kind {
	case KindBool:
		out.bools = NewBits(len(indexes))
		for i, p := range indexes {
			if p >= 0 && c.bools.Has(uint32(p)) {
				out.bools.Set(uint32(i))
			}
		}
	case KindInt:
		out.ints = pickAt(c.ints, indexes)
	case KindLong:
		out.longs = pickAt(c.longs, indexes)
	case KindFloat:
		out.floats = pickAt(c.floats, indexes)
	case KindDouble:
		out.doubles = pickAt(c.doubles, indexes)
	default:
		out.codes = pickAt(c.codes, indexes)
	}
	return out
}

func pickAt[T any](s []T, indexes []int32) []T {
	out := make([]T, len(indexes))
	for i, p := range indexes {
		if p >= 0 {
			out[i] = s[p]
		}
	}
	return out
}

// dropUnused removes the entries of dict that no code refers to. It changes codes and
// replaces dict, which may be shared.
func (c *cells) dropUnused() {
	if c.kind != Mixed { // dict is empty
		return
	}
	used := NewBits(len(c.dict))
	for _, code := range c.codes {
		used.Set(code)
	}
	n := used.Count()
	if n == len(c.dict) {
		return
	}
	dict, codes := make([]Value, 0, n), make([]uint32, len(c.dict)) // codes: index in the old dict -> index in the new one
	for i, v := range c.dict {
		if used.Has(uint32(i)) {
			codes[i] = uint32(len(dict))
			dict = append(dict, v)
		}
	}
	for i, code := range c.codes {
		c.codes[i] = codes[code]
	}
	c.dict = dict
}

// clone returns an independent copy.
func (c *cells) clone() cells {
	d := *c
	d.bools, d.ints, d.longs = slices.Clone(c.bools), slices.Clone(c.ints), slices.Clone(c.longs)
	d.floats, d.doubles, d.codes = slices.Clone(c.floats), slices.Clone(c.doubles), slices.Clone(c.codes)
	d.dict = slices.Clip(c.dict) // entries never change, and an append copies the clipped slice
	return d
}

func (c *cells) bytes() int64 {
	n := 8*cap(c.bools) + 4*cap(c.ints) + 8*cap(c.longs) + 4*cap(c.floats) + 8*cap(c.doubles) + 4*cap(c.codes)
	total := int64(n)
	for _, v := range c.dict {
		total += v.Bytes()
	}
	return total
}

// valueSize is the size of a Value without what it refers to.
const valueSize = int64(unsafe.Sizeof(Value{}))

// Bytes returns the memory that v uses, including the Value itself.
func (v Value) Bytes() int64 {
	n := valueSize
	switch v.kind {
	case KindString:
		n += int64(v.num)
	case KindUUID:
		n += 16
	case KindBigInt, KindBigDecimal:
		n += 32 + 8*int64(len((*big.Int)(v.ptr).Bits())) // the big.Int and its 64-bit words
	case KindList, KindSet:
		for _, e := range v.Elems() {
			n += e.Bytes()
		}
	case KindMap:
		for _, e := range v.Entries() {
			n += e.Key.Bytes() + e.Value.Bytes()
		}
	case KindEntry:
		n += v.Entry().Key.Bytes() + v.Entry().Value.Bytes()
	}
	return n
}

// detach returns v with copies of its strings and collections, so that it does not keep a
// larger buffer alive.
func detach(v Value) Value {
	switch v.kind {
	case KindString:
		return String(strings.Clone(v.Str()))
	case KindList, KindSet:
		es := slices.Clone(v.Elems())
		for i := range es {
			es[i] = detach(es[i])
		}
		return sliceValue(v.kind, es)
	case KindMap:
		es := slices.Clone(v.Entries())
		for i := range es {
			es[i] = Entry{detach(es[i].Key), detach(es[i].Value)}
		}
		return Map(es...)
	case KindEntry:
		return EntryOf(Entry{detach(v.Entry().Key), detach(v.Entry().Value)})
	}
	return v
}
