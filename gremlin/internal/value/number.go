package value

import (
	"math"
	"math/big"

	"vigil/graph"
)

// width is the size class of a number: 8, 16, 32, 64 or 128 bits, floating-point
// or not. Arithmetic uses the smallest class that holds both operands.
type width struct {
	bits     int
	floating bool
}

func widthOf(v graph.Value) width {
	switch v.Kind() {
	case graph.KindByte:
		return width{8, false}
	case graph.KindShort:
		return width{16, false}
	case graph.KindInt:
		return width{32, false}
	case graph.KindLong:
		return width{64, false}
	case graph.KindBigInt:
		return width{128, false}
	case graph.KindFloat:
		return width{32, true}
	case graph.KindDouble:
		return width{64, true}
	}
	return width{128, true}
}

// commonWidth returns the smallest width that holds both operands. NaN does not count.
func commonWidth(a, b graph.Value, forceFloat bool) width {
	w := width{8, forceFloat}
	for _, v := range [2]graph.Value{a, b} {
		if IsNaN(v) {
			continue
		}
		x := widthOf(v)
		w.bits = max(w.bits, x.bits)
		w.floating = w.floating || x.floating
	}
	return w
}

// IsNaN reports whether v is a float or double that is not a number.
func IsNaN(v graph.Value) bool {
	k := v.Kind()
	return (k == graph.KindFloat || k == graph.KindDouble) && math.IsNaN(v.Float())
}

// An Arith is an arithmetic operation.
type Arith uint8

// The arithmetic operations.
const (
	Add Arith = iota
	Sub
	Mul
	Div
)

// Apply computes a op b. If the result does not fit the operands' type, the next
// wider type is used; a long that overflows is an error, a double becomes
// infinite. If either operand is null, the result is a.
func (op Arith) Apply(a, b graph.Value) (graph.Value, error) { return op.apply(a, b, false) }

// Quotient divides a by b as floating-point numbers even if both are integers.
func Quotient(a, b graph.Value) (graph.Value, error) { return Div.apply(a, b, true) }

func (op Arith) apply(a, b graph.Value, forceFloat bool) (graph.Value, error) {
	if err := bothNumbers(a, b); err != nil {
		return graph.Null, err
	}
	if a.IsNull() || b.IsNull() {
		return a, nil
	}
	w := commonWidth(a, b, forceFloat)
	switch {
	case w.bits == 128 && w.floating:
		return op.decimal(a, b)
	case w.bits == 128:
		return op.big(a, b)
	case w.floating:
		return op.float(a, b, w.bits), nil
	}
	return op.integer(intOrZero(a), intOrZero(b), w.bits)
}

// intOrZero returns the value of an integer, and 0 for NaN: commonWidth ignores NaN, so
// even an operation on integers can have it as an operand.
func intOrZero(v graph.Value) int64 {
	if v.IsInteger() {
		return v.Int()
	}
	return 0
}

func bothNumbers(a, b graph.Value) error {
	for _, v := range [2]graph.Value{a, b} {
		if !v.IsNumber() && !v.IsNull() {
			return Errorf("%s cannot be cast to Number", ClassName(v))
		}
	}
	return nil
}

// integer computes in 64 bits and returns the narrowest type that has at least
// the given bits and holds the result.
func (op Arith) integer(x, y int64, bits int) (graph.Value, error) {
	var r int64
	var ok bool
	switch op {
	case Add:
		r = x + y
		ok = (r > x) == (y > 0)
	case Sub:
		r = x - y
		ok = (r < x) == (y > 0)
	case Mul:
		r = x * y
		ok = x == 0 || (r/x == y && !(x == -1 && y == math.MinInt64))
	case Div:
		if y == 0 {
			return graph.Null, Errorf("/ by zero")
		}
		ok = !(x == math.MinInt64 && y == -1)
		if ok {
			r = x / y
		}
	}
	if !ok {
		return graph.Null, Errorf("long overflow")
	}
	switch {
	case bits <= 8 && r == int64(int8(r)):
		return graph.Byte(int8(r)), nil
	case bits <= 16 && r == int64(int16(r)):
		return graph.Short(int16(r)), nil
	case bits <= 32 && r == int64(int32(r)):
		return graph.Int(int32(r)), nil
	}
	return graph.Long(r), nil
}

