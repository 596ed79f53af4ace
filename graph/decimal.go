package graph

import (
	"math/big"
	"strconv"
	"strings"
)

// shortest returns the shortest decimal that parses to f, and 0 for infinities and NaN, which no decimal represents.
func shortest(f float64, bits int) (*big.Int, int64) {
	u, s, ok := parseDecimal(strconv.FormatFloat(f, 'e', -1, bits))
	if !ok {
		return new(big.Int), 0
	}
	return u, s
}

// ParseDecimal parses a decimal number such as -12.50 or 1e-9 as a big decimal.
func ParseDecimal(s string) (Value, bool) {
	u, scale, ok := parseDecimal(s)
	if !ok || int64(int32(scale)) != scale {
		return Value{}, false
	}
	return BigDecimal(u, int32(scale)), true
}

func parseDecimal(s string) (*big.Int, int64, bool) {
	var exp int64
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		var err error
		if exp, err = strconv.ParseInt(s[i+1:], 10, 32); err != nil {
			return nil, 0, false
		}
		s = s[:i]
	}
	integer, frac, _ := strings.Cut(s, ".")
	if strings.HasPrefix(frac, "-") || strings.HasPrefix(frac, "+") {
		return nil, 0, false // otherwise .-5 would be parsed as -5
	}
	u, ok := new(big.Int).SetString(integer+frac, 10)
	if !ok {
		return nil, 0, false
	}
	return u, int64(len(frac)) - exp, true
}

// decimalString formats a big decimal like Java's toPlainString for ordinary
// scales, and with an exponent beyond them.
func decimalString(u *big.Int, scale int32) string {
	if scale < -64 || scale > 1024 {
		return u.String() + "E" + strconv.FormatInt(-int64(scale), 10)
	}
	digits := new(big.Int).Abs(u).String()
	sign := ""
	if u.Sign() < 0 {
		sign = "-"
	}
	if scale <= 0 {
		return sign + digits + strings.Repeat("0", int(-scale))
	}
	if pad := int(scale) + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	cut := len(digits) - int(scale)
	return sign + digits[:cut] + "." + digits[cut:]
}
