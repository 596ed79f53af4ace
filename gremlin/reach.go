package gremlin

import (
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
)

// A Reach bounds the part of a graph that decides whether a query finds a vertex.
type Reach plan.Reach

// Reach returns the reach of a query that decides about each vertex separately, and
// false for other queries. params are the values of its variables.
func (p *Plan) Reach(params map[string]graph.Value) (*Reach, bool) {
	root := p.root
	if root == nil {
		var err error
		if root, err = prepare(p.query, plan.Binding{Vars: params, UUID: newUUID}, DefaultBudget.Regex); err != nil {
			return nil, false
		}
	}
	r, ok := plan.ReachOf(root)
	return (*Reach)(&r), ok
}

// Dependents returns the vertices of a graph for which the answer of the query may depend
// on the given vertices: those from which the query may reach one of them. It gives up
// and returns false when there are more than limit, or when the answer about every
// vertex depends on an unknown value.
func (r *Reach) Dependents(g *graph.Graph, on []graph.Handle, limit int) ([]graph.Handle, bool) {
	if slices.ContainsFunc(r.KnownKeys, func(key string) bool { return hasUnknown(g, key) }) {
		return nil, false
	}
	// Follow the moves of the query backwards, from the given vertices.
	hops := appendHops(nil, g, graph.In, r.Out, r.AllOut)
	hops = appendHops(hops, g, graph.Out, r.In, r.AllIn)
	found := map[graph.Handle]bool{}
	for _, h := range on {
		found[h] = true
	}
	all := slices.Clone(on)
	for frontier, moves := all, 0; len(frontier) > 0 && (r.Moves == plan.Unlimited || moves < r.Moves); moves++ {
		first := len(all)
		for _, h := range frontier {
			for i := range hops {
				for _, to := range hops[i].To(h) {
					if !found[to] {
						found[to] = true
						all = append(all, to)
					}
				}
			}
			if len(all) > limit {
				return nil, false
			}
		}
		frontier = all[first:]
	}
	return all, true
}

// appendHops appends the hops over edges with the given labels, or over all edges.
func appendHops(hops []graph.Hop, g *graph.Graph, d graph.Direction, labels []string, all bool) []graph.Hop {
	if all {
		return append(hops, g.HopAll(d))
	}
	for _, name := range labels {
		if l, ok := g.EdgeLabelByName(name); ok {
			hops = append(hops, g.HopBy(d, l))
		}
	}
	return hops
}
