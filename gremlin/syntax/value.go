package syntax

import (
	"encoding/hex"
	"math/big"
)

// UUID is the 16 bytes of a universally unique identifier.
type UUID [16]byte

// String writes u in the usual form with hyphens.
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
