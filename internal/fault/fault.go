// Package fault defines the one error type that crosses package boundaries.
//
// A fault has a kind and a message for the caller. Packages at the boundary of
// the program convert the kind to an HTTP status or an exit code.
package fault

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind is a class of failures, sufficient for a caller to decide how to react.
type Kind uint8

// The kinds. Internal is the zero value, so that an unclassified error never
// counts as the caller's mistake.
const (
	Internal        Kind = iota // a bug, or an unexpected failure of a dependency
	Invalid                     // the request is not valid
	Unauthenticated             // the caller is not authenticated
	Forbidden                   // the caller is not authorised
	NotFound                    // the object does not exist, or is not visible to the caller
	Conflict                    // the object already exists or is in use
	Stale                       // the caller's version of the object is outdated
	VersionRequired             // the caller must name the version to change
	TooLarge                    // the request exceeds a size limit
	TooSlow                     // the request did not arrive in time
	Limited                     // the caller exceeded a limit
	Unavailable                 // temporarily unavailable
)

// ErrOutcomeUnknown is in the chain of an error after which a change may or may
// not have been made: the database connection was lost during the commit.
var ErrOutcomeUnknown = errors.New("it is not known whether the change was made")

// A Detail is an error of one member of the input.
type Detail struct {
	Path    string // path of the member, such as "properties[0].stringV"
	Message string

	// Position in the member's text, if it is a query: lines and columns count from
	// 1, and 0 means unknown.
	Line, Column, EndColumn int
	Hint                    string // suggested correction; may be empty
}

// Error is a classified failure.
type Error struct {
	Kind    Kind
	Message string        // safe to show to the caller
	Details []Detail      // the invalid members of the input
	After   time.Duration // for Limited and Unavailable: when to retry
	Err     error         // cause; for logs only, not shown
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

// Wrap returns an error of the given kind with a cause that is logged but not
// shown.
func Wrap(k Kind, cause error, format string, args ...any) error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...), Err: cause}
}

// Field returns an error about one member of the input. The message follows the
// member's name: "must be a string".
func Field(path, format string, args ...any) error {
	return Fields(Detail{Path: path, Message: fmt.Sprintf(format, args...)})
}

// Fields returns an error about several members of the input.
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

// Details returns the invalid members in err, if any.
func Details(err error) []Detail {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Details
	}
	return nil
}
