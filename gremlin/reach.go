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
		if root, err = prepare(p.query, plan.Binding{Vars: params, UUID: newUUID}); err != nil {
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
	if len(withUnknown(g, r.KnownKeys, false)) > 0 {
		return nil, false
	}
	// From the given vertices the moves of the query lead backwards.
	hops := appendHops(nil, g, graph.In, r.Out, r.AllOut)
	hops = appendHops(hops, g, graph.Out, r.In, r.AllIn)
	found := map[graph.Handle]bool{}
	for _, h := range on {
		found[h] = true
	}
	all := slices.Clone(on)
	for last, moves := all, 0; len(last) > 0 && moves != r.Moves; moves++ {
		first := len(all)
		for _, h := range last {
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
		last = all[first:]
	}
	return all, true
}

// appendHops appends the hops over edges with some labels, or with any label.
func appendHops(hops []graph.Hop, g *graph.Graph, d graph.Direction, labels []string, any bool) []graph.Hop {
	if any {
		return append(hops, g.HopAll(d))
	}
	for _, name := range labels {
		if l, ok := g.EdgeLabelByName(name); ok {
			hops = append(hops, g.HopBy(d, l))
		}
	}
	return hops
}
