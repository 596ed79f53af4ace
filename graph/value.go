package graph

import (
	"math"
	"math/big"
	"slices"
	"time"
	"unsafe"
)

// A Kind is the type of a [Value].
type Kind uint8

// The kinds. Numeric kinds are between KindByte and KindBigDecimal.
const (
	KindNull Kind = iota
	KindBool
	KindByte
	KindShort
	KindInt
	KindLong
	KindBigInt
	KindFloat
	KindDouble
	KindBigDecimal
	KindDateTime
	KindString
	KindUUID
	KindVertex         // a vertex of the current graph, by handle
	KindEdge           // an edge of the current graph, by handle
	KindVertexProperty // a property of a vertex, by vertex, key and index
	KindProperty       // a property of an edge or of a vertex property
	KindSet
	KindList
	KindMap
	KindEntry  // one entry of a map
	KindOpaque // any other value of a user of this package

	// Mixed is the kind of a column with cells of several kinds, or of a kind that has no
	// typed column. No value has this kind.
	Mixed Kind = 255
)

var kindNames = [...]string{
	"null", "boolean", "byte", "short", "int", "long", "biginteger", "float", "double", "bigdecimal",
	"datetime", "string", "uuid", "vertex", "edge", "vertex property", "property", "set", "list", "map", "entry", "opaque",
}

// String returns the name of the kind.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "mixed"
}

// A Value is one Gremlin value: a number of a certain width, a string, a date, a
// collection or a reference to an element. The zero Value is null.
//
// Scalars other than UUID, BigInt and BigDecimal need no memory besides the 24
// bytes of the Value. Values are immutable: a collection must not be changed
// after it was passed to a constructor. Use [Value.Equal] or [Eq] instead of ==.
type Value struct {
	_    [0]func()      // makes == a compile error
	ptr  unsafe.Pointer // string bytes, slice elements, or a single object
	num  uint64         // number, length, seconds, handle
	aux  uint32         // nanoseconds, index
	off  int16          // minutes east of UTC, index of a meta-property (-1 in an edge property)
	kind Kind
}

// Null is the null value.
var Null Value

// Bool returns a boolean.
func Bool(b bool) Value {
	if b {
		return Value{kind: KindBool, num: 1}
	}
	return Value{kind: KindBool}
}

// Byte returns an 8-bit integer.
func Byte(i int8) Value { return Value{kind: KindByte, num: uint64(int64(i))} }

// Short returns a 16-bit integer.
func Short(i int16) Value { return Value{kind: KindShort, num: uint64(int64(i))} }

// Int returns a 32-bit integer.
func Int(i int32) Value { return Value{kind: KindInt, num: uint64(int64(i))} }

// Long returns a 64-bit integer.
func Long(i int64) Value { return Value{kind: KindLong, num: uint64(i)} }

// BigInt returns an integer of any size. The caller must not change i later.
func BigInt(i *big.Int) Value { return Value{kind: KindBigInt, ptr: unsafe.Pointer(i)} }

// Float returns a 32-bit floating-point number.
func Float(f float32) Value { return Value{kind: KindFloat, num: uint64(math.Float32bits(f))} }

// Double returns a 64-bit floating-point number.
func Double(f float64) Value { return Value{kind: KindDouble, num: math.Float64bits(f)} }

// BigDecimal returns unscaled * 10^-scale. The caller must not change unscaled
// later.
func BigDecimal(unscaled *big.Int, scale int32) Value {
	return Value{kind: KindBigDecimal, ptr: unsafe.Pointer(unscaled), num: uint64(int64(scale))}
}

// String returns a string value.
func String(s string) Value {
	return Value{kind: KindString, ptr: unsafe.Pointer(unsafe.StringData(s)), num: uint64(len(s))}
}

// DateTime returns a date with its offset from UTC in whole minutes. The name of
// the time zone is lost.
func DateTime(t time.Time) Value {
	_, off := t.Zone()
	return Value{kind: KindDateTime, num: uint64(t.Unix()), aux: uint32(t.Nanosecond()), off: int16(off / 60)}
}

// UUID returns a UUID.
func UUID(u [16]byte) Value { return Value{kind: KindUUID, ptr: unsafe.Pointer(&u)} }

// List returns a list of vs, which the caller must not change later.
func List(vs ...Value) Value { return sliceValue(KindList, vs) }

// Set returns a set of vs, which must not contain duplicates and must not be
// changed later. The set keeps their order.
func Set(vs ...Value) Value { return sliceValue(KindSet, vs) }

func sliceValue(k Kind, vs []Value) Value {
	vs = clip(vs)
	return Value{kind: k, ptr: unsafe.Pointer(unsafe.SliceData(vs)), num: uint64(len(vs))}
}

// clip returns a slice without much spare capacity. A Value does not store the
// capacity, so Bytes cannot count spare capacity, which can be large: s may be
// the beginning of a long slice.
func clip[E any](s []E) []E {
	if cap(s)-len(s) <= len(s)/8 {
		return s
	}
	return slices.Clone(s)
}

// An Entry is one key of a map with its value.
type Entry struct{ Key, Value Value }

// Map returns a map of the entries, which must not contain duplicate keys and
// must not be changed later. The map keeps their order.
func Map(es ...Entry) Value {
	es = clip(es)
	return Value{kind: KindMap, ptr: unsafe.Pointer(unsafe.SliceData(es)), num: uint64(len(es))}
}

// EntryOf returns a map entry as a value.
func EntryOf(e Entry) Value { return Value{kind: KindEntry, ptr: unsafe.Pointer(&e)} }

// VertexOf returns a reference to a vertex.
func VertexOf(v Handle) Value { return Value{kind: KindVertex, num: uint64(v)} }

// EdgeOf returns a reference to an edge.
func EdgeOf(e Handle) Value { return Value{kind: KindEdge, num: uint64(e)} }

// VertexPropertyOf returns a reference to the i-th value of a key of a vertex.
func VertexPropertyOf(v Handle, key Key, i int) Value {
	return Value{kind: KindVertexProperty, num: uint64(v)<<32 | uint64(key), aux: uint32(i)}
}

// EdgePropertyOf returns a reference to a property of an edge.
func EdgePropertyOf(e Handle, key Key) Value {
	return Value{kind: KindProperty, num: uint64(e)<<32 | uint64(key), off: -1}
}

// MetaPropertyOf returns a reference to the m-th property of the i-th value of a
// key of a vertex. A value has at most 32,768 meta-properties.
func MetaPropertyOf(v Handle, key Key, i, m int) Value {
	return Value{kind: KindProperty, num: uint64(v)<<32 | uint64(key), aux: uint32(i), off: int16(m)}
}

// Opaque returns a value that contains x, which this package does not interpret.
func Opaque(x any) Value { return OpaqueAt(&x) }

// OpaqueAt returns a value that contains *x. It saves an allocation when the
// caller stores x together with other data. *x must not be changed later.
func OpaqueAt(x *any) Value { return Value{kind: KindOpaque, ptr: unsafe.Pointer(x)} }
