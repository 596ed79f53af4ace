package value

import (
	"math"
	"math/big"
	"strconv"

	"vigil/graph"
)

// Float64 converts any number to a double.
func Float64(v graph.Value) float64 {
	switch v.Kind() {
	case graph.KindFloat, graph.KindDouble:
		return v.Float()
	case graph.KindBigInt:
		f, _ := new(big.Float).SetInt(v.BigInt()).Float64()
		return f
	case graph.KindBigDecimal:
		f, _ := strconv.ParseFloat(plainDecimal(v), 64)
		return f
	}
	return float64(v.Int())
}

func plainDecimal(v graph.Value) string {
	u, s := v.BigDecimal()
	return u.String() + "e" + strconv.FormatInt(-int64(s), 10)
}

// BigInt converts any number to a big integer and truncates fractions. A decimal must be
// zero or have a scale of at least -maxScale.
func BigInt(v graph.Value) *big.Int {
	switch v.Kind() {
	case graph.KindBigInt:
		return v.BigInt()
	case graph.KindFloat, graph.KindDouble, graph.KindBigDecimal:
		u, s := decimalParts(v)
		switch {
		case u.Sign() == 0 || 3*s > int64(u.BitLen()): // |u| < 2^BitLen < 8^s < 10^s
			return new(big.Int)
		case s > 0:
			return new(big.Int).Quo(u, pow10(s))
		}
		return new(big.Int).Mul(u, pow10(-s))
	}
	return big.NewInt(v.Int())
}

// castNames are the Java type names in error messages about conversion.
var castNames = map[graph.Kind]string{
	graph.KindByte: "Byte", graph.KindShort: "Short", graph.KindInt: "Integer", graph.KindLong: "Long",
	graph.KindBigInt: "BigInteger", graph.KindFloat: "Float", graph.KindDouble: "Double", graph.KindBigDecimal: "BigDecimal",
}

// Cast converts a number to another kind of number and truncates fractions. It
// fails when the kind cannot hold the number.
func Cast(v graph.Value, to graph.Kind) (graph.Value, error) {
	if v.Kind() == to {
		return v, nil
	}
	switch to {
	case graph.KindByte, graph.KindShort, graph.KindInt, graph.KindLong:
		return castInteger(v, to)
	case graph.KindFloat, graph.KindDouble:
		return castFloat(v, to)
	case graph.KindBigInt:
		b, err := integerPart(v, to)
		if err != nil {
			return graph.Null, err
		}
		return graph.BigInt(b), nil
	}
	// to is KindBigDecimal.
	if err := finite(v, to); err != nil {
		return graph.Null, err
	}
	u, s := decimalParts(v)
	return graph.BigDecimal(u, int32(s)), nil
}

// integerPart returns the integer part of a number that is converted to another kind.
func integerPart(v graph.Value, to graph.Kind) (*big.Int, error) {
	if err := finite(v, to); err != nil {
		return nil, err
	}
	if u, s := decimalParts(v); u.Sign() != 0 && s < -maxScale {
		return nil, overflow(v, to)
	}
	return BigInt(v), nil
}

// finite returns an error if v is NaN or infinite. The error names to, the kind to which v is converted.
func finite(v graph.Value, to graph.Kind) error {
	if k := v.Kind(); k != graph.KindFloat && k != graph.KindDouble {
		return nil
	}
	switch f := v.Float(); {
	case math.IsNaN(f):
		return Errorf("Can't convert NaN to %s.", castNames[to])
	case math.IsInf(f, 0):
		return Errorf("Can't convert floating point infinity to %s.", castNames[to])
	}
	return nil
}

func overflow(v graph.Value, to graph.Kind) error {
	return Errorf("Can't convert number of type %s to %s due to overflow.", ClassName(v), castNames[to])
}

func castInteger(v graph.Value, to graph.Kind) (graph.Value, error) {
	var n int64
	if v.IsInteger() {
		n = v.Int()
	} else {
		b, err := integerPart(v, to)
		if err != nil {
			return graph.Null, err
		}
		if !b.IsInt64() {
			return graph.Null, overflow(v, to)
		}
		n = b.Int64()
	}
	switch {
	case to == graph.KindByte && n == int64(int8(n)):
		return graph.Byte(int8(n)), nil
	case to == graph.KindShort && n == int64(int16(n)):
		return graph.Short(int16(n)), nil
	case to == graph.KindInt && n == int64(int32(n)):
		return graph.Int(int32(n)), nil
	case to == graph.KindLong:
		return graph.Long(n), nil
	}
	return graph.Null, overflow(v, to)
}

func castFloat(v graph.Value, to graph.Kind) (graph.Value, error) {
	f := Float64(v)
	isBig := v.Kind() == graph.KindBigDecimal || v.Kind() == graph.KindBigInt
	if math.IsInf(f, 0) && isBig {
		return graph.Null, overflow(v, to)
	}
	if to == graph.KindDouble {
		if v.Kind() == graph.KindFloat {
			// Convert by the shortest text, so that 0.1f becomes 0.1.
			f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 32), 64)
		}
		return graph.Double(f), nil
	}
	if math.Abs(f) > math.MaxFloat32 && !math.IsInf(f, 0) {
		return graph.Null, overflow(v, to)
	}
	return graph.Float(float32(f)), nil
}
