package collect

import (
	"context"
	"errors"
)

// Over reports whether an error ends a whole collector rather than one detail:
// the run was stopped, or nobody accepts the credential any more.
func Over(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrIdentity)
}
