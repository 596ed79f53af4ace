// Package suite runs conformance scenarios: it loads their graphs, fills the
// empty graph by setup traversals, binds parameters, runs the query on an engine
// and compares the results with the expected ones by value and type.
//
// Only this package can execute setup traversals: the engine itself cannot change a graph.
package suite
