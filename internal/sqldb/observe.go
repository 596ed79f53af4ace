package sqldb

import (
	"context"
	"iter"
)

// An Observer is told of every statement of the transactions of a context: its text and
// its arguments, those of the first execution if it is executed for many. It returns a
// function that is called at the end.
type Observer func(text string, args []any) (end func(error))

type observing struct{}

// WithObserver returns a context in which transactions tell o of their statements.
func WithObserver(ctx context.Context, o Observer) context.Context {
	return context.WithValue(ctx, observing{}, o)
}

// observe tells the observer of the transaction, if it has one.
func (tx *Tx) observe(text string, args []any) (end func(error)) {
	if o, ok := tx.ctx.Value(observing{}).(Observer); ok && o != nil {
		return o(text, args)
	}
	return func(error) {}
}

// observeEach is observe for a statement that is executed with each of args, which it
// returns. They can be iterated over once.
func (tx *Tx) observeEach(text string, args iter.Seq[[]any]) (iter.Seq[[]any], func(error)) {
	o, ok := tx.ctx.Value(observing{}).(Observer)
	if !ok || o == nil {
		return args, func(error) {}
	}
	var end func(error)
	return func(yield func([]any) bool) {
			for a := range args {
				if end == nil {
					end = o(text, a)
				}
				if !yield(a) {
					return
				}
			}
		}, func(err error) {
			if end != nil {
				end(err)
			}
		}
}
