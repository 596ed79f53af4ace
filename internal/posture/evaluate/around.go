package evaluate

import (
	"slices"

	"vigil/graph"
)

// isRiskKey reports whether a property counts for the risk of entities around the
// one that has it.
func (s *Schema) isRiskKey(key string) bool { return s.risky[key] }

// around returns the vertices of the graph as it is now whose findings may read
// differently: the entities that changed, and those whose risk looks at one of
// them. It goes the ways of risks.exposure and risks.within backwards, in the
// graph as it was and as it is.
func (d *difference) around(before, after *graph.Graph) map[graph.Handle]bool {
	anew := map[graph.Handle]bool{}
	put := func(id graph.Value) {
		if h, ok := after.VertexByID(id); ok {
			anew[h] = true
		}
	}
	for _, id := range d.ids {
		put(graph.String(string(id)))
	}
	for _, g := range []*graph.Graph{before, after} {
		r := newRisks(g, d.schema)
		var moved []graph.Handle
		for _, id := range d.moved {
			if h, ok := g.VertexByID(graph.String(string(id))); ok {
				moved = append(moved, h)
			}
		}
		for _, h := range append(r.exposes(moved), r.reaches(moved)...) {
			put(g.VertexID(h))
		}
	}
	return anew
}

// exposes returns the vertices whose exposure depends on some others.
func (r *risks) exposes(some []graph.Handle) []graph.Handle {
	return spread(some, exposureHops, func(v graph.Handle) []graph.Handle {
		var all []graph.Handle
		for _, l := range r.outLabels {
			all = append(all, r.g.NeighboursBy(v, graph.In, l)...)
		}
		for _, l := range r.inLabels {
			all = append(all, r.g.NeighboursBy(v, graph.Out, l)...)
		}
		return all
	})
}

// reaches returns the vertices from which some others are within reach.
func (r *risks) reaches(some []graph.Handle) []graph.Handle {
	back := spread(some, reachHops, func(v graph.Handle) []graph.Handle {
		var all []graph.Handle
		edges, from := r.g.Incident(v, graph.In)
		for i, e := range edges {
			if !r.skip[r.g.EdgeLabel(e)] {
				all = append(all, from[i])
			}
		}
		return all
	})
	// The first step may also have gone against an edge.
	for _, h := range append(slices.Clone(some), back...) {
		for _, l := range r.reachIn {
			back = append(back, r.g.NeighboursBy(h, graph.Out, l)...)
		}
	}
	return back
}

// spread returns what is within some steps of the start, the start left out.
func spread(from []graph.Handle, hops int, next func(graph.Handle) []graph.Handle) []graph.Handle {
	seen := map[graph.Handle]bool{}
	for _, h := range from {
		seen[h] = true
	}
	var found []graph.Handle
	for range hops {
		var reached []graph.Handle
		for _, v := range from {
			for _, n := range next(v) {
				if !seen[n] {
					seen[n] = true
					reached = append(reached, n)
				}
			}
		}
		found = append(found, reached...)
		from = reached
	}
	return found
}
