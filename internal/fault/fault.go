// Package fault defines the one error type that crosses package boundaries.
//
// A fault says what kind of thing went wrong, in words fit for the caller. How
// a kind is shown to the outside world (an HTTP status, an exit code) is the
// business of the package that does the showing.
package fault

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind is a coarse class of failure, enough for a caller to decide what to do.
type Kind uint8

// The kinds. Internal is the zero value so that an error nobody classified is
// never mistaken for the client's mistake.
const (
	Internal        Kind = iota // a bug, or a dependency that misbehaved
	Invalid                     // the request makes no sense as it stands
	Unauthenticated             // we do not know who is asking
	Forbidden                   // we know, and they may not
	NotFound                    // no such thing, or none the caller may see
	Conflict                    // the thing is already there, or in use
	Stale                       // the caller's version of the thing is not the current one
	VersionRequired             // the caller must say which version it means to change
	TooLarge                    // the request is bigger than we read
	TooSlow                     // the request did not arrive in time
	Limited                     // the caller asks too often
	Unavailable                 // we cannot answer now, and may be able to later
)

// ErrOutcomeUnknown is in the chain of an error after which a change may have
// been made or not: the database was lost while it committed.
var ErrOutcomeUnknown = errors.New("it is not known whether the change was made")

// A Detail blames one member of the input, by its path: "properties[0].stringV".
type Detail struct {
	Path    string
	Message string

	// Where in the member's text, for one that is a query: lines and columns count
	// from 1, and 0 stands for unknown.
	Line, Column, EndColumn int
	Hint                    string // what was perhaps meant; may be empty
}

// Error is a classified failure.
type Error struct {
	Kind    Kind
	Message string        // safe to show to the caller
	Details []Detail      // the offending members, where the input is to blame
	After   time.Duration // for Limited and Unavailable: when to try again
	Err     error         // cause; for logs only, never shown
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error of the given kind.
func New(k Kind, format string, args ...any) error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...)}
}

// Wrap returns an error of the given kind with a cause that is logged and never
// shown.
func Wrap(k Kind, cause error, format string, args ...any) error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...), Err: cause}
}

// Field reports that one member of the input is wrong. The message is written
// to follow the member's name: "must be a string".
func Field(path, format string, args ...any) error {
	return Fields(Detail{Path: path, Message: fmt.Sprintf(format, args...)})
}

// Fields reports that several members of the input are wrong.
func Fields(details ...Detail) error {
	parts := make([]string, len(details))
	for i, d := range details {
		parts[i] = d.Path + " " + d.Message
	}
	return &Error{Kind: Invalid, Message: strings.Join(parts, "; "), Details: details}
}

// KindOf returns the kind of the nearest fault in err's chain, or Internal.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// Is reports whether err is a fault of the given kind.
func Is(err error, k Kind) bool { return err != nil && KindOf(err) == k }

// Details returns the offending members that err names, if any.
func Details(err error) []Detail {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Details
	}
	return nil
}