func (op Arith) float(a, b graph.Value, bits int) graph.Value {
	x, y := Float64(a), Float64(b)
	if bits <= 32 {
		r := op.float32(float32(x), float32(y))
		if !math.IsInf(float64(r), 0) {
			return graph.Float(r)
		}
	}
	switch op {
	case Add:
		return graph.Double(x + y)
	case Sub:
		return graph.Double(x - y)
	case Mul:
		return graph.Double(x * y)
	}
	return graph.Double(x / y)
}

func (op Arith) float32(x, y float32) float32 {
	switch op {
	case Add:
		return x + y
	case Sub:
		return x - y
	case Mul:
		return x * y
	}
	return x / y
}

// maxBits limits the size of big numbers. Repeated squaring doubles the length
// of a number at every step; larger numbers are an error.
const maxBits = 1 << 16

func (op Arith) big(a, b graph.Value) (graph.Value, error) {
	x, y, r := BigInt(a), BigInt(b), new(big.Int)
	if x.BitLen()+y.BitLen() > maxBits {
		return graph.Null, Errorf("BigInteger would overflow supported range")
	}
	switch op {
	case Add:
		r.Add(x, y)
	case Sub:
		r.Sub(x, y)
	case Mul:
		r.Mul(x, y)
	case Div:
		if y.Sign() == 0 {
			return graph.Null, Errorf("BigInteger divide by zero")
		}
		r.Quo(x, y)
	}
	return graph.BigInt(r), nil
}

// Min returns the smaller of two numbers in their common type. A number takes
// precedence over null and NaN.
func Min(a, b graph.Value) (graph.Value, error) { return pick(a, b, -1) }

// Max returns the greater of two numbers in their common type. A number takes
// precedence over null and NaN.
func Max(a, b graph.Value) (graph.Value, error) { return pick(a, b, 1) }

// pick returns the smaller value if sign is -1, and the greater one if it is 1.
func pick(a, b graph.Value, sign int) (graph.Value, error) {
	for _, v := range [2]graph.Value{a, b} {
		if !Comparable(v) {
			return graph.Null, NotComparable(v)
		}
	}
	switch {
	case a.IsNull(), IsNaN(a) && !b.IsNull():
		return b, nil
	case b.IsNull(), IsNaN(b):
		return a, nil
	}
	if a.IsNumber() && b.IsNumber() {
		winner := a
		if graph.Order(a, b)*sign < 0 {
			winner = b
		}
		k := kindOf(commonWidth(a, b, false))
		if k == graph.KindDouble && winner.Kind() == graph.KindFloat {
			// Cast would change the value: it converts by the shortest text.
			return graph.Double(winner.Float()), nil
		}
		return Cast(winner, k)
	}
	c, ok := graph.Compare(a, b)
	if !ok {
		return graph.Null, Errorf("%s cannot be cast to %s", ClassName(b), ClassName(a))
	}
	if c*sign > 0 {
		return a, nil
	}
	return b, nil
}

// Comparable reports whether values of the type of v have a natural order:
// scalars do, elements and collections do not.
func Comparable(v graph.Value) bool {
	if v.Kind() == graph.KindOpaque {
		_, token := As[Token](v)
		return token
	}
	return v.Kind() < graph.KindVertex
}

// NotComparable is the error of using v where values must be comparable.
func NotComparable(v graph.Value) error {
	return Errorf("%s cannot be cast to Comparable", ClassName(v))
}

func kindOf(w width) graph.Kind {
	switch {
	case w.floating && w.bits <= 32:
		return graph.KindFloat
	case w.floating && w.bits <= 64:
		return graph.KindDouble
	case w.floating:
		return graph.KindBigDecimal
	case w.bits <= 8:
		return graph.KindByte
	case w.bits <= 16:
		return graph.KindShort
	case w.bits <= 32:
		return graph.KindInt
	case w.bits <= 64:
		return graph.KindLong
	}
	return graph.KindBigInt
}
