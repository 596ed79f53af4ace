package value

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"vigil/graph"
)

// The longest numbers that are parsed, in bytes without the sign: the time grows with the square of the length.
const (
	maxNumber = 4096
	maxRadix  = 1024 // digits of a hexadecimal or octal number
)

// ParseNumber parses a number like asNumber(). An integer becomes the smallest of
// int, long and big integer that holds it. Any other number becomes a float if the float
// prints the same digits as the double; otherwise a double if the double prints the digits
// of the number; otherwise a big decimal. Type suffixes (L, F, D), hexadecimal (0x1F) and
// octal (017) numbers are supported.
func ParseNumber(text string) (graph.Value, bool) {
	s := strings.TrimSpace(text)
	sign, body := splitSign(s)
	if body == "" {
		return graph.Null, false
	}
	if v, ok, hasPrefix := parseRadix(sign, body); hasPrefix {
		return v, ok
	}
	if len(body) > maxNumber {
		return graph.Null, false
	}
	last := body[len(body)-1]
	switch last {
	case 'l', 'L':
		n, ok := new(big.Int).SetString(sign+body[:len(body)-1], 10)
		if !ok || !isDecimal(body[:len(body)-1]) {
			return graph.Null, false
		}
		if n.IsInt64() {
			return graph.Long(n.Int64()), true
		}
		return graph.BigInt(n), true
	case 'f', 'F', 'd', 'D':
		return parseFloating(sign+body[:len(body)-1], last)
	}
	if isDecimal(body) {
		n, _ := new(big.Int).SetString(sign+body, 10)
		return integer(n), true
	}
	return parseFloating(s, 0)
}

func splitSign(s string) (sign, body string) {
	if strings.HasPrefix(s, "-") {
		return "-", s[1:]
	}
	return "", strings.TrimPrefix(s, "+")
}

func isDecimal(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// integer returns n in the smallest of int, long and big integer.
func integer(n *big.Int) graph.Value {
	switch {
	case n.IsInt64() && n.Int64() == int64(int32(n.Int64())):
		return graph.Int(int32(n.Int64()))
	case n.IsInt64():
		return graph.Long(n.Int64())
	}
	return graph.BigInt(n)
}

// parseRadix parses a hexadecimal number (0x1F, #1F) or an octal number (017). hasPrefix is
// false for all others.
func parseRadix(sign, body string) (v graph.Value, ok, hasPrefix bool) {
	base, text := 0, ""
	switch {
	case strings.HasPrefix(body, "0x"), strings.HasPrefix(body, "0X"):
		base, text = 16, body[2:]
	case strings.HasPrefix(body, "#"):
		base, text = 16, body[1:]
	case len(body) > 1 && body[0] == '0' && isDecimal(body):
		base, text = 8, body[1:]
	default:
		return graph.Null, false, false
	}
	if len(text) > maxRadix || strings.ContainsAny(text, "+-_") {
		return graph.Null, false, true
	}
	n, ok := new(big.Int).SetString(sign+text, base)
	if !ok {
		return graph.Null, false, true
	}
	return integer(n), true, true
}

// parseFloating parses a number without its suffix, which is F, D or 0 for none.
func parseFloating(s string, suffix byte) (graph.Value, bool) {
	if strings.ContainsAny(s, "_xXpPnNiI") { // ParseFloat accepts 1_000, 0x1p-2, nan and inf
		return graph.Null, false
	}
	d, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(d, 0) {
		return graph.Null, false
	}
	f32, _ := strconv.ParseFloat(s, 32)
	switch suffix {
	case 'f', 'F':
		if !math.IsInf(f32, 0) {
			return graph.Float(float32(f32)), true
		}
		return graph.Double(d), true
	case 'd', 'D':
		return graph.Double(d), true
	}
	f := graph.Float(float32(f32))
	if !math.IsInf(f32, 0) && FormatFloat(f) == FormatFloat(graph.Double(d)) {
		return f, true
	}
	dec, ok := graph.ParseDecimal(s)
	if !ok {
		return graph.Null, false
	}
	if digits, ok := graph.ParseDecimal(strconv.FormatFloat(d, 'e', -1, 64)); ok && graph.Eq(dec, digits) {
		return graph.Double(d), true
	}
	return dec, true
}
