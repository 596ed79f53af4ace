package entitydb

import (
	"github.com/cespare/xxhash/v2"

	"vigil/internal/posture"
)

// A token is a term of the inverted index: a hash of organisation, kind, attribute
// name and value. The organisation is part of it, so that no search returns entities
// of another organisation. The first 16 bits depend on organisation, kind and name
// alone, so that the tokens of all values of an attribute are adjacent in order.
type token int64

const valueBits = 48

// The kinds of token.
const (
	everyToken    byte = '*' // every entity has it
	accountToken  byte = 'a'
	typeToken     byte = 't'
	regionToken   byte = 'r'
	nameToken     byte = 'n'
	wordToken     byte = 'w' // a prefix of a word of the name
	propertyToken byte = 'p' // a property and its value
	hasToken      byte = 'e' // a property that is known
	unknownToken  byte = 'u' // a property that is unknown
	tagToken      byte = 'g' // a tag and its value
	hasTagToken   byte = 'h' // a tag, whatever its value
)

// newToken returns the token of a value. Names and values are case-insensitive.
func newToken(org posture.OrgID, kind byte, name, value string) token {
	return exactToken(org, kind, name, posture.Fold(value))
}

// exactToken returns the token of a value without folding its case.
func exactToken(org posture.OrgID, kind byte, name, value string) token {
	var space [160]byte
	return newTokenPrefix(space[:0], org, kind, name).token(value)
}

// A tokenPrefix is the common part of the tokens of all values of an attribute.
type tokenPrefix struct {
	text   []byte
	prefix uint64 // the leading bits
}

// newTokenPrefix returns a prefix, whose text it appends to b.
func newTokenPrefix(b []byte, org posture.OrgID, kind byte, name string) tokenPrefix {
	b = append(b, kind)
	b = appendText(b, string(org))
	b = appendText(b, posture.Fold(name))
	return tokenPrefix{b, xxhash.Sum64(b) >> valueBits << valueBits}
}

// token returns the token of a value. It may overwrite the bytes after the text.
func (p tokenPrefix) token(value string) token { return p.hash(append(p.text, value...)) }

// hash returns the token of a value. all is the text of the prefix followed by the value. The
// low bits are at least 1, because the intervals of tokenRange exclude 0.
func (p tokenPrefix) hash(all []byte) token {
	return token(p.prefix | max(1, xxhash.Sum64(all)&(1<<valueBits-1)))
}

// tokenRange returns the interval of the tokens of all values of an attribute: greater
// than after, and at most to.
func tokenRange(org posture.OrgID, kind byte, name string) (after, to token) {
	after = exactToken(org, kind, name, "") >> valueBits << valueBits
	return after, after | (1<<valueBits - 1)
}

// wordBytes is the length of a token in the FTS5 index. Each byte holds seven bits of
// the token: the word has the 48 low bits, which are a hash of name and value, and 8 of
// the 16 that depend on the name alone.
const wordBytes = 8

// word returns the bits of a token that its word holds.
func (t token) word() token { return t & (1<<(7*wordBytes) - 1) }

// appendWord appends the token as a word for FTS5, whose ASCII tokenizer treats all
// bytes from 0x80 as letters. Hexadecimal digits would need twice as many bytes.
func (t token) appendWord(b []byte) []byte {
	for shift := 7 * (wordBytes - 1); shift >= 0; shift -= 7 {
		b = append(b, 0x80|byte(t>>shift))
	}
	return b
}
