// Package gremlin runs queries in the Gremlin language of TinkerPop 3.8 over
// graphs of package graph.
//
//	p, err := gremlin.Compile(`g.V().hasLabel("person").out("knows").values("name")`, gremlin.CompileOptions{})
//	res, err := p.Run(ctx, g, gremlin.RunOptions{})
//	for v := range res.Values() {
//		fmt.Println(v)
//	}
//
// Queries are read-only: steps that change the graph, lambdas and external calls
// are errors. Every query has a [Budget] for its text and for the cost of
// running it; exceeding it is a [BudgetError] that names the limit.
//
// A compiled [Plan] is independent of any graph, safe for concurrent use and
// reusable; a [Cache] holds recently used plans. [Plan.Explain] shows how a
// query will be run and [Plan.Profile] how it was run. [Plan.Verdict] runs a
// query on a graph with unknown values and distinguishes certain results from
// possible ones.
package gremlin
