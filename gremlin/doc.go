// Package gremlin runs queries in the Gremlin language of TinkerPop 3.8 over
// graphs of package graph.
//
//	p, err := gremlin.Compile(`g.V().hasLabel("person").out("knows").values("name")`, gremlin.CompileOptions{})
//	res, err := p.Run(ctx, g, gremlin.RunOptions{})
//	for v := range res.Values() {
//		fmt.Println(v)
//	}
//
// Queries only read: steps that change the graph, lambdas and calls to the
// outside are errors. Every query has a [Budget], of its text and of what running
// it may cost; exceeding it is a [BudgetError] that names the limit.
//
// A compiled [Plan] is independent of any graph, safe for concurrent use and
// worth keeping; a [Cache] keeps those used lately. [Plan.Explain] says how a
// query will be run and [Plan.Profile] how it was. [Plan.Verdict] runs a query
// on a graph with unknown values and tells certain results from possible ones.
package gremlin
