package graph

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"unsafe"
)

// An encoder appends encoded values to a buffer.
type encoder struct{ buf []byte }

func (e *encoder) number(n int) { e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(n)) }

func (e *encoder) flag(b bool) {
	if b {
		e.buf = append(e.buf, 1)
	} else {
		e.buf = append(e.buf, 0)
	}
}

func (e *encoder) text(s string) {
	e.number(len(s))
	e.buf = append(e.buf, s...)
}

type number interface {
	~uint32 | ~int32 | ~uint64 | ~int64
}

// encodeNumbers writes a length-prefixed slice.
func encodeNumbers[T number](e *encoder, s []T) {
	e.number(len(s))
	var zero T
	if unsafe.Sizeof(zero) == 4 {
		for _, x := range s {
			e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(x))
		}
		return
	}
	for _, x := range s {
		e.buf = binary.LittleEndian.AppendUint64(e.buf, uint64(x))
	}
}

func encodeFloats32(e *encoder, s []float32) {
	e.number(len(s))
	for _, x := range s {
		e.buf = binary.LittleEndian.AppendUint32(e.buf, math.Float32bits(x))
	}
}

func encodeFloats64(e *encoder, s []float64) {
	e.number(len(s))
	for _, x := range s {
		e.buf = binary.LittleEndian.AppendUint64(e.buf, math.Float64bits(x))
	}
}

func (e *encoder) values(vs []Value) {
	e.number(len(vs))
	for _, v := range vs {
		e.value(v)
	}
}

// value writes a value of a kind that properties can have.
func (e *encoder) value(v Value) {
	e.buf = append(e.buf, byte(v.kind))
	switch v.kind {
	case KindNull:
	case KindString:
		e.text(v.Str())
	case KindBigInt:
		e.bigInt(v.BigInt())
	case KindBigDecimal:
		u, scale := v.BigDecimal()
		e.number(int(scale))
		e.bigInt(u)
	case KindUUID:
		u := v.UUID()
		e.buf = append(e.buf, u[:]...)
	case KindList, KindSet:
		e.values(v.Elems())
	case KindMap:
		e.number(v.Len())
		for _, x := range v.Entries() {
			e.value(x.Key)
			e.value(x.Value)
		}
	default:
		e.buf = binary.LittleEndian.AppendUint64(e.buf, v.num)
		if v.kind == KindDateTime {
			e.number(int(v.aux))
			e.number(int(v.off))
		}
	}
}

func (e *encoder) bigInt(i *big.Int) {
	e.flag(i.Sign() < 0)
	e.text(string(i.Bytes()))
}

// A decoder consumes data from the front. After an error it returns zero values.
type decoder struct {
	data    []byte
	err     error
	strings *pool
	limits  limits
}

func (d *decoder) fail(reason string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrSnapshot, reason)
	}
	d.data = nil
}

// take returns the next n bytes, or nil.
func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.data) {
		d.fail("unexpected end of data")
		return nil
	}
	b := d.data[:n:n]
	d.data = d.data[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) flag() bool { return d.byte() != 0 }

func (d *decoder) uint32() uint32 {
	if b := d.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// count reads the number of following items, each of which has at least size
// bytes. It fails when the data cannot hold them, so that no input makes the
// decoder allocate more than a small multiple of the input size.
func (d *decoder) count(size int) int {
	b := d.take(4)
	if b == nil {
		return 0
	}
	n := int(binary.LittleEndian.Uint32(b))
	if n > math.MaxInt32 || n*size > len(d.data) {
		d.fail("unexpected end of data")
		return 0
	}
	return n
}

// number reads a number that is not a count of following items.
func (d *decoder) number() int { return d.count(0) }

func (d *decoder) text() string { return string(d.take(d.count(1))) }

// decodeNumbers reads a length-prefixed slice.
func decodeNumbers[T number](d *decoder) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	n := d.count(size)
	b := d.take(n * size)
	if len(b) == 0 {
		return nil
	}
	out := make([]T, n)
	if size == 4 {
		for i := range out {
			out[i] = T(binary.LittleEndian.Uint32(b[4*i:]))
		}
		return out
	}
	for i := range out {
		out[i] = T(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return out
}

func decodeFloats32(d *decoder) []float32 {
	bits := decodeNumbers[uint32](d)
	out := make([]float32, len(bits))
	for i, b := range bits {
		out[i] = math.Float32frombits(b)
	}
	return out
}

func decodeFloats64(d *decoder) []float64 {
	bits := decodeNumbers[uint64](d)
	out := make([]float64, len(bits))
	for i, b := range bits {
		out[i] = math.Float64frombits(b)
	}
	return out
}

// checkBelow checks that all numbers are below a limit.
func (d *decoder) checkBelow(s []uint32, limit int) {
	for _, x := range s {
		if int(x) >= limit {
			d.fail("a number is out of range")
			return
		}
	}
}

func (d *decoder) values() []Value {
	vs := make([]Value, 0, d.count(1))
	for range cap(vs) {
		vs = append(vs, d.value(0))
	}
	return vs
}

// maxNesting limits the nesting of collections.
const maxNesting = 64

// value reads one value.
func (d *decoder) value(depth int) Value {
	k := Kind(d.byte())
	switch k {
	case KindNull:
		return Null
	case KindString:
		return String(d.text())
	case KindBigInt:
		return BigInt(d.bigInt())
	case KindBigDecimal:
		scale := int32(d.uint32())
		return BigDecimal(d.bigInt(), scale)
	case KindUUID:
		var u [16]byte
		copy(u[:], d.take(16))
		return UUID(u)
	case KindBool, KindByte, KindShort, KindInt, KindLong, KindFloat, KindDouble:
		return scalar(k, d.uint64())
	case KindDateTime:
		v := Value{kind: k, num: d.uint64()}
		v.aux, v.off = d.uint32(), int16(d.uint32())
		return v
	case KindList, KindSet, KindMap:
		return d.collection(k, depth+1)
	}
	d.fail("a value has an unknown kind")
	return Null
}

func (d *decoder) collection(k Kind, depth int) Value {
	if depth > maxNesting {
		d.fail("values are nested too deeply")
		return Null
	}
	if k == KindMap {
		es := make([]Entry, 0, d.count(2))
		for range cap(es) {
			key := d.value(depth)
			es = append(es, Entry{key, d.value(depth)})
		}
		return Map(es...)
	}
	vs := make([]Value, 0, d.count(1))
	for range cap(vs) {
		vs = append(vs, d.value(depth))
	}
	return sliceValue(k, vs)
}

// scalar returns the value of kind k that is encoded as n. It drops the bits that k does not have.
func scalar(k Kind, n uint64) Value {
	switch k {
	case KindBool:
		return Bool(n != 0)
	case KindByte:
		return Byte(int8(n))
	case KindShort:
		return Short(int16(n))
	case KindInt:
		return Int(int32(n))
	case KindFloat:
		return Float(math.Float32frombits(uint32(n)))
	}
	return Value{kind: k, num: n}
}

func (d *decoder) bigInt() *big.Int {
	negative := d.flag()
	i := new(big.Int).SetBytes([]byte(d.text()))
	if negative {
		i.Neg(i)
	}
	return i
}
