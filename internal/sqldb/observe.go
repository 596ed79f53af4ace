package sqldb

import (
	"context"
	"iter"
	"strings"

	"vigil/internal/telemetry/tracing"
)

// An Observer is called with the text and the arguments of every statement in the
// transactions of a context. If [Tx.ExecEach] executes a statement repeatedly, the observer
// is called once, with the arguments of the first execution. The returned function is
// called at the end.
type Observer func(text string, args []any) (end func(error))

type observing struct{}

// WithObserver returns a context in which transactions call o for each of their statements.
func WithObserver(ctx context.Context, o Observer) context.Context {
	return context.WithValue(ctx, observing{}, o)
}

// observe calls the observer of the transaction, if it has one.
func (tx *Tx) observe(text string, args []any) (end func(error)) {
	if o := tx.observer(); o != nil {
		return o(text, args)
	}
	return func(error) {}
}

// observer returns the observer of the transaction: that of its context, one that
// records spans if the context has a trace, or nil.
func (tx *Tx) observer() Observer {
	if o, ok := tx.ctx.Value(observing{}).(Observer); ok && o != nil {
		return o
	}
	if !tracing.Recording(tx.ctx) {
		return nil
	}
	return func(text string, _ []any) func(error) {
		text = strings.Join(strings.Fields(text), " ")
		verb, _, _ := strings.Cut(text, " ")
		_, span := tracing.Start(tx.ctx, verb, "db.system.name", string(tx.db.dialect), "db.query.text", text[:min(len(text), maxTraced)])
		return span.End
	}
}

// maxTraced limits the text of a statement in a trace.
const maxTraced = 1000

// observeEach is observe for a statement that is executed with each of args. The caller
// must iterate over the returned arguments instead of args, and only once.
func (tx *Tx) observeEach(text string, args iter.Seq[[]any]) (iter.Seq[[]any], func(error)) {
	o := tx.observer()
	if o == nil {
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
			if end == nil && err != nil { // it failed before its first execution: it could not be prepared
				end = o(text, nil)
			}
			if end != nil {
				end(err)
			}
		}
}
