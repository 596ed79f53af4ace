package store

import (
	"slices"
	"strings"
	"unicode/utf8"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// A tokenizer makes the tokens of entities of one organisation from their docs.
// Most entities have the same names, and few values come once only: it remembers
// what all tokens of a name have in common.
type tokenizer struct {
	dialect sqldb.Dialect
	org     posture.OrgID
	stems   map[tokenName]stem
	home    home
	root    string // of home
	tokens  []token
	text    []byte
}

type tokenName struct {
	kind byte
	name string
}

// maxStems bounds what is remembered: people may name a tag after a time.
const maxStems = 4096

func newTokenizer(d sqldb.Dialect, org posture.OrgID) *tokenizer {
	return &tokenizer{dialect: d, org: org, stems: map[tokenName]stem{}}
}

// of returns everything an entity can be found by, as the database takes it.
func (z *tokenizer) of(doc []byte, h home) (any, error) {
	if z.root == "" || h != z.home {
		z.home, z.root = h, h.root()
	}
	z.tokens = z.tokens[:0]
	z.add(everyToken, "", "")
	z.add(acctToken, "", string(h.account))
	z.add(typeToken, "", string(h.typ))
	z.add(regionToken, "", h.region)
	if len(doc) == 0 || doc[0] != docVersion {
		return nil, errDoc
	}
	r := docReader{rest: string(doc[1:])}
	z.value(nameToken, "", r.since(r.since(z.root)))
	_ = r.text() // the XID
	z.properties(&r)
	for range r.count() {
		name := r.text()
		z.add(hasTagToken, name, "")
		z.value(tagToken, name, r.text())
	}
	if r.bad {
		return nil, errDoc
	}
	if z.dialect == sqldb.Postgres {
		return z.numbers(), nil
	}
	return z.words(), nil
}

func (z *tokenizer) properties(r *docReader) {
	last := ""
	for i := range r.count() {
		name := r.text()
		p := r.value()
		if p.Type == posture.UnknownProperty {
			z.add(unknownToken, name, "")
			continue
		}
		if i == 0 || name != last { // those of one name follow each other
			z.add(hasToken, name, "")
		}
		last = name
		if p.Type == posture.StringProperty {
			z.value(propertyToken, name, p.String)
		} else {
			z.add(propertyToken, name, p.Plain())
		}
	}
}

// value adds the token of a value. PostgreSQL counts by tokens: there it adds
// one of the value as it is written, unless that is the form in which values are
// compared. So two entities have the same tokens of a name only if they have the
// same values.
func (z *tokenizer) value(kind byte, name, value string) {
	z.add(kind, name, value)
	if z.dialect == sqldb.Postgres && value != posture.Fold(value) {
		s := z.stem(kind, name)
		z.text = append(append(z.text[:0], s.text...), value...)
		z.tokens = append(z.tokens, s.hash(z.text))
	}
}

// add adds the token of a value in the form in which it is compared.
func (z *tokenizer) add(kind byte, name, value string) {
	s := z.stem(kind, name)
	z.text = appendFold(append(z.text[:0], s.text...), value)
	z.tokens = append(z.tokens, s.hash(z.text))
}

func (z *tokenizer) stem(kind byte, name string) stem {
	s, ok := z.stems[tokenName{kind, name}]
	if !ok {
		if len(z.stems) >= maxStems {
			clear(z.stems)
		}
		s = newStem(nil, z.org, kind, name)
		z.stems[tokenName{kind, strings.Clone(name)}] = s // the name alone, not the doc that it is in
	}
	return s
}

// appendFold appends what [posture.Fold] makes of a text.
func appendFold(b []byte, s string) []byte {
	n := len(b)
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			return append(b[:n], posture.Fold(s)...)
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

// numbers returns the tokens as PostgreSQL takes them.
func (z *tokenizer) numbers() []int64 {
	slices.Sort(z.tokens)
	z.tokens = slices.Compact(z.tokens)
	all := make([]int64, len(z.tokens))
	for i, t := range z.tokens {
		all[i] = int64(t)
	}
	return all
}

// words returns the tokens as the words that SQLite indexes.
func (z *tokenizer) words() string {
	z.text = z.text[:0]
	for _, t := range z.tokens {
		z.text = append(t.appendWord(z.text), ' ')
	}
	return string(z.text)
}
