package syntax

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// maxScale limits the scale of a Decimal: arithmetic on a greater one, such as
// 1e999999999m, would exhaust the memory.
const (
	maxScale       = 6144
	decimalTooWide = "a decimal number has at most 6144 places before or after the point"
)

// isNumberSign reports whether the current sign belongs to a number.
func (l *lexer) isNumberSign() bool {
	c := l.peek(1)
	return isDigit(c) || c == '.' && isDigit(l.peek(2)) || strings.HasPrefix(l.src[l.off+1:], "Infinity")
}

// number skips a number and returns its kind, or tokBad and a message.
func (l *lexer) number() (kind tokenKind, message string) {
	if c := l.peek(0); c == '+' || c == '-' {
		l.off++
	}
	kind = tokInteger
	switch {
	case l.peek(0) == 'I':
		l.off += len("Infinity")
		kind = tokFloat
	case l.peek(0) == '0' && (l.peek(1) == 'x' || l.peek(1) == 'X'):
		l.off += 2
		l.digits(isHexDigit)
	default:
		kind = l.decimal()
	}
	if c := l.peek(0); c != 0 && strings.IndexByte("bBsSiIlLnN", c) >= 0 && kind == tokInteger {
		l.off++
	} else if c != 0 && strings.IndexByte("fFdDmM", c) >= 0 {
		l.off++
		kind = tokFloat
	}
	if isLetter(l.peek(0)) || isDigit(l.peek(0)) {
		l.word()
		return tokBad, "a number with an unknown suffix; suffixes are b s i l n for whole numbers, f d m for others"
	}
	return kind, ""
}

// decimal skips digits, a fraction and an exponent.
func (l *lexer) decimal() tokenKind {
	kind := tokInteger
	l.digits(isDigit)
	if l.peek(0) == '.' && isDigit(l.peek(1)) {
		kind = tokFloat
		l.off++
		l.digits(isDigit)
	}
	if c := l.peek(0); c == 'e' || c == 'E' {
		n := 1
		if s := l.peek(1); s == '+' || s == '-' {
			n = 2
		}
		if isDigit(l.peek(n)) {
			kind = tokFloat
			l.off += n
			l.digits(isDigit)
		}
	}
	return kind
}

// digits skips digits with underscores between them.
func (l *lexer) digits(ok func(byte) bool) {
	for ok(l.peek(0)) || l.peek(0) == '_' {
		l.off++
	}
}

func isHexDigit(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// integer parses an integer. Its type is given by its suffix, otherwise it is
// the smallest of int32, int64 and *big.Int that holds it. The message is empty
// on success.
func integer(text string) (v any, message string) {
	digits := text
	suffix := digits[len(digits)-1] | 0x20 // in lower case
	hex := strings.ContainsAny(digits, "xX")
	if strings.IndexByte("bsiln", suffix) >= 0 && !(hex && suffix == 'b') { // the b of 0x1b is a digit
		digits = digits[:len(digits)-1]
	} else {
		suffix = 0
	}
	if strings.IndexByte(digits, '_') >= 0 {
		if strings.HasSuffix(digits, "_") {
			return nil, "a number must not end in an underscore"
		}
		digits = strings.ReplaceAll(digits, "_", "")
	}
	base := 10
	sign, body := "", digits
	if c := digits[0]; c == '+' || c == '-' {
		sign, body = digits[:1], digits[1:]
	}
	switch {
	case hex:
		base, body = 16, body[2:]
	case len(body) > 1 && body[0] == '0':
		base = 8
	}
	if n, err := strconv.ParseInt(sign+body, base, 64); err == nil {
		return fitInteger(n, suffix)
	}
	n, ok := new(big.Int).SetString(sign+body, base)
	switch {
	case !ok && base == 8:
		return nil, "a number that starts with 0 is octal and has the digits 0 to 7 only"
	case !ok:
		return nil, "this is not a number"
	case suffix != 0 && suffix != 'n':
		return nil, "the number does not fit the type of its suffix"
	}
	return n, ""
}

// fitInteger converts n to the type of its suffix.
func fitInteger(n int64, suffix byte) (any, string) {
	switch {
	case suffix == 'n':
		return big.NewInt(n), ""
	case suffix == 'l', suffix == 0 && n != int64(int32(n)):
		return n, ""
	case suffix == 'b' && n == int64(int8(n)):
		return int8(n), ""
	case suffix == 's' && n == int64(int16(n)):
		return int16(n), ""
	case (suffix == 'i' || suffix == 0) && n == int64(int32(n)):
		return int32(n), ""
	}
	return nil, "the number does not fit the type of its suffix"
}

// float parses a number with a fraction, an exponent or a suffix f, d or m.
func float(text string) (v any, message string) {
	switch text {
	case "Infinity", "+Infinity":
		return math.Inf(1), ""
	case "-Infinity":
		return math.Inf(-1), ""
	}
	if strings.IndexByte(text, '_') >= 0 {
		text = strings.ReplaceAll(text, "_", "")
	}
	switch last := text[len(text)-1] | 0x20; last {
	case 'm':
		return decimalValue(text[:len(text)-1])
	case 'f':
		f, err := strconv.ParseFloat(text[:len(text)-1], 32)
		return float32(f), floatMessage(err)
	case 'd':
		text = text[:len(text)-1]
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, floatMessage(err)
}

// floatMessage returns the message for an error of ParseFloat. It ignores range errors: a number that is too
// large for its type is infinite, as in Java.
func floatMessage(err error) string {
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return ""
	}
	return "this is not a number"
}

// decimalValue parses an exact decimal number without its suffix.
func decimalValue(text string) (any, string) {
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(text), "e")
	exp := 0
	if scientific {
		var err error
		if exp, err = strconv.Atoi(exponent); err != nil {
			return nil, decimalTooWide
		}
	}
	integer, fraction, _ := strings.Cut(mantissa, ".")
	scale := len(fraction) - exp
	if scale < -maxScale || scale > maxScale {
		return nil, decimalTooWide
	}
	coef, ok := new(big.Int).SetString(integer+fraction, 10)
	if !ok {
		return nil, "this is not a number"
	}
	return Decimal{Coef: coef, Scale: int32(scale)}, ""
}
