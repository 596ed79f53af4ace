package search

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A kind is a kind of token.
type kind uint8

const (
	end        kind = iota
	bare            // a word
	quoted          // a text in quotes
	quotedName      // property."a name" or tag.'a name'
	open            // (
	shut            // )
	equal           // =
	unequal         // !=
)

// A token is a piece of text with a meaning.
type token struct {
	kind   kind
	text   string
	column int
}

// String shows a token in messages.
func (t token) String() string {
	if t.kind == end {
		return "the end"
	}
	return fmt.Sprintf("%q", t.text)
}

// A scanner cuts a text into tokens.
type scanner struct {
	text     string
	position int // in bytes
	column   int // in characters
	tokens   []token
}

// scan returns the tokens of a text, the last of which is its end.
func scan(text string) ([]token, error) {
	s := &scanner{text: text, column: 1}
	for {
		s.skipSpace()
		column := s.column
		c := s.rune()
		switch {
		case c < 0:
			s.add(end, "", column)
			return s.tokens, nil
		case c == '(':
			s.mark(open, "(", column)
		case c == ')':
			s.mark(shut, ")", column)
		case c == '=':
			s.mark(equal, "=", column)
		case strings.HasPrefix(s.text[s.position:], "!="):
			s.mark(unequal, "!=", column)
		case c == '!':
			return nil, &Error{column, "a single ! means nothing; write != or NOT"}
		case c == '"', c == '\'':
			text, err := s.quotes()
			if err != nil {
				return nil, err
			}
			s.add(quoted, text, column)
		default:
			if err := s.word(column); err != nil {
				return nil, err
			}
		}
	}
}

func (s *scanner) add(k kind, text string, column int) {
	s.tokens = append(s.tokens, token{k, text, column})
}

// mark adds a token for the given text, which is at the current position, and
// advances past it.
func (s *scanner) mark(k kind, text string, column int) {
	s.add(k, text, column)
	s.position += len(text)
	s.column += len(text)
}

// rune returns the next character, or -1 at the end.
func (s *scanner) rune() rune {
	if s.position >= len(s.text) {
		return -1
	}
	c, _ := utf8.DecodeRuneInString(s.text[s.position:])
	return c
}

// step moves over one character.
func (s *scanner) step() {
	_, n := utf8.DecodeRuneInString(s.text[s.position:])
	s.position += n
	s.column++
}

func (s *scanner) skipSpace() {
	for unicode.IsSpace(s.rune()) {
		s.step()
	}
}

// endsWord reports whether a character cannot be part of a bare word.
func endsWord(c rune) bool {
	return c < 0 || unicode.IsSpace(c) || strings.ContainsRune(`()="'`, c)
}

// word adds a bare word, or a name whose second half stands in quotes.
func (s *scanner) word(column int) error {
	from := s.position
	for !endsWord(s.rune()) && !strings.HasPrefix(s.text[s.position:], "!=") {
		s.step()
	}
	text := s.text[from:s.position]
	if c := s.rune(); (c == '"' || c == '\'') && strings.HasSuffix(text, ".") {
		name, err := s.quotes()
		if err != nil {
			return err
		}
		s.add(quotedName, text+name, column)
		return nil
	}
	s.add(bare, text, column)
	return nil
}

// quotes reads a text in quotes. A backslash escapes the character after it, such as a
// quote.
func (s *scanner) quotes() (string, error) {
	column, quote := s.column, s.rune()
	s.step()
	var b strings.Builder
	for {
		c := s.rune()
		if c < 0 {
			return "", &Error{column, "the quote is not closed"}
		}
		from := s.position
		s.step()
		if c == quote {
			return b.String(), nil
		}
		if c == '\\' {
			from = s.position
			if s.rune() >= 0 {
				s.step()
			}
		}
		b.WriteString(s.text[from:s.position])
	}
}
