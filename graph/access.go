package graph

import (
	"math"
	"math/big"
	"time"
	"unsafe"
)

// Kind returns the kind of v.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether v is null.
func (v Value) IsNull() bool { return v.kind == KindNull }

// IsNumber reports whether v is a number of any width.
func (v Value) IsNumber() bool { return v.kind >= KindByte && v.kind <= KindBigDecimal }

// IsInteger reports whether v is a byte, short, int or long.
func (v Value) IsInteger() bool { return v.kind >= KindByte && v.kind <= KindLong }

// requireKind panics when an accessor is used on a value of another kind, because it
// would misinterpret the memory of the value.
func (v Value) requireKind(k Kind) {
	if v.kind != k {
		panic("graph: value is a " + v.kind.String() + ", not a " + k.String())
	}
}

// Bool returns the boolean v.
func (v Value) Bool() bool { v.requireKind(KindBool); return v.num != 0 }

// Int returns the byte, short, int or long v.
func (v Value) Int() int64 {
	if !v.IsInteger() {
		panic("graph: value is a " + v.kind.String() + ", not an integer")
	}
	return int64(v.num)
}

// Float returns the float or double v.
func (v Value) Float() float64 {
	if v.kind == KindFloat {
		return float64(math.Float32frombits(uint32(v.num)))
	}
	v.requireKind(KindDouble)
	return math.Float64frombits(v.num)
}

// BigInt returns the big integer v, which must not be changed.
func (v Value) BigInt() *big.Int { v.requireKind(KindBigInt); return (*big.Int)(v.ptr) }

// BigDecimal returns the parts of the big decimal v. The unscaled part must not
// be changed.
func (v Value) BigDecimal() (unscaled *big.Int, scale int32) {
	v.requireKind(KindBigDecimal)
	return (*big.Int)(v.ptr), int32(int64(v.num))
}

// Str returns the string v. (String describes a value of any kind.)
func (v Value) Str() string {
	v.requireKind(KindString)
	return unsafe.String((*byte)(v.ptr), int(v.num))
}

// Time returns the date v in a time zone with its offset.
func (v Value) Time() time.Time {
	v.requireKind(KindDateTime)
	t := time.Unix(int64(v.num), int64(v.aux))
	if v.off == 0 {
		return t.UTC()
	}
	return t.In(time.FixedZone("", int(v.off)*60))
}

// UUID returns the UUID v.
func (v Value) UUID() [16]byte { v.requireKind(KindUUID); return *(*[16]byte)(v.ptr) }

// Elems returns the elements of the list or set v, which must not be changed.
func (v Value) Elems() []Value {
	if v.kind != KindSet {
		v.requireKind(KindList)
	}
	return unsafe.Slice((*Value)(v.ptr), int(v.num))
}

// Entries returns the entries of the map v, which must not be changed.
func (v Value) Entries() []Entry {
	v.requireKind(KindMap)
	return unsafe.Slice((*Entry)(v.ptr), int(v.num))
}

// Entry returns the map entry v.
func (v Value) Entry() Entry { v.requireKind(KindEntry); return *(*Entry)(v.ptr) }

// Lookup returns the value of key in the map v. It takes time linear in the size of the map.
func (v Value) Lookup(key Value) (Value, bool) {
	for _, e := range v.Entries() {
		if e.Key.Equal(key) {
			return e.Value, true
		}
	}
	return Value{}, false
}

// Len returns the number of elements of a list or set, of entries of a map, or
// of bytes of a string.
func (v Value) Len() int {
	switch v.kind {
	case KindString, KindList, KindSet, KindMap:
		return int(v.num)
	}
	panic("graph: a " + v.kind.String() + " has no length")
}

// Handle returns the vertex or edge that v refers to.
func (v Value) Handle() Handle {
	if v.kind != KindEdge {
		v.requireKind(KindVertex)
	}
	return Handle(v.num)
}

// A PropertyRef identifies the property that a value of kind KindVertexProperty
// or KindProperty refers to.
type PropertyRef struct {
	Owner Handle // the vertex, or the edge of an edge property
	Key   Key    // the key at the vertex or edge
	Index int    // index of the value under that key; 0 for an edge
	Meta  int    // index of the meta-property of that value, or -1 for none
	Edge  bool   // Owner is an edge
}

// Property returns the property that v refers to.
func (v Value) Property() PropertyRef {
	r := PropertyRef{Owner: Handle(v.num >> 32), Key: Key(v.num), Index: int(v.aux), Meta: -1}
	if v.kind == KindVertexProperty {
		return r
	}
	v.requireKind(KindProperty)
	r.Edge = v.off < 0 // off is -1 in an edge property, which has no meta-property
	r.Meta = int(v.off)
	return r
}

// Opaque returns the content of the opaque value v.
func (v Value) Opaque() any { v.requireKind(KindOpaque); return *(*any)(v.ptr) }
