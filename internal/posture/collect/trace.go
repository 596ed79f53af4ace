package collect

import (
	"context"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/resource"
)

// A TracedCall is a call and its result.
type TracedCall struct {
	Call    string // as declared
	Address string // with its templates filled in
	Region  string
	Input   []byte
	Pages   []gjson.Result
	Err     error
}

type traceKey struct{}

// WithTrace returns a context in which trace is called after every call of
// declared types, by several goroutines.
func WithTrace(ctx context.Context, trace func(TracedCall)) context.Context {
	return context.WithValue(ctx, traceKey{}, trace)
}

// send makes a call through the transport and traces it.
func (r *Reader) send(ctx context.Context, q *resource.Request, address string, input []byte, page func(gjson.Result) error) error {
	trace, ok := ctx.Value(traceKey{}).(func(TracedCall))
	if !ok {
		return r.Transport.Pages(ctx, q, address, input, page)
	}
	traced := TracedCall{Call: q.Call, Address: address, Region: r.Context.Region, Input: input}
	traced.Err = r.Transport.Pages(ctx, q, address, input, func(answer gjson.Result) error {
		traced.Pages = append(traced.Pages, answer)
		return nil
	})
	trace(traced)
	for _, answer := range traced.Pages {
		if err := page(answer); err != nil {
			return err
		}
	}
	return traced.Err
}
