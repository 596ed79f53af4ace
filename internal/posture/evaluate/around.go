package evaluate

import (
	"slices"

	"vigil/graph"
)

// isRiskKey reports whether a property affects the risk of other entities.
func (s *Schema) isRiskKey(key string) bool { return s.risky[key] }

// around returns the vertices of the new graph whose findings may have another text or
// risk: the entities that changed, and those whose risk depends on them. It follows
// the paths of risks.exposure and risks.within backwards, in the old graph and in the
// new one.
func (d *difference) around(before, after *graph.Graph) map[graph.Handle]bool {
	affected := map[graph.Handle]bool{}
	put := func(id graph.Value) {
		if h, ok := after.VertexByID(id); ok {
			affected[h] = true
		}
	}
	for _, id := range d.ids {
		put(graph.String(string(id)))
	}
	for _, g := range []*graph.Graph{before, after} {
		r := newRisks(g, d.schema)
		var changed []graph.Handle
		for _, id := range d.riskChanged {
			if h, ok := g.VertexByID(graph.String(string(id))); ok {
				changed = append(changed, h)
			}
		}
		for _, h := range append(r.exposes(changed), r.reaches(changed)...) {
			put(g.VertexID(h))
		}
	}
	return affected
}

// exposes returns the vertices whose exposure depends on the given ones.
func (r *risks) exposes(handles []graph.Handle) []graph.Handle {
	return spread(handles, exposureHops, func(v graph.Handle) []graph.Handle {
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

// reaches returns the vertices from which the given ones can be reached.
func (r *risks) reaches(handles []graph.Handle) []graph.Handle {
	back := spread(handles, reachHops, func(v graph.Handle) []graph.Handle {
		var all []graph.Handle
		edges, from := r.g.Incident(v, graph.In)
		for i, e := range edges {
			if !r.skip[r.g.EdgeLabel(e)] {
				all = append(all, from[i])
			}
		}
		return all
	})
	// The first step of a path can also follow an edge of the labels reachIn against its direction. Such
	// a path begins where this edge ends.
	for _, h := range append(slices.Clone(handles), back...) {
		for _, l := range r.reachIn {
			back = append(back, r.g.NeighboursBy(h, graph.Out, l)...)
		}
	}
	return back
}

// spread returns the vertices within a number of steps, without the start.
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
