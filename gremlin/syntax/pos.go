package syntax

import "strconv"

// Pos is a position in a query text. Offset counts bytes from 0; Line and Column
// count from 1, columns in characters. The zero Pos means "unknown", as in a
// tree built by hand.
type Pos struct {
	Offset, Line, Column int32
}

// String formats p as "line 2, column 14".
func (p Pos) String() string {
	return "line " + strconv.Itoa(int(p.Line)) + ", column " + strconv.Itoa(int(p.Column))
}

// Span is the range of text of a node; End is exclusive.
type Span struct {
	Pos, End Pos
}

// Bounds returns the span itself; embedding Span makes a node an [Arg].
func (s Span) Bounds() Span { return s }
