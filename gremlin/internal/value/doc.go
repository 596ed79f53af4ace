// Package value gives graph values the behaviour Gremlin asks for: arithmetic
// that widens before it overflows, conversion, text form, equality and order.
//
// Package graph knows what a value is; this package knows what a query may do
// with it. It adds the kinds that exist only while a query runs (paths, trees,
// bulk sets, subgraphs, tokens), carried as opaque values.
package value

import "fmt"

// An Error says that a query did something its values do not allow, such as
// adding a string to a number. The text is meant for the author of the query.
type Error struct{ Text string }

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// Errorf makes an [Error].
func Errorf(format string, args ...any) error {
	return &Error{Text: fmt.Sprintf(format, args...)}
}
