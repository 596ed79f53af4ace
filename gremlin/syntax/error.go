package syntax

import (
	"strconv"
	"strings"
)

// ErrorKind is the kind of an [Error].
type ErrorKind uint8

// The kinds of error.
const (
	Malformed ErrorKind = iota // the text is not Gremlin
	Unknown                    // a step, predicate or constant that does not exist
	Misuse                     // a step with wrong arguments or at a wrong place
	Forbidden                  // a step that a read-only engine rejects
	Exceeded                   // a limit is exceeded; see Limit and Allowed
)

// An Error describes an error in a query text and its position.
type Error struct {
	Kind     ErrorKind
	Span     Span
	Message  string // description
	Expected string // description of the expected token; may be empty
	Found    string // description of the found token; may be empty
	Hint     string // suggestion, or empty
	Limit    string // name of the exceeded limit, or empty
	Allowed  int    // value of that limit

	src string
}

// Error returns the position, the message and the hint in one line.
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

// Excerpt returns the line with the error and marks its position:
//
//	g.V().otu()
//	      ^^^
//
// It is empty if the position is unknown.
func (e *Error) Excerpt() string {
	position := e.Span.Pos
	if position.Line == 0 || int(position.Offset) > len(e.src) {
		return ""
	}
	start := strings.LastIndexByte(e.src[:position.Offset], '\n') + 1
	line, _, _ := strings.Cut(e.src[start:], "\n")
	runes := []rune(strings.TrimRight(strings.ReplaceAll(line, "\t", " "), "\r"))
	column := min(int(position.Column)-1, len(runes))
	marks := 1
	if e.Span.End.Line == position.Line {
		marks = max(1, int(e.Span.End.Column-position.Column))
	}
	// A long line is truncated around the position.
	const before, after = 60, 80
	from, to := max(0, column-before), min(len(runes), column+after)
	marks = max(1, min(marks, to-column))
	return string(runes[from:to]) + "\n" + strings.Repeat(" ", column-from) + strings.Repeat("^", marks)
}

// limitError returns the error of a limit.
func limitError(limit string, allowed int, span Span, what string) *Error {
	return &Error{
		Kind: Exceeded, Span: span, Limit: limit, Allowed: allowed,
		Message: what + " (limit " + limit + " is " + strconv.Itoa(allowed) + ")",
	}
}
