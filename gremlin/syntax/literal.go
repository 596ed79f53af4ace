package syntax

import (
	"encoding/hex"
	"math"
	"strings"
	"unicode/utf8"
)

const uuidName = "UUID"

// literal returns a literal node. Nodes are allocated in slabs that grow to 64: a
// within() of a thousand values costs about twenty allocations.
func (p *parser) literal(span Span, v any) *Literal {
	if len(p.slab) == 0 {
		p.slab = make([]Literal, min(4+p.literals, 64))
	}
	l := &p.slab[0]
	p.slab = p.slab[1:]
	l.Span, l.Value = span, v
	return l
}

// countValue counts a value against the limit. Keys of maps are counted. Keys of
// properties, labels and the numbers of limit() and similar steps are not.
func (p *parser) countValue(a Arg) *Error {
	switch a := a.(type) {
	case *Literal, *RuntimeValue, *Token:
		p.literals++
	case *Range:
		n, _ := a.size()
		p.literals += n
	}
	if p.literals > p.limits.Literals {
		return limitError(LimitLiterals, p.limits.Literals, a.Bounds(), "the query has too many values")
	}
	return nil
}

// enterNesting increments the nesting depth of collections or predicates.
func (p *parser) enterNesting() *Error {
	p.inner++
	if p.inner > p.limits.Depth {
		return limitError(LimitDepth, p.limits.Depth, p.tok.Span, "values or predicates are nested too deeply")
	}
	return nil
}

// leaveNesting ends a level that enterNesting began.
func (p *parser) leaveNesting() { p.inner-- }

// scalarOrRange parses a string, a number, a constant, or from..to.
func (p *parser) scalarOrRange() (Arg, *Error) {
	from, err := p.scalar()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokRange {
		return from, nil
	}
	p.advance()
	if p.tok.kind != tokString && p.tok.kind != tokInteger {
		return nil, p.unexpectedToken("after ..", "the end of the range")
	}
	to, err := p.scalar()
	if err != nil {
		return nil, err
	}
	r := &Range{Span: Span{from.Pos, to.End}, From: from, To: to}
	if _, message := r.size(); message != "" {
		return nil, &Error{Kind: Malformed, Span: r.Span, Message: message}
	}
	return r, nil
}

// scalar parses a string, a number, a boolean or null.
func (p *parser) scalar() (*Literal, *Error) {
	t := p.advance()
	text := p.text(t)
	var v any
	var message string
	switch t.kind {
	case tokString:
		return p.stringLiteral(t)
	case tokInteger:
		v, message = integer(text)
	case tokFloat:
		v, message = float(text)
	default:
		v = constants[text]
	}
	if message != "" {
		return nil, &Error{Kind: Malformed, Span: t.Span, Message: message, Found: text}
	}
	return p.literal(t.Span, v), nil
}

// constants are the words that are values.
var constants = map[string]any{"true": true, "false": false, "null": nil, "NaN": math.NaN(), "Infinity": math.Inf(1)}

func (p *parser) stringLiteral(t token) (*Literal, *Error) {
	text := p.text(t)
	text = text[1 : len(text)-1]
	if t.escaped {
		unescaped, offset, message := unescape(text)
		if message != "" {
			return nil, &Error{Kind: Malformed, Span: p.inside(t, offset+1), Message: message}
		}
		text = unescaped
	}
	return p.literal(t.Span, text), nil
}

// inside returns the span of the escape (a backslash and one character) that starts n
// bytes into a token.
func (p *parser) inside(t token, n int) Span {
	l := lexer{src: p.lex.src, off: int(t.Pos.Offset), line: t.Pos.Line}
	l.lineStart = l.off - int(t.Pos.Column) + 1 // now l.pos() returns the column of the token
	l.skip(l.off + n)
	start := l.pos()
	_, size := utf8.DecodeRuneInString(l.src[l.off+1:]) // of the character after the backslash
	l.skip(min(l.off+1+size, int(t.End.Offset)))
	return Span{start, l.pos()}
}

// constructor parses datetime("..."), UUID("...") and their forms without an argument.
func (p *parser) constructor() (Arg, *Error) {
	name := p.advance()
	p.advance()
	date := p.text(name) != uuidName // datetime or DateTime
	if p.tok.kind == ')' {
		f := &RuntimeValue{Span: Span{name.Pos, p.advance().End}, Name: uuidName}
		if date {
			f.Name = "datetime"
		}
		return f, nil
	}
	if p.tok.kind != tokString {
		return nil, p.unexpectedToken(p.text(name)+"()", "a string")
	}
	l, err := p.scalar()
	if err != nil {
		return nil, err
	}
	text := l.Value.(string)
	ok := false
	if date {
		l.Value, ok = ParseTime(text)
	} else {
		l.Value, ok = ParseUUID(text)
	}
	switch {
	case !ok && date:
		return nil, &Error{Kind: Malformed, Span: l.Span, Message: "this is not a date", Expected: "one such as 2018-03-22T00:35:44Z"}
	case !ok:
		return nil, &Error{Kind: Malformed, Span: l.Span, Message: "this is not a UUID", Expected: "one such as f47af10b-58cc-4372-a567-0f02b2f3d479"}
	case p.tok.kind != ')':
		return nil, p.unexpectedToken(p.text(name)+"()", `")"`)
	}
	l.Span = Span{name.Pos, p.advance().End}
	return l, nil
}

// ParseUUID parses the usual form with hyphens, ignoring case.
func ParseUUID(s string) (u UUID, ok bool) {
	if len(s) != 36 || strings.Count(s, "-") != 4 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return u, false
	}
	_, err := hex.Decode(u[:], []byte(strings.ReplaceAll(s, "-", "")))
	return u, err == nil
}
