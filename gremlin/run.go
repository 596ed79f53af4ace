package gremlin

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"
	"time"

	"vigil/graph"
	"vigil/gremlin/internal/exec"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// RunOptions are what a run is given besides the graph.
type RunOptions struct {
	// Budget bounds the run.
	Budget Budget
	// Params are the values of variables. Elements must be of the graph the
	// query runs on.
	Params map[string]graph.Value
	// SideEffects are first values of side effects, as of withSideEffect().
	SideEffects map[string]graph.Value
	// Now is what datetime() stands for; the zero Time is the time of the run.
	Now time.Time
	// OnLarge, if not nil, is called once when the query keeps more than
	// [Large] bytes or does much work, so that the caller can prepare for what
	// may follow.
	OnLarge func()
}

// Large is the memory, by account, from which on a query is worth the caller's
// attention: see RunOptions.OnLarge.
const Large = exec.Large

// Values that are no [graph.Value] of their own kind are opaque ones that carry
// one of these.
type (
	// Path is the way a traverser came, the result of path().
	Path = value.Path
	// Tree is the result of tree().
	Tree = value.Tree
	// BulkSet is what aggregate() collects.
	BulkSet = value.BulkSet
	// Subgraph is what subgraph() collects.
	Subgraph = value.Subgraph
	// Token is a constant such as T.id, as the key of a map.
	Token = value.Token
)

// An Item is one result and how often it occurs.
type Item = exec.Result

// A Result holds what a query found.
type Result struct {
	Items []Item // in order; equal ones that followed each other may be one
	Count int64  // number of results
	Work  int64  // traversers handled and edges touched
	Bytes int64  // memory that was kept at most, by account
	Held  int64  // memory of the results themselves, by account
}

// Values returns the results one by one.
func (r *Result) Values() iter.Seq[graph.Value] {
	return func(yield func(graph.Value) bool) {
		for _, it := range r.Items {
			for range it.Bulk {
				if !yield(it.Value) {
					return
				}
			}
		}
	}
}

// Run executes the plan on a graph. An error is a [*BudgetError], the error of
// the context, or says what in the query does not work on these values.
func (p *Plan) Run(ctx context.Context, g *graph.Graph, opts RunOptions) (*Result, error) {
	root, err := p.bound(opts)
	if err != nil {
		return nil, err
	}
	if res, err := p.report(ctx, g, root, opts); res != nil || err != nil {
		return res, err
	}
	out, err := runRoot(ctx, g, root, opts, exec.Options{})
	if err != nil {
		return nil, err
	}
	return take(root.Terminal, out), nil
}

func newResult(out *exec.Outcome) *Result {
	return &Result{Items: out.Results, Count: out.Total, Work: out.Work, Bytes: out.Peak, Held: out.Held}
}

// runRoot executes a bound plan. The fields of how that follow from opts are
// filled in.
func runRoot(ctx context.Context, g *graph.Graph, root *plan.Root, opts RunOptions, how exec.Options) (out *exec.Outcome, err error) {
	defer func() {
		// A mistake of the engine must not take the process down with the query.
		if p := recover(); p != nil {
			out, err = nil, &InternalError{Panic: p, Stack: debug.Stack()}
		}
	}()
	how.Limits, how.Side, how.OnLarge = opts.Budget.orDefaults().exec(), opts.SideEffects, opts.OnLarge
	if out, err = exec.Run(ctx, g, root, how); err != nil {
		return nil, budgetError(err)
	}
	return out, nil
}

// An InternalError is a mistake of the engine that a query brought to light.
type InternalError struct {
	Panic any
	Stack []byte
}

// Error says what went wrong, without the stack.
func (e *InternalError) Error() string { return fmt.Sprintf("the query engine failed: %v", e.Panic) }
