package store

import (
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"vigil/internal/posture"
)

// A token is a hash of one thing an entity can be found by. It belongs to one
// organisation: what others have is not among its hits.
type token int64

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
	var buf [160]byte
	b := append(buf[:0], kind)
	b = appendText(b, string(org))
	b = appendText(b, posture.Fold(name))
	b = append(b, posture.Fold(value)...)
	return token(xxhash.Sum64(b))
}

// appendTokens appends everything an entity can be found by.
func appendTokens(ts []token, org posture.OrgID, e *posture.Entity) []token {
	ts = append(ts,
		newToken(org, everyToken, "", ""),
		newToken(org, acctToken, "", string(e.Account)),
		newToken(org, typeToken, "", string(e.Type)),
		newToken(org, regionToken, "", e.Region),
		newToken(org, nameToken, "", e.Name))
	for _, p := range e.Properties {
		if p.Type == posture.UnknownProperty {
			ts = append(ts, newToken(org, unknownToken, p.Name, ""))
			continue
		}
		ts = append(ts, newToken(org, hasToken, p.Name, ""), newToken(org, propertyToken, p.Name, p.Plain()))
	}
	for name, value := range e.Tags {
		ts = append(ts, newToken(org, hasTagToken, name, ""), newToken(org, tagToken, name, value))
	}
	slices.Sort(ts)
	return slices.Compact(ts)
}

// tokenText writes tokens as the words that SQLite indexes.
func tokenText(ts []token) string {
	b := make([]byte, 0, 14*len(ts))
	for i, t := range ts {
		if i > 0 {
			b = append(b, ' ')
		}
		b = t.appendWord(b)
	}
	return string(b)
}

func (t token) appendWord(b []byte) []byte { return strconv.AppendUint(b, uint64(t), 36) }
