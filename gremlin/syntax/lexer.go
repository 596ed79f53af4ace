package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is the kind of a lexical token. Punctuation is its own character.
type tokenKind byte

const (
	tokEOF     tokenKind = 0
	tokWord    tokenKind = 'a'
	tokInteger tokenKind = '1'
	tokFloat   tokenKind = '2'
	tokString  tokenKind = '"'
	tokRange   tokenKind = 'r' // ..
	tokBad     tokenKind = 'x' // invalid; see message
)

// token is one lexical token. Its text is the part of the source in its span.
type token struct {
	Span
	kind    tokenKind
	escaped bool   // a string with a backslash
	message string // error message of tokBad
}

// lexer is the tokenizer. It is small and has no pointers except the text, so
// that copying it is a cheap way to look ahead.
type lexer struct {
	src       string
	off       int
	line      int32
	lineStart int // offset of the line's first byte
	wide      int // number of UTF-8 continuation bytes between lineStart and off
}

func newLexer(src string) lexer { return lexer{src: src, line: 1} }

// pos returns the current position.
func (l *lexer) pos() Pos {
	return Pos{Offset: int32(l.off), Line: l.line, Column: int32(l.off - l.lineStart - l.wide + 1)}
}

// peek returns the byte at offset i from the current position, 0 past the end.
func (l *lexer) peek(i int) byte {
	if l.off+i < len(l.src) {
		return l.src[l.off+i]
	}
	return 0
}

// next returns the next token.
func (l *lexer) next() token {
	if bad := l.space(); bad.kind == tokBad {
		return bad
	}
	t := token{Span: Span{Pos: l.pos()}}
	if l.off >= len(l.src) {
		t.End = t.Pos
		return t
	}
	c := l.src[l.off]
	switch {
	case isDigit(c), c == '.' && isDigit(l.peek(1)), (c == '+' || c == '-') && l.isNumberSign():
		t.kind, t.message = l.number()
	case isLetter(c) || c >= utf8.RuneSelf && l.isWideLetter():
		t.kind = tokWord
		l.word()
	case c == '"' || c == '\'':
		t.kind, t.escaped, t.message = l.quoted(c)
	case c == '.' && l.peek(1) == '.':
		t.kind = tokRange
		l.off += 2
	case strings.IndexByte("(){}[],.:;", c) >= 0:
		t.kind = tokenKind(c)
		l.off++
	default:
		t.kind, t.message = l.stray()
	}
	t.End = l.pos()
	return t
}

// stray skips a character that cannot start a token.
func (l *lexer) stray() (tokenKind, string) {
	r, n := utf8.DecodeRuneInString(l.src[l.off:])
	l.off += n
	l.wide += n - 1
	switch {
	case r == utf8.RuneError && n == 1:
		return tokBad, "the text is not valid UTF-8"
	case r == '-' && l.peek(0) == '>':
		l.off++
		return tokBad, noLambda
	}
	return tokBad, "unexpected character " + quoteRune(r)
}

// space skips white space and comments. It returns a token of kind tokBad for an
// unterminated comment.
func (l *lexer) space() token {
	for l.off < len(l.src) {
		switch c := l.src[l.off]; {
		case c == '\n':
			l.off++
			l.startLine(l.off)
		case c == ' ' || c == '\t' || c == '\r' || c == '\f':
			l.off++
		case c == '/' && l.peek(1) == '/':
			end := strings.IndexByte(l.src[l.off:], '\n')
			if end < 0 {
				end = len(l.src) - l.off
			}
			l.skip(l.off + end) // the newline itself is not part of the comment
		case c == '/' && l.peek(1) == '*':
			start := l.pos()
			if !l.skipComment() {
				return token{Span: Span{start, start}, kind: tokBad, message: "a comment that is not closed by */"}
			}
		default:
			return token{}
		}
	}
	return token{}
}

// skipComment skips /* ... */ and reports whether it is closed.
func (l *lexer) skipComment() bool {
	end := strings.Index(l.src[l.off+2:], "*/")
	if end < 0 {
		l.off = len(l.src)
		return false
	}
	l.skip(l.off + 2 + end + 2)
	return true
}

// skip advances to offset end and updates the line and column.
func (l *lexer) skip(end int) {
	for ; l.off < end; l.off++ {
		switch c := l.src[l.off]; {
		case c == '\n':
			l.startLine(l.off + 1)
		case !utf8.RuneStart(c):
			l.wide++
		}
	}
}

// startLine records that a line starts at an offset.
func (l *lexer) startLine(offset int) {
	l.line++
	l.lineStart, l.wide = offset, 0
}

// word skips a name whose first character has been checked.
func (l *lexer) word() {
	for l.off < len(l.src) {
		c := l.src[l.off]
		if isLetter(c) || isDigit(c) {
			l.off++
			continue
		}
		if c < utf8.RuneSelf {
			return
		}
		r, n := utf8.DecodeRuneInString(l.src[l.off:])
		if !isWordRune(r) {
			return
		}
		l.off += n
		l.wide += n - 1
	}
}

// quoted skips a string in quotes of kind q, which may contain newlines.
func (l *lexer) quoted(q byte) (kind tokenKind, escaped bool, message string) {
	start := l.off
	i := start + 1
	for ; i < len(l.src) && l.src[i] != q; i++ {
		if l.src[i] == '\\' {
			escaped = true
			i++
		}
	}
	if i >= len(l.src) {
		l.off++ // continue after the quote, so that the error is at the quote
		return tokBad, false, "a string that is not closed by " + string(q)
	}
	l.skip(i + 1)
	if !utf8.ValidString(l.src[start:l.off]) {
		return tokBad, false, "a string that is not valid UTF-8"
	}
	return tokString, escaped, ""
}

// isWideLetter reports whether the current character, which is not ASCII, can
// start a name.
func (l *lexer) isWideLetter() bool {
	r, _ := utf8.DecodeRuneInString(l.src[l.off:])
	return isWordRune(r) && !unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd)
}

// isWordRune reports whether a non-ASCII character may occur in a name.
func isWordRune(r rune) bool {
	return r != utf8.RuneError &&
		(unicode.IsLetter(r) || unicode.In(r, unicode.Nl, unicode.Nd, unicode.Sc, unicode.Pc, unicode.Mn, unicode.Mc))
}

func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '$'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
