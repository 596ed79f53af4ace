package store

import (
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
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
	var buf [160]byte
	b := append(buf[:0], kind)
	b = appendText(b, string(org))
	b = appendText(b, posture.Fold(name))
	of := xxhash.Sum64(b) >> valueBits << valueBits
	b = append(b, value...)
	return token(of | max(1, xxhash.Sum64(b)&(1<<valueBits-1)))
}

// tokenRange returns the tokens that those of all values of a name are after and
// up to.
func tokenRange(org posture.OrgID, kind byte, name string) (after, to token) {
	after = exactToken(org, kind, name, "") >> valueBits << valueBits
	return after, after | (1<<valueBits - 1)
}

// tokensOf returns what a database finds an entity by.
func tokensOf(d sqldb.Dialect, org posture.OrgID, e *posture.Entity) []token {
	ts := appendTokens(nil, org, e)
	if d == sqldb.Postgres {
		ts = appendExact(ts, org, e)
	}
	slices.Sort(ts)
	return slices.Compact(ts)
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
	return ts
}

// appendExact appends tokens of values that are not in the one form in which
// they are compared. With them, two entities have the same tokens of a name only
// if they have the same values. PostgreSQL counts by that.
func appendExact(ts []token, org posture.OrgID, e *posture.Entity) []token {
	add := func(kind byte, name, value string) {
		if value != posture.Fold(value) {
			ts = append(ts, exactToken(org, kind, name, value))
		}
	}
	add(nameToken, "", e.Name)
	for _, p := range e.Properties {
		if p.Type == posture.StringProperty {
			add(propertyToken, p.Name, p.String)
		}
	}
	for name, value := range e.Tags {
		add(tagToken, name, value)
	}
	return ts
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
