// Package refusal classifies the errors of messages that fail verification.
//
// The sender gets a generic error, because details would help an attacker. The reason
// is for metrics and the log.
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
	Unsigned    Reason = "unsigned"    // no signature, token or secret
	Malformed   Reason = "malformed"   // no known format
	Unknown     Reason = "unknown"     // no stream has this topic, subscription or secret
	Signature   Reason = "signature"   // the signature is wrong
	Certificate Reason = "certificate" // the signing certificate is not one of the cloud's
	Claims      Reason = "claims"      // wrong issuer, audience or service account
	Stale       Reason = "stale"       // too old, or from the future
	Foreign     Reason = "foreign"     // about another account than its stream's
)

// New returns a refusal.
func New(r Reason, format string, args ...any) error {
	cause := &refused{r, fmt.Errorf(format, args...)}
	switch r {
	case Unsigned:
		return fault.Wrap(fault.Unauthenticated, cause, "the message is not signed")
	case Malformed:
		return fault.Wrap(fault.Invalid, cause, "the message has an unknown format")
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
