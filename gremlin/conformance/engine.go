package main

import (
	"context"
	"time"

	"vigil/graph"
	"vigil/gremlin"
	"vigil/gremlin/conformance/internal/suite"
)

// budget is generous: scenarios test the meaning of the language, not limits. It
// only stops the engine when it runs endlessly by mistake.
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
