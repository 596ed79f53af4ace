package main

import (
	"context"
	"time"

	"vigil/graph"
	"vigil/gremlin"
	"vigil/gremlin/conformance/internal/suite"
)

// budget is wide: scenarios show what the language means, not what it may cost.
// It only keeps a mistake of the engine from running on for ever.
var budget = gremlin.Budget{
	Repeat: -1, Traversers: 1_000_000_000, Live: -1, Memory: 2 << 30, PathLength: -1, Results: 10_000_000, Time: 10 * time.Minute,
}

// engine returns the engine under test.
func engine() suite.Engine {
	return func(ctx context.Context, q suite.Query) ([]graph.Value, error) {
		plan, err := gremlin.Compile(q.Text, gremlin.CompileOptions{Budget: budget})
		if err != nil {
			return nil, err
		}
		result, err := plan.Run(ctx, q.Graph, gremlin.RunOptions{Budget: budget, Params: q.Params, SideEffects: q.SideEffects})
		if err != nil {
			return nil, err
		}
		values := make([]graph.Value, 0, result.Count)
		for v := range result.Values() {
			values = append(values, v)
		}
		return values, nil
	}
}
