package sqldb

import "context"

type commitHookKey struct{}

// WithCommitHook returns a context under which every write transaction calls
// hook once its function has succeeded, before it commits: what hook writes is
// committed with the change or not at all. If hook fails, so does the write. A
// hook that the context has already is called first.
func WithCommitHook(ctx context.Context, hook func(tx *Tx) error) context.Context {
	if first, ok := ctx.Value(commitHookKey{}).(func(*Tx) error); ok {
		second := hook
		hook = func(tx *Tx) error {
			if err := first(tx); err != nil {
				return err
			}
			return second(tx)
		}
	}
	return context.WithValue(ctx, commitHookKey{}, hook)
}

// runHook calls the hook of the context that a write began with.
func (tx *Tx) runHook() error {
	hook, ok := tx.ctx.Value(commitHookKey{}).(func(*Tx) error)
	if !ok {
		return nil
	}
	return hook(tx)
}

// WithoutCommitHook returns a context whose writes call no hook. It is for what
// is written on the way to a change and is not the change itself: counters,
// keys that are made when they are first needed.
func WithoutCommitHook(ctx context.Context) context.Context {
	if ctx.Value(commitHookKey{}) == nil {
		return ctx
	}
	return context.WithValue(ctx, commitHookKey{}, nil)
}
