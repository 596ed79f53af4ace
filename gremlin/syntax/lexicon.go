package syntax

import "slices"

// word holds all meanings of a name. The parser looks a name up once and selects
// a meaning that the grammar allows at the current token.
type word struct {
	step      *Signature      // as a step in a chain
	source    *Signature      // as a step between g and the first step
	predicate *predicateShape // as P or TextP
	tokens    []enumToken     // as a constant without its prefix
	keyword   bool            // with another meaning: see otherWords and enterEnums
}

// enumToken is one meaning of a word as a constant.
type enumToken struct {
	enum Enum
	name string // canonical
}

// lexicon maps every word of the language to its meanings.
type lexicon map[string]word

var words, steps = newLexicon()

// Steps returns the signature of every step, including rejected ones, source
// steps first. The caller must not change them.
func Steps() []*Signature { return steps }

// otherWords are reserved words that are not steps, predicates or constants.
var otherWords = []string{
	"g", "__", "P", "TextP", "IO", "new", "true", "false", "null", "NaN", "Infinity", "datetime", "DateTime", "UUID",
	"negate", "toString", "begin", "commit", "rollback",
	"ConnectedComponent", "PageRank", "PeerPressure", "ShortestPath",
}

func newLexicon() (lexicon, []*Signature) {
	words := make(lexicon, 400)
	var steps []*Signature
	for _, r := range sourceRows {
		s := newSignature(r)
		steps = append(steps, s)
		words.change(r.name, func(w *word) { w.source = s })
	}
	for _, r := range slices.Concat(mapRows, flatMapRows, filterRows, otherRows) {
		s := newSignature(r)
		steps = append(steps, s)
		words.change(r.name, func(w *word) { w.step = s })
	}
	for i := range predicateShapes {
		shape := &predicateShapes[i]
		words.change(shape.name, func(w *word) { w.predicate = shape })
	}
	for _, name := range otherWords {
		words.change(name, func(w *word) { w.keyword = true })
	}
	words.enterEnums()
	return words, steps
}

func newSignature(r row) *Signature {
	s := &Signature{
		Name: r.name, Category: r.category, Forms: parseForms(r.forms), Doc: r.doc,
		Start: slices.Contains(starters, r.name), Instead: replacements[r.name],
	}
	s.index()
	return s
}

func (l lexicon) change(name string, f func(*word)) {
	w := l[name]
	f(&w)
	l[name] = w
}

// enterEnums adds every spelling of every constant that may be used without its
// prefix. Constants of WithOptions always need their prefix.
func (l lexicon) enterEnums() {
	for e := NoEnum + 1; e < enumCount; e++ {
		l.change(e.String(), func(w *word) { w.keyword = true })
		if e == WithOptions {
			continue
		}
		for _, name := range e.Names() {
			for _, spelling := range spellings(e, name) {
				l.change(spelling, func(w *word) { w.tokens = append(w.tokens, enumToken{e, name}) })
			}
		}
	}
}

// isReserved reports whether the word has a meaning, so that it cannot be a variable name.
func (w *word) isReserved() bool {
	return w.keyword || w.step != nil || w.source != nil || w.predicate != nil || w.tokens != nil
}
