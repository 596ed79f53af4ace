package store

import (
	"github.com/cespare/xxhash/v2"

	"vigil/internal/posture"
)

// A token is a hash of one thing an entity can be found by. It belongs to one
// organisation: what others have is not among its hits. Its first 16 bits are of
// the kind and name alone, so that in order the tokens of all values of a
// property are neighbours.
type token int64

const valueBits = 48

// The kinds of token.
const (
	everyToken    byte = '*' // all entities have it
	acctToken     byte = 'a'
	typeToken     byte = 't'
	regionToken   byte = 'r'
	nameToken     byte = 'n'
	propertyToken byte = 'p' // a property and its value
	hasToken      byte = 'e' // a property that is known
	unknownToken  byte = 'u' // a property that is unknown
	tagToken      byte = 'g' // a tag and its value
	hasTagToken   byte = 'h'
)

// newToken makes the token of a kind. Names and values are compared without case.
func newToken(org posture.OrgID, kind byte, name, value string) token {
	return exactToken(org, kind, name, posture.Fold(value))
}

// exactToken makes the token of a value as it is written.
func exactToken(org posture.OrgID, kind byte, name, value string) token {
	var space [160]byte
	return newStem(space[:0], org, kind, name).token(value)
}

// A stem is what the tokens of all values of a name are made of.
type stem struct {
	text []byte
	of   uint64 // the bits that they share
}

// newStem makes a stem, whose text it appends to b.
func newStem(b []byte, org posture.OrgID, kind byte, name string) stem {
	b = append(b, kind)
	b = appendText(b, string(org))
	b = appendText(b, posture.Fold(name))
	return stem{b, xxhash.Sum64(b) >> valueBits << valueBits}
}

// token makes the token of a value. It may write behind the text.
func (s stem) token(value string) token { return s.hash(append(s.text, value...)) }

// hash makes the token of a text and the value behind it.
func (s stem) hash(all []byte) token {
	return token(s.of | max(1, xxhash.Sum64(all)&(1<<valueBits-1)))
}

// tokenRange returns the tokens that those of all values of a name are after and
// up to.
func tokenRange(org posture.OrgID, kind byte, name string) (after, to token) {
	after = exactToken(org, kind, name, "") >> valueBits << valueBits
	return after, after | (1<<valueBits - 1)
}

// wordBytes is how long words are. Each byte holds seven bits of a token: all of
// the value's, and half of the others, which are of the name and in the value's
// hash too.
const wordBytes = 8

// word returns what is left of a token in its word.
func (t token) word() token { return t & (1<<(7*wordBytes) - 1) }

// appendWord appends the token as SQLite indexes it. To its tokenizer of ASCII, all
// other bytes are letters. Digits and Latin letters would take three more.
func (t token) appendWord(b []byte) []byte {
	for shift := 7 * (wordBytes - 1); shift >= 0; shift -= 7 {
		b = append(b, 0x80|byte(t>>shift))
	}
	return b
}
