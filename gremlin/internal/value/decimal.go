package value

import (
	"math/big"
	"strconv"
	"strings"

	"vigil/graph"
)

// decimalParts returns a finite number as unscaled * 10^-scale with the scale of
// Java's BigDecimal. Floats are converted by their shortest decimal form.
func decimalParts(v graph.Value) (*big.Int, int64) {
	switch v.Kind() {
	case graph.KindBigDecimal:
		u, s := v.BigDecimal()
		return u, int64(s)
	case graph.KindFloat, graph.KindDouble:
		d, ok := graph.ParseDecimal(FormatFloat(v))
		if !ok {
			return new(big.Int), 0
		}
		u, s := d.BigDecimal()
		return u, int64(s)
	case graph.KindBigInt:
		return v.BigInt(), 0
	}
	return big.NewInt(v.Int()), 0
}

// maxScale limits the power of ten by which an operation multiplies a number. An
// operation that needs a greater one fails.
const maxScale = 1 << 14

// errDecimalRange is the error of an operation whose operands or result exceed a limit.
var errDecimalRange = Errorf("BigDecimal would overflow supported range")

// pow10 returns 10^n. The caller limits n.
func pow10(n int64) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil)
}

func (op Arith) decimal(a, b graph.Value) (graph.Value, error) {
	for _, v := range [2]graph.Value{a, b} {
		if err := finite(v, graph.KindBigDecimal); err != nil {
			return graph.Null, err
		}
	}
	x, xs := decimalParts(a)
	y, ys := decimalParts(b)
	if x.BitLen()+y.BitLen() > maxBits || xs-ys > maxScale || ys-xs > maxScale || xs+ys != int64(int32(xs+ys)) {
		return graph.Null, errDecimalRange
	}
	switch op {
	case Mul:
		return graph.BigDecimal(new(big.Int).Mul(x, y), int32(xs+ys)), nil
	case Div:
		return divide(x, xs, y, ys)
	}
	if xs < ys {
		x, xs = new(big.Int).Mul(x, pow10(ys-xs)), ys
	} else {
		y = new(big.Int).Mul(y, pow10(xs-ys))
	}
	if op == Add {
		return graph.BigDecimal(new(big.Int).Add(x, y), int32(xs)), nil
	}
	return graph.BigDecimal(new(big.Int).Sub(x, y), int32(xs)), nil
}

// divide returns the exact quotient if its decimal expansion is finite. Otherwise it
// rounds like TinkerPop: first to ten digits more than the longer operand has, then to
// the greater scale of the operands, but at least ten places.
func divide(x *big.Int, xs int64, y *big.Int, ys int64) (graph.Value, error) {
	if y.Sign() == 0 {
		return graph.Null, Errorf("Division by zero")
	}
	preferred := xs - ys
	if x.Sign() == 0 {
		return graph.BigDecimal(new(big.Int), int32(preferred)), nil
	}
	if shift, ok := exactShift(x, y); ok {
		if shift > maxScale {
			return graph.Null, errDecimalRange
		}
		q := new(big.Int).Mul(x, pow10(shift))
		return graph.BigDecimal(q.Quo(q, y), int32(preferred+shift)), nil
	}
	precision := max(digits(x), digits(y)) + 10
	// With this shift, num / y has one or two digits more than precision. The division by
	// y * 10^extra leaves them out, so the exact quotient is rounded only once.
	shift := int64(precision-digits(x)+digits(y)) + 1
	if shift > maxScale {
		return graph.Null, errDecimalRange
	}
	num := new(big.Int).Mul(x, pow10(shift))
	extra := int64(digits(new(big.Int).Quo(num, y)) - precision)
	q := roundHalfUp(num, new(big.Int).Mul(y, pow10(extra)))
	s := preferred + shift - extra
	if limit := max(xs, ys, 10); s > limit {
		q = roundHalfUp(q, pow10(s-limit))
		s = limit
	}
	return graph.BigDecimal(q, int32(s)), nil
}

// exactShift returns the smallest n for which x * 10^n / y is an integer. There is one
// if the reduced divisor has only the prime factors 2 and 5.
func exactShift(x, y *big.Int) (int64, bool) {
	g := new(big.Int).GCD(nil, nil, new(big.Int).Abs(x), new(big.Int).Abs(y))
	d := new(big.Int).Quo(new(big.Int).Abs(y), g)
	twos, fives := strip(d, 2), strip(d, 5)
	return max(twos, fives), d.Cmp(big.NewInt(1)) == 0
}

// strip divides d by p as often as possible and returns the count.
func strip(d *big.Int, p int64) int64 {
	var n int64
	q, r, f := new(big.Int), new(big.Int), big.NewInt(p)
	for {
		q.QuoRem(d, f, r)
		if r.Sign() != 0 {
			return n
		}
		d.Set(q)
		n++
	}
}

// roundHalfUp returns x / y rounded to the nearest integer, and halves away from zero.
func roundHalfUp(x, y *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(x, y, new(big.Int))
	r.Abs(r).Lsh(r, 1)
	if r.CmpAbs(y) >= 0 {
		if x.Sign()*y.Sign() < 0 {
			return q.Sub(q, big.NewInt(1))
		}
		return q.Add(q, big.NewInt(1))
	}
	return q
}

func digits(u *big.Int) int { return len(new(big.Int).Abs(u).String()) }

// FormatFloat formats a float or double like Java: 1.0, 1.0E10, NaN.
func FormatFloat(v graph.Value) string {
	bits := 64
	if v.Kind() == graph.KindFloat {
		bits = 32
	}
	return formatFloat(v.Float(), bits)
}

func formatFloat(f float64, bits int) string {
	switch s := strconv.FormatFloat(f, 'g', -1, bits); s {
	case "NaN":
		return s
	case "+Inf":
		return "Infinity"
	case "-Inf":
		return "-Infinity"
	}
	if abs := max(f, -f); abs != 0 && (abs < 1e-3 || abs >= 1e7) {
		return javaExponent(strconv.FormatFloat(f, 'e', -1, bits))
	}
	s := strconv.FormatFloat(f, 'f', -1, bits)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// javaExponent converts 1e+10 to 1.0E10 and 1.5e-09 to 1.5E-9.
func javaExponent(s string) string {
	mantissa, exponent, _ := strings.Cut(s, "e")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	n, _ := strconv.Atoi(exponent) // without a plus sign and leading zeros
	return mantissa + "E" + strconv.Itoa(n)
}
