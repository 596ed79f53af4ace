package gremlin

import (
	"context"

	"vigil/graph"
	"vigil/gremlin/internal/exec"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// report returns the result of a query with explain() or profile(). It returns
// nil for other queries.
func (p *Plan) report(ctx context.Context, g *graph.Graph, root *plan.Root, opts RunOptions) (*Result, error) {
	var text string
	switch root.Terminal {
	case "explain":
		text = p.Explain().String()
	case "profile":
		prof, err := p.Profile(ctx, g, opts)
		if err != nil {
			return nil, err
		}
		text = prof.String()
	default:
		return nil, nil
	}
	return &Result{Items: []Item{{Value: graph.String(text), Bulk: 1}}, Count: 1}, nil
}

// take converts the outcome of a run to the result that the terminal step asks for.
func take(terminal string, out *exec.Outcome) *Result {
	r := newResult(out)
	switch terminal {
	case "iterate":
		r.Items, r.Count = nil, 0
	case "hasNext":
		r.Items, r.Count = []Item{{Value: graph.Bool(out.Total > 0), Bulk: 1}}, 1
	case "toSet":
		var seen value.Keys
		items := r.Items[:0]
		for _, it := range r.Items {
			if _, fresh := seen.Put(it.Value); fresh {
				items = append(items, Item{Value: it.Value, Bulk: 1})
			}
		}
		r.Items, r.Count = items, int64(len(items))
	}
	return r
}
