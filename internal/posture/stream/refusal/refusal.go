// Package refusal says why a message of an event stream was not believed.
//
// The sender learns only that it was not: what exactly is wrong with a forgery
// helps nobody but its maker. The reason is for metrics and the log.
package refusal

import (
	"errors"
	"fmt"

	"vigil/internal/fault"
)

// A Reason is a class of refusals, short enough for a metric's label.
type Reason string

// The reasons.
const (
	Unsigned    Reason = "unsigned"    // nothing says who sent it
	Malformed   Reason = "malformed"   // it has no form that we know
	Unknown     Reason = "unknown"     // no stream has this topic, subscription or secret
	Signature   Reason = "signature"   // it was not signed by who it says
	Certificate Reason = "certificate" // the signer's key is not one of the cloud's
	Claims      Reason = "claims"      // it was signed for somebody else, or by somebody else
	Stale       Reason = "stale"       // it is too old, or from the future
	Foreign     Reason = "foreign"     // it is about another account than its stream's
)

// New returns a refusal.
func New(r Reason, format string, args ...any) error {
	cause := &refused{r, fmt.Errorf(format, args...)}
	switch r {
	case Unsigned:
		return fault.Wrap(fault.Unauthenticated, cause, "the message is not signed")
	case Malformed:
		return fault.Wrap(fault.Invalid, cause, "the message has no form that is known here")
	}
	return fault.Wrap(fault.Forbidden, cause, "the message is not verified")
}

// ReasonOf returns why an error refuses a message, or "" when it does not.
func ReasonOf(err error) Reason {
	if r, ok := errors.AsType[*refused](err); ok {
		return r.reason
	}
	return ""
}

type refused struct {
	reason Reason
	err    error
}

func (r *refused) Error() string { return string(r.reason) + ": " + r.err.Error() }
func (r *refused) Unwrap() error { return r.err }
