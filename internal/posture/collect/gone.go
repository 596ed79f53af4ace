package collect

import (
	"context"
	"sync/atomic"
)

type goneKey struct{}

// withGone returns a context in which readers add to n the resources that were listed but
// no longer exist when their details are read.
func withGone(ctx context.Context, n *atomic.Int64) context.Context {
	return context.WithValue(ctx, goneKey{}, n)
}

// countGone counts a resource that no longer exists.
func countGone(ctx context.Context) {
	if n, ok := ctx.Value(goneKey{}).(*atomic.Int64); ok {
		n.Add(1)
	}
}
