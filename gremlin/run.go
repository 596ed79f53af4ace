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

// RunOptions are the options of a run.
type RunOptions struct {
	// Budget limits the run.
	Budget Budget
	// Params are the values of variables. Elements must belong to the graph on which the
	// query runs.
	Params map[string]graph.Value
	// SideEffects are initial values of side effects, like those of withSideEffect().
	SideEffects map[string]graph.Value
	// From, if not nil, limits a Verdict to these vertices. It must not contain duplicates, and
	// the plan must have a [Plan.Reach].
	From []graph.Handle
	// Now is the value of datetime(); the zero Time means the current time.
	Now time.Time
	// OnLarge, if not nil, is called once when the query reserves more than [Large] bytes or
	// does much work.
	OnLarge func()
}

// Large is the reserved memory at which RunOptions.OnLarge is called.
const Large = exec.Large

// Types of the contents of opaque values in results.
type (
	// Path is the history of a traverser, the result of path().
	Path = value.Path
	// Tree is the result of tree().
	Tree = value.Tree
	// BulkSet is the collection of aggregate().
	BulkSet = value.BulkSet
	// Subgraph is the collection of subgraph().
	Subgraph = value.Subgraph
	// Token is a constant such as T.id, as a map key.
	Token = value.Token
)

// An Item is one result and its multiplicity.
type Item = exec.Result

// A Result holds the results of a query.
type Result struct {
	Items []Item // in order; consecutive equal results may be merged
	Count int64  // number of results
	Work  int64  // traversers processed and edges visited
	Bytes int64  // peak of reserved memory
	Held  int64  // reserved memory of the results
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

// Run executes the plan on a graph. It fails with a [*BudgetError], with the
// error of the context, or with an error that says which operation of the query
// does not support its values.
func (p *Plan) Run(ctx context.Context, g *graph.Graph, opts RunOptions) (*Result, error) {
	root, err := p.bound(opts)
	if err != nil {
		return nil, err
	}
	// A query that ends in explain() or profile() has a report as its result.
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

// runRoot executes a bound plan. It sets the fields of execOpts that follow from opts.
func runRoot(ctx context.Context, g *graph.Graph, root *plan.Root, opts RunOptions, execOpts exec.Options) (out *exec.Outcome, err error) {
	defer func() {
		// A bug of the engine must not end the process.
		if p := recover(); p != nil {
			out, err = nil, &InternalError{Panic: p, Stack: debug.Stack()}
		}
	}()
	execOpts.Limits, execOpts.Side, execOpts.OnLarge = opts.Budget.orDefaults().exec(), opts.SideEffects, opts.OnLarge
	if out, err = exec.Run(ctx, g, root, execOpts); err != nil {
		return nil, budgetError(err)
	}
	return out, nil
}

// An InternalError is a bug of the engine: a panic during a query.
type InternalError struct {
	Panic any
	Stack []byte
}

// Error returns a message without the stack.
func (e *InternalError) Error() string { return fmt.Sprintf("the query engine failed: %v", e.Panic) }
