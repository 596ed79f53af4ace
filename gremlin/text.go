package gremlin

import (
	"vigil/graph"
	"vigil/gremlin/internal/exec"
)

// Text formats a value like asString(): [a, b], {k=v}, v[1], e[7][1-knows->2].
// Elements must belong to the graph.
func Text(g *graph.Graph, v graph.Value) string { return exec.Text(g, v) }
