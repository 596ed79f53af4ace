// Package suite runs conformance scenarios: it loads their graphs, fills the
// empty graph by setup traversals, binds parameters, asks an engine and compares
// what comes back with what is expected, by value and type.
//
// The loader of setup traversals is here and nowhere else: the engine itself has
// no way to change a graph.
package suite
