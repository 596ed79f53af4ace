// Package value implements Gremlin's operations on graph values: arithmetic that
// widens before it overflows, conversion, text form, equality and order.
//
// Package graph defines values; this package defines what queries can do with
// them. It adds the kinds that exist only while a query runs (paths, trees, bulk
// sets, subgraphs, tokens), which are opaque values for package graph.
package value

import (
	"fmt"
	"strings"
)

// An Error is the error of an operation that its values do not support, such as
// adding a string to a number. The text is for the author of the query.
type Error struct{ Text string }

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// maxErrorText is the length of the longest text that an error repeats, in bytes: values and texts of
// queries can have many megabytes.
const maxErrorText = 1000

// Errorf returns an [Error]. Long texts among the arguments are shortened.
func Errorf(format string, args ...any) error {
	for i, a := range args {
		if text, ok := a.(string); ok && len(text) > maxErrorText {
			args[i] = strings.ToValidUTF8(text[:maxErrorText], "") + "…"
		}
	}
	return &Error{Text: fmt.Sprintf(format, args...)}
}
