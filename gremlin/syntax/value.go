package syntax

import (
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"
)

// UUID is the 16 bytes of a universally unique identifier.
type UUID [16]byte

// String formats u in the usual form with hyphens.
func (u UUID) String() string {
	var b [36]byte
	hex.Encode(b[0:8], u[0:4])
	hex.Encode(b[9:13], u[4:6])
	hex.Encode(b[14:18], u[6:8])
	hex.Encode(b[19:23], u[8:10])
	hex.Encode(b[24:36], u[10:16])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// Decimal is an exact decimal number, Coef × 10^-Scale. As in Java's BigDecimal
// 1.0 and 1.00 are different Decimals of the same numeric value.
type Decimal struct {
	Coef  *big.Int
	Scale int32
}

// String formats d with a decimal point, or with an exponent instead of many
// zeros. Trailing zeros are kept.
func (d Decimal) String() string {
	if d.Coef == nil {
		return "0"
	}
	s := d.Coef.String()
	if d.Scale == 0 {
		return s
	}
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	scale := int(d.Scale)
	if scale < 0 || scale > len(s)+6 {
		return sign + s + "e" + strconv.Itoa(-scale)
	}
	if pad := scale + 1 - len(s); pad > 0 {
		s = strings.Repeat("0", pad) + s
	}
	return sign + s[:len(s)-scale] + "." + s[len(s)-scale:]
}
