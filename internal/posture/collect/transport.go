package collect

import (
	"context"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/resource"
)

// A Transport makes the calls of one cloud account, in one region where the cloud
// has regions. It signs them, keeps the pace, tries again what may work the next
// time, and is safe for concurrent use.
type Transport interface {
	// Pages makes a call and passes on every page of its answer. The address is the
	// call of the request with its templates filled in. Failures are of the kinds of
	// this package: ErrDenied, ErrGone, ErrOff and so on. It returns the error of
	// page as it is.
	Pages(ctx context.Context, r *resource.Request, address string, input []byte, page func(gjson.Result) error) error
}

// A coder is an error that carries the cloud's own code: NoSuchBucket.
type coder interface {
	error
	ErrorCode() string
}
