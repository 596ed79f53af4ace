package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"strings"

	"vigil/internal/secret"
)

// The text of an API token is a prefix that secret scanners can detect, 32
// random bytes and a checksum of both. It has letters and digits only, so that
// a double click selects all of it.
const (
	tokenPrefix = "vgl_"
	tokenBytes  = 32
	bodyDigits  = 43 // 62^43 > 2^256
	sumDigits   = 6  // 62^6 > 2^32
	tokenLength = len(tokenPrefix) + bodyDigits + sumDigits
	hintLength  = len(tokenPrefix) + 6
)

// TokenHash is the stored hash of a token's text. A fast hash is as safe as a
// slow one, because the text has 256 random bits.
type TokenHash [sha256.Size]byte

// newTokenText generates the text of a new token.
func newTokenText() secret.Text {
	random := make([]byte, tokenBytes)
	_, _ = rand.Read(random)
	body := tokenPrefix + base62(new(big.Int).SetBytes(random), bodyDigits)
	return secret.NewText(body + checksum(body))
}

// hashToken returns the hash of a token's text. It returns false if the
// checksum is wrong, so that mistyped tokens cause no database lookup.
func hashToken(text secret.Text) (TokenHash, bool) {
	s := text.Reveal()
	if len(s) != tokenLength || !strings.HasPrefix(s, tokenPrefix) {
		return TokenHash{}, false
	}
	body, sum := s[:tokenLength-sumDigits], s[tokenLength-sumDigits:]
	if checksum(body) != sum {
		return TokenHash{}, false
	}
	return sha256.Sum256([]byte(s)), true
}

// hintOf returns the first characters of a token's text, which may be shown.
func hintOf(text secret.Text) string { return text.Reveal()[:hintLength] }

func checksum(s string) string {
	return base62(big.NewInt(int64(crc32.ChecksumIEEE([]byte(s)))), sumDigits)
}

// base62 encodes n with the given number of digits.
func base62(n *big.Int, digits int) string {
	s := n.Text(62)
	return strings.Repeat("0", digits-len(s)) + s
}
