// Package queryfault converts the syntax errors of Gremlin queries and of the search
// language to details of a fault, with line, column and hint, so that an editor can mark
// the position. [Detail] is its only function.
package queryfault

import (
	"errors"

	"vigil/gremlin/syntax"
	"vigil/internal/fault"
	"vigil/internal/posture/search"
)

// Detail returns a detail about the member at path, which holds the query. The position
// and the hint come from err.
func Detail(path, message string, err error) fault.Detail {
	d := fault.Detail{Path: path, Message: message}
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		d.Line, d.Column, d.Hint = int(e.Span.Pos.Line), int(e.Span.Pos.Column), e.Hint
		if e.Span.End.Line == e.Span.Pos.Line {
			d.EndColumn = int(e.Span.End.Column)
		}
	}
	if e, ok := errors.AsType[*search.Error](err); ok {
		d.Line, d.Column = 1, e.Column
	}
	return d
}
