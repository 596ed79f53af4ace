package graph

// Compact rebuilds the graph, which Patch does only when much was removed.
func (g *Graph) Compact() (*Graph, error) { return g.compact() }
