package collect

import (
	"context"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/resource"
)

// A Transport makes the calls of one cloud account, in one region if the cloud
// has regions. It authenticates calls, waits for the rate limiter and retries.
// It is safe for concurrent use.
type Transport interface {
	// Pages makes a call and calls page for every page of its response. The address is
	// the result of r.Address: the template in r.Call or r.Path, filled in. Errors are
	// those of this package: ErrDenied, ErrGone, ErrOff and so on. An error of page is
	// returned unchanged.
	Pages(ctx context.Context, r *resource.Request, address string, input []byte, page func(gjson.Result) error) error
}

// A coder is an error that carries the cloud's own code: NoSuchBucket.
type coder interface {
	error
	ErrorCode() string
}
