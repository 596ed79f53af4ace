package collect

import (
	"context"

	"github.com/tidwall/gjson"

	"vigil/internal/posture/resource"
)

// A TracedCall is a call that was made and what came of it.
type TracedCall struct {
	Call    string // as the declaration has it
	Address string // with its templates filled in
	Region  string
	Input   []byte
	Pages   []gjson.Result
	Err     error
}

type traceKey struct{}

// WithTrace returns a context in which every call of declared types is passed to
// trace once it is answered. Calls are made by several goroutines.
func WithTrace(ctx context.Context, trace func(TracedCall)) context.Context {
	return context.WithValue(ctx, traceKey{}, trace)
}

// send makes a call through the transport.
func (r *Reader) send(ctx context.Context, q *resource.Request, address string, input []byte, page func(gjson.Result) error) error {
	trace, ok := ctx.Value(traceKey{}).(func(TracedCall))
	if !ok {
		return r.Transport.Pages(ctx, q, address, input, page)
	}
	made := TracedCall{Call: q.Call, Address: address, Region: r.Context.Region, Input: input}
	made.Err = r.Transport.Pages(ctx, q, address, input, func(answer gjson.Result) error {
		made.Pages = append(made.Pages, answer)
		return nil
	})
	trace(made)
	for _, answer := range made.Pages {
		if err := page(answer); err != nil {
			return err
		}
	}
	return made.Err
}
