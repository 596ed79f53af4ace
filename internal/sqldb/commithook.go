package sqldb

import "context"

type commitHookKey struct{}

// WithCommitHook returns a context under which every write transaction calls hook after
// its function has succeeded and before it commits. What hook writes is committed
// together with the change. If hook fails, the write fails. Hooks that the context
// already has are called first.
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

// runHook calls the commit hook of the transaction's context, if any.
func (tx *Tx) runHook() error {
	hook, ok := tx.ctx.Value(commitHookKey{}).(func(*Tx) error)
	if !ok {
		return nil
	}
	return hook(tx)
}

// WithoutCommitHook returns a context whose writes call no hook. It is for writes that
// are not the user's change itself, such as counters and keys that are created on first
// use.
func WithoutCommitHook(ctx context.Context) context.Context {
	if ctx.Value(commitHookKey{}) == nil {
		return ctx
	}
	return context.WithValue(ctx, commitHookKey{}, nil)
}
