package syntax

import (
	"strconv"
	"strings"
)

// ErrorKind says what sort of mistake an [Error] is.
type ErrorKind uint8

// The kinds of error.
const (
	Malformed ErrorKind = iota // the text is not Gremlin
	Unknown                    // a step, predicate or constant that does not exist
	Misuse                     // a step that is called with the wrong arguments or at the wrong place
	Forbidden                  // a step that a read-only engine refuses
	Exceeded                   // a limit is exceeded; Limit and Allowed say which
)

// An Error says what is wrong with a query text and where.
type Error struct {
	Kind     ErrorKind
	Span     Span
	Message  string // what is wrong, in words
	Expected string // what could have stood there, or empty
	Found    string // what stood there, or empty
	Hint     string // what was perhaps meant, or empty
	Limit    string // name of the exceeded limit, or empty
	Allowed  int    // its value

	src string
}

// Error writes the place, what is wrong and the hint in one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Span.Pos.Line > 0 {
		b.WriteString(e.Span.Pos.String())
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	if e.Expected != "" {
		b.WriteString(": expected ")
		b.WriteString(e.Expected)
		if e.Found != "" {
			b.WriteString(", found ")
			b.WriteString(e.Found)
		}
	}
	if e.Hint != "" {
		b.WriteString("; ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// Excerpt shows the line of the mistake with a mark under it:
//
//	g.V().otu()
//	      ^^^
//
// It is empty if the place is not known.
func (e *Error) Excerpt() string {
	at := int(e.Span.Pos.Offset)
	if e.Span.Pos.Line == 0 || at > len(e.src) {
		return ""
	}
	start := strings.LastIndexByte(e.src[:at], '\n') + 1
	line := e.src[start:]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	marks := 1
	if e.Span.End.Line == e.Span.Pos.Line && e.Span.End.Column > e.Span.Pos.Column {
		marks = int(e.Span.End.Column - e.Span.Pos.Column)
	}
	// Long lines are cut around the place, at character boundaries.
	runes := []rune(strings.TrimRight(line, "\r"))
	column := min(int(e.Span.Pos.Column)-1, len(runes))
	const before, after = 60, 40
	from := max(0, column-before)
	to := min(len(runes), column+max(min(marks, after), 1)+after)
	shown := make([]rune, 0, to-from)
	pad := make([]rune, 0, column-from)
	for i, r := range runes[from:to] {
		if r == '\t' {
			r = ' '
		}
		shown = append(shown, r)
		if from+i < column {
			pad = append(pad, ' ')
		}
	}
	marks = max(1, min(marks, to-column))
	return string(shown) + "\n" + string(pad) + strings.Repeat("^", marks)
}

// exceeded is the error of a limit.
func exceeded(limit string, allowed int, at Span, what string) *Error {
	return &Error{
		Kind: Exceeded, Span: at, Limit: limit, Allowed: allowed,
		Message: what + " (limit " + limit + " is " + strconv.Itoa(allowed) + ")",
	}
}
