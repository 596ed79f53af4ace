package store

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// A tokenizer makes the tokens of entities of one organisation from their docs.
// Most entities have the same names: it remembers what all tokens of a name, and
// those of a home, have in common.
type tokenizer struct {
	dialect  sqldb.Dialect
	org      posture.OrgID
	name     stem
	families map[tokenName]family
	home     home
	root     string  // of home
	homely   []token // what everything in home has
	tokens   []token
	text     []byte
}

// A family is the tokens of all values of a name.
type family struct {
	stem stem
	has  token // what has any of them has this one, too
}

type tokenName struct {
	kind byte
	name string
}

// maxFamilies bounds what is remembered: people may name a tag after a time.
const maxFamilies = 4096

func newTokenizer(d sqldb.Dialect, org posture.OrgID) *tokenizer {
	return &tokenizer{dialect: d, org: org, name: newStem(nil, org, nameToken, ""), families: map[tokenName]family{}}
}

// of returns everything an entity can be found by, in order and each once.
func (z *tokenizer) of(doc []byte, h home) ([]token, error) {
	if z.root == "" || h != z.home {
		z.settle(h)
	}
	z.tokens = append(z.tokens[:0], z.homely...)
	if len(doc) == 0 || doc[0] != docVersion {
		return nil, errDoc
	}
	r := docReader{rest: string(doc[1:])}
	z.value(z.name, r.since(r.since(z.root)))
	_ = r.text() // the XID
	z.properties(&r)
	for range r.count() {
		f := z.family(tagToken, r.text())
		z.tokens = append(z.tokens, f.has)
		z.value(f.stem, r.text())
	}
	if r.bad {
		return nil, errDoc
	}
	if z.dialect == sqldb.SQLite {
		for i, t := range z.tokens {
			z.tokens[i] = t.word()
		}
	}
	slices.Sort(z.tokens)
	z.tokens = slices.Compact(z.tokens)
	return slices.Clone(z.tokens), nil
}

// settle prepares for the entities of a home.
func (z *tokenizer) settle(h home) {
	z.home, z.root = h, h.root()
	z.homely = append(z.homely[:0],
		newToken(z.org, everyToken, "", ""),
		newToken(z.org, acctToken, "", string(h.account)),
		newToken(z.org, typeToken, "", string(h.typ)),
		newToken(z.org, regionToken, "", h.region))
}

func (z *tokenizer) properties(r *docReader) {
	last := ""
	for i := range r.count() {
		name := r.text()
		p := r.value()
		if p.Type == posture.UnknownProperty {
			z.tokens = append(z.tokens, newToken(z.org, unknownToken, name, ""))
			continue
		}
		f := z.family(propertyToken, name)
		if i == 0 || name != last { // those of one name follow each other
			z.tokens = append(z.tokens, f.has)
		}
		last = name
		if p.Type == posture.StringProperty {
			z.value(f.stem, p.String)
		} else {
			z.add(f.stem, p.Plain())
		}
	}
}

// value adds the token of a value. PostgreSQL counts by tokens: there it adds
// one of the value as it is written, unless that is the form in which values are
// compared. So two entities have the same tokens of a name only if they have the
// same values.
func (z *tokenizer) value(s stem, value string) {
	z.add(s, value)
	if z.dialect == sqldb.Postgres && value != posture.Fold(value) {
		z.text = append(append(z.text[:0], s.text...), value...)
		z.tokens = append(z.tokens, s.hash(z.text))
	}
}

// add adds the token of a value in the form in which it is compared.
func (z *tokenizer) add(s stem, value string) {
	z.text = appendFold(append(z.text[:0], s.text...), value)
	z.tokens = append(z.tokens, s.hash(z.text))
}

// family returns the family of a property or a tag.
func (z *tokenizer) family(kind byte, name string) family {
	f, ok := z.families[tokenName{kind, name}]
	if !ok {
		if len(z.families) >= maxFamilies {
			clear(z.families)
		}
		has := hasToken
		if kind == tagToken {
			has = hasTagToken
		}
		f = family{newStem(nil, z.org, kind, name), newToken(z.org, has, name, "")}
		z.families[tokenName{kind, strings.Clone(name)}] = f // the name alone, not the doc that it is in
	}
	return f
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

// numbersOf returns tokens as PostgreSQL takes them.
func numbersOf(tokens []token) []int64 {
	all := make([]int64, len(tokens))
	for i, t := range tokens {
		all[i] = int64(t)
	}
	return all
}

// wordsOf returns tokens as the words that SQLite indexes.
func wordsOf(tokens []token) string {
	b := make([]byte, 0, len(tokens)*(wordBytes+1))
	for _, t := range tokens {
		b = append(t.appendWord(b), ' ')
	}
	return string(b)
}

// differ returns what only one of two lists has. Both are in order.
func differ(a, b []token) (onlyA, onlyB []token) {
	for len(a) > 0 && len(b) > 0 {
		switch cmp.Compare(a[0], b[0]) {
		case -1:
			onlyA, a = append(onlyA, a[0]), a[1:]
		case 1:
			onlyB, b = append(onlyB, b[0]), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return append(onlyA, a...), append(onlyB, b...)
}
