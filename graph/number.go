package graph

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// compareNumbers orders two numbers by value. TinkerPop converts an integer to a float or double
// before it compares them. This is not a transitive order, because large integers lose digits, so
// compareNumbers does not convert. For decimals and fractions in floats, see [Value.decimal].
func compareNumbers(a, b Value) int {
	switch {
	case a.IsInteger() && b.IsInteger():
		return cmp.Compare(int64(a.num), int64(b.num))
	case a.isFloating() && b.isFloating():
		return compareFloats(a.Float(), b.Float())
	case a.IsInteger() && b.isFloating():
		return compareIntegerWithFloat(int64(a.num), b.Float())
	case a.isFloating() && b.IsInteger():
		return -compareIntegerWithFloat(int64(b.num), a.Float())
	case a.kind == KindBigDecimal || b.kind == KindBigDecimal || a.isFloating() || b.isFloating():
		return compareDecimals(a, b)
	}
	return a.bigInteger().Cmp(b.bigInteger())
}

// compareIntegerWithFloat compares without rounding i. An integer is less than NaN.
func compareIntegerWithFloat(i int64, f float64) int {
	switch {
	case f >= 1<<63 || math.IsNaN(f):
		return -1
	case f < -1<<63:
		return 1
	}
	whole := int64(f) // without the fraction; the conversion back to a double is exact
	return cmp.Or(cmp.Compare(i, whole), compareFloats(float64(whole), f))
}

// compareFloats orders like Java: -0.0 before 0.0, NaN last and equal to itself.
func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return cmp.Compare(javaBits(a), javaBits(b))
}

// javaBits returns bits that distinguish -0.0 from 0.0 and map all NaNs to one
// value above all others.
func javaBits(f float64) int64 {
	if math.IsNaN(f) {
		return math.MaxInt64
	}
	return int64(math.Float64bits(f))
}

func (v Value) isFloating() bool { return v.kind == KindFloat || v.kind == KindDouble }

// isNaN reports whether v is a float or double that is not a number.
func (v Value) isNaN() bool { return v.isFloating() && math.IsNaN(v.Float()) }

// nearestDouble converts a number of any kind to the nearest double, which may be infinite.
func (v Value) nearestDouble() float64 {
	if v.isFloating() {
		return v.Float()
	}
	u, scale := v.decimal()
	digits := new(big.Int).Abs(u).String()
	// ParseFloat ignores digits of long exponents. The exponent of 0.digits is long only if the result is zero or infinite.
	f, _ := strconv.ParseFloat("0."+digits+"e"+strconv.FormatInt(int64(len(digits))-scale, 10), 64)
	return math.Copysign(f, float64(u.Sign()))
}

// bigInteger converts an integer of any width to a big integer.
func (v Value) bigInteger() *big.Int {
	if v.kind == KindBigInt {
		return v.BigInt()
	}
	return big.NewInt(v.Int())
}

// wholeNumber returns the integer that a number of any kind has as its value, if it fits 64
// bits. The integer of -0.0 is 0, although these are not [Eq].
func (v Value) wholeNumber() (int64, bool) {
	switch {
	case v.IsInteger():
		return v.Int(), true
	case v.isFloating():
		if f := v.Float(); f == math.Trunc(f) && f >= -1<<63 && f < 1<<63 {
			return int64(f), true
		}
		return 0, false
	case v.IsNumber():
		return wholeDecimal(v.decimal())
	}
	return 0, false
}

// wholeDecimal returns u * 10^-scale if it is an integer of 64 bits. It computes no power of ten
// that is much longer than u.
func wholeDecimal(u *big.Int, scale int64) (int64, bool) {
	switch m := magnitude(u, scale); {
	case u.Sign() == 0:
		return 0, true
	case m > 20, m < -1: // the absolute value is at least 10^20, or less than 1
		return 0, false
	case scale < 0:
		u = new(big.Int).Mul(u, pow10(-scale))
	case scale > 0:
		q, r := new(big.Int).QuoRem(u, pow10(scale), new(big.Int))
		if r.Sign() != 0 {
			return 0, false
		}
		u = q
	}
	return u.Int64(), u.IsInt64()
}

// decimalLimit limits the power of ten that a comparison computes. Numbers whose
// scales differ by more are compared by magnitude.
const decimalLimit = 4096

// compareDecimals orders two numbers by value. A NaN sorts last, and -0.0 before all other zeros.
func compareDecimals(a, b Value) int {
	if ra, rb := infinity(a), infinity(b); ra != 0 || rb != 0 {
		return cmp.Compare(ra, rb)
	}
	au, aScale := a.decimal()
	bu, bScale := b.decimal()
	if au.Sign() != bu.Sign() || au.Sign() == 0 {
		return cmp.Or(cmp.Compare(au.Sign(), bu.Sign()), cmp.Compare(zeroSign(a), zeroSign(b)))
	}
	// The number of digits before the decimal point decides unless these numbers are close.
	if ma, mb := magnitude(au, aScale), magnitude(bu, bScale); ma > mb+2 || mb > ma+2 {
		return au.Sign() * cmp.Compare(ma, mb)
	}
	d := aScale - bScale
	if d > decimalLimit || d < -decimalLimit {
		// Similar magnitude but very different scale: stripping zeros is cheaper than scaling.
		au, aScale = stripZeros(au, aScale)
		bu, bScale = stripZeros(bu, bScale)
		d = aScale - bScale
	}
	if d < 0 {
		return new(big.Int).Mul(au, pow10(-d)).Cmp(bu)
	}
	return au.Cmp(new(big.Int).Mul(bu, pow10(d)))
}

// infinity returns ±1 for an infinite float and 1 for NaN, which sorts last, otherwise 0.
func infinity(v Value) int {
	if !v.isFloating() {
		return 0
	}
	switch f := v.Float(); {
	case math.IsInf(f, -1):
		return -1
	case math.IsInf(f, 1), math.IsNaN(f):
		return 1
	}
	return 0
}

// zeroSign returns -1 for the float -0.0, and 0 for other zeros.
func zeroSign(v Value) int {
	if v.isFloating() && math.Signbit(v.Float()) {
		return -1
	}
	return 0
}

// magnitude estimates the number of decimal digits before the point, with an error of at most one.
func magnitude(u *big.Int, scale int64) int64 {
	return int64(float64(u.BitLen())*math.Log10(2)) - scale
}

func pow10(n int64) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil)
}

// stripZeros removes the trailing zeros of a number that is not zero.
func stripZeros(u *big.Int, scale int64) (*big.Int, int64) {
	digits := u.String()
	zeros := int64(len(digits) - len(strings.TrimRight(digits, "0")))
	return new(big.Int).Quo(u, pow10(zeros)), scale - zeros
}

// decimal returns a finite number as unscaled * 10^-scale. A float that is a whole number is
// converted exactly, because it is compared with integers exactly. A float with a fraction is
// converted by its shortest decimal form, as Java's BigDecimal does, so that 0.1 equals 0.1M. So
// 0.1f equals 0.1M too, although it does not equal the double 0.1.
func (v Value) decimal() (*big.Int, int64) {
	bits := 64
	switch v.kind {
	case KindBigDecimal:
		u, s := v.BigDecimal()
		return u, int64(s)
	case KindFloat:
		bits = 32
	case KindDouble:
	default:
		return v.bigInteger(), 0
	}
	f := v.Float()
	if f == math.Trunc(f) && !math.IsInf(f, 0) {
		u, _ := big.NewFloat(f).Int(nil)
		return u, 0
	}
	return shortest(f, bits)
}
