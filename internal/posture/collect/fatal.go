package collect

import (
	"context"
	"errors"
)

// IsFatal reports whether an error ends a whole unit and not just one detail:
// the run has ended, or the credential is no longer accepted.
func IsFatal(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrIdentity)
}
