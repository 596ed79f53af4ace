package entitydb

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// A tokenizer computes the tokens of entities of one organisation from their
// documents. It caches the prefixes of attributes and the tokens of the current cell
// context, which most entities share.
type tokenizer struct {
	dialect       sqldb.Dialect
	org           posture.OrgID
	name          tokenPrefix
	word          tokenPrefix
	attributes    map[tokenName]attributeTokens
	cellContext   cellContext
	idPrefix      string  // of cellContext
	contextTokens []token // that all entities of cellContext have
	tokens        []token
	text          []byte
}

// attributeTokens makes the tokens of one property or tag.
type attributeTokens struct {
	tokenPrefix tokenPrefix
	has         token // of entities that have the attribute
}

type tokenName struct {
	kind byte
	name string
}

// maxAttributes bounds the cache: the number of tag names is unbounded.
const maxAttributes = 4096

func newTokenizer(d sqldb.Dialect, org posture.OrgID) *tokenizer {
	return &tokenizer{
		dialect: d, org: org, name: newTokenPrefix(nil, org, nameToken, ""), word: newTokenPrefix(nil, org, wordToken, ""),
		attributes: map[tokenName]attributeTokens{},
	}
}

// tokenize returns the tokens of an entity, sorted and without duplicates.
func (z *tokenizer) tokenize(doc []byte, h cellContext) ([]token, error) {
	if z.idPrefix == "" || h != z.cellContext {
		z.useContext(h)
	}
	z.tokens = append(z.tokens[:0], z.contextTokens...)
	if len(doc) == 0 || doc[0] != docVersion {
		return nil, errDamaged
	}
	r := docReader{rest: string(doc[1:])}
	id := r.relative(z.idPrefix)
	name := r.relative(id)
	z.value(z.name, name)
	z.nameWords(name)
	_ = r.text() // the XID
	z.properties(&r)
	for range r.count() {
		f := z.attributeTokens(tagToken, r.text())
		z.tokens = append(z.tokens, f.has)
		z.value(f.tokenPrefix, r.text())
	}
	if r.malformed {
		return nil, errDamaged
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

// The lengths of the prefixes of a word that are indexed, in characters. A word of one
// character is indexed too. Longer words are found by their first maxWordPrefix characters,
// and compared afterwards.
const (
	minWordPrefix = 2
	maxWordPrefix = 6
)

// nameWords adds the tokens of the prefixes of all words of a name.
func (z *tokenizer) nameWords(name string) {
	for word := range posture.NameWords(name) {
		z.text = appendFold(append(z.text[:0], z.word.text...), word)
		n := len(z.word.text) // end of the prefix in z.text
		for length := 1; n < len(z.text) && length <= maxWordPrefix; length++ {
			_, size := utf8.DecodeRune(z.text[n:])
			n += size
			if length >= minWordPrefix || n == len(z.text) {
				z.tokens = append(z.tokens, z.word.hash(z.text[:n]))
			}
		}
	}
}

// useContext computes what all entities of a cell have in common.
func (z *tokenizer) useContext(h cellContext) {
	z.cellContext, z.idPrefix = h, h.idPrefix()
	z.contextTokens = append(z.contextTokens[:0],
		newToken(z.org, everyToken, "", ""),
		newToken(z.org, accountToken, "", string(h.account)),
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
		f := z.attributeTokens(propertyToken, name)
		if i == 0 || name != last { // properties are sorted by name
			z.tokens = append(z.tokens, f.has)
		}
		last = name
		if p.Type == posture.StringProperty {
			z.value(f.tokenPrefix, p.String)
		} else {
			z.add(f.tokenPrefix, p.Plain())
		}
	}
}

// value adds the token of a value. PostgreSQL also gets a token of the value with its case
// preserved, if folding changes the value. It counts by tokens, so two entities must have
// equal tokens of an attribute only if they have equal values.
func (z *tokenizer) value(s tokenPrefix, value string) {
	z.add(s, value)
	if z.dialect == sqldb.Postgres && value != posture.Fold(value) {
		z.text = append(append(z.text[:0], s.text...), value...)
		z.tokens = append(z.tokens, s.hash(z.text))
	}
}

// add adds the token of the value with its case folded.
func (z *tokenizer) add(s tokenPrefix, value string) {
	z.text = appendFold(append(z.text[:0], s.text...), value)
	z.tokens = append(z.tokens, s.hash(z.text))
}

// attributeTokens returns the token prefix of a property or tag.
func (z *tokenizer) attributeTokens(kind byte, name string) attributeTokens {
	f, ok := z.attributes[tokenName{kind, name}]
	if !ok {
		if len(z.attributes) >= maxAttributes {
			clear(z.attributes)
		}
		has := hasToken
		if kind == tagToken {
			has = hasTagToken
		}
		f = attributeTokens{newTokenPrefix(nil, z.org, kind, name), newToken(z.org, has, name, "")}
		z.attributes[tokenName{kind, strings.Clone(name)}] = f // do not keep the whole document in memory
	}
	return f
}

// appendFold appends [posture.Fold] of a text without allocating for ASCII.
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

// numbersOf returns tokens as a BIGINT array for PostgreSQL.
func numbersOf(tokens []token) []int64 {
	all := make([]int64, len(tokens))
	for i, t := range tokens {
		all[i] = int64(t)
	}
	return all
}

// ftsText returns tokens as the text that FTS5 indexes.
func ftsText(tokens []token) string {
	b := make([]byte, 0, len(tokens)*(wordBytes+1))
	for _, t := range tokens {
		b = append(t.appendWord(b), ' ')
	}
	return string(b)
}

// differ returns the elements that only one of two sorted lists has.
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
