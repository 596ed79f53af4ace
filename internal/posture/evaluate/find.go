package evaluate

import (
	"context"
	"slices"

	"vigil/graph"
	"vigil/gremlin"
	"vigil/internal/posture"
)

// A change is what happened to an account since its last judgement.
type change struct {
	before   *graph.Graph   // it shares its handles with the graph after the change
	verdicts *VerdictCache  // of the queries on the graph before
	old, now []graph.Handle // the changed vertices in the graph before and after
	later    bool           // time-dependent queries may find something else
}

// changeSince returns the change since an earlier judgement. It returns nil if no verdicts of
// that judgement are kept, or if the two graphs have different handles.
func changeSince(b Before, after *graph.Graph, d *difference) *change {
	if b.Verdicts == nil || !after.SharesHandles(b.Graph) {
		return nil
	}
	return &change{before: b.Graph, verdicts: b.Verdicts, old: handles(b.Graph, d.ids), now: handles(after, d.ids), later: d.later}
}

// handles returns the vertices of entities, each once.
func handles(g *graph.Graph, ids []posture.EntityID) []graph.Handle {
	var all []graph.Handle
	for _, id := range ids {
		if h, ok := g.VertexByID(graph.String(string(id))); ok {
			all = append(all, h)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// find returns what a query finds in the graph, given what it found before a change. It
// runs the query only on the vertices from which the query reaches a changed vertex, before
// or after the change. About all others the query reads the same as before, and gives the
// same answer.
func (j *judging) find(ctx context.Context, q *query, last *gremlin.Verdict) (*gremlin.Verdict, error) {
	near, ok := j.since.near(q, j.Graph)
	if !ok || last == nil {
		return j.ask(ctx, q, nil)
	}
	if len(near) == 0 {
		return last, nil
	}
	live := []graph.Handle{} // nil would mean all vertices
	for _, h := range near {
		if j.Graph.HasVertex(h) {
			live = append(live, h)
		}
	}
	part, err := j.ask(ctx, q, live)
	if err != nil {
		return nil, err
	}
	part.Yes, part.Unknown = replace(last.Yes, part.Yes, near), replace(last.Unknown, part.Unknown, near)
	return part, nil
}

// near returns the vertices, in ascending order, for which the answer of a query may be
// another than before the change. It returns false if the answer may have changed for every
// vertex.
func (c *change) near(q *query, after *graph.Graph) ([]graph.Handle, bool) {
	if c == nil || q.reach == nil || c.later && q.reads.Clock {
		return nil, false
	}
	limit := max(64, after.NumVertices()/16) // for more vertices, the whole account costs about as much
	var all []graph.Handle
	for _, side := range []struct {
		graph   *graph.Graph
		changed []graph.Handle
	}{{c.before, c.old}, {after, c.now}} {
		dependents, ok := q.reach.Dependents(side.graph, side.changed, limit)
		if !ok {
			return nil, false
		}
		for _, h := range dependents {
			if q.anywhere || slices.Contains(q.reads.Subjects, posture.EntityType(side.graph.VertexLabels()[side.graph.VertexLabel(h)])) {
				all = append(all, h)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), true
}

// replace returns old with the vertices in near replaced by those in part. All are in
// ascending order, and part is contained in near.
func replace(old, part, near []graph.Handle) []graph.Handle {
	all := make([]graph.Handle, 0, len(old)+len(part))
	for _, h := range old {
		if _, ok := slices.BinarySearch(near, h); !ok {
			all = append(all, h)
		}
	}
	all = append(all, part...)
	slices.Sort(all)
	return all
}

// ask runs a query on the given vertices, or on all if from is nil.
func (j *judging) ask(ctx context.Context, q *query, from []graph.Handle) (*gremlin.Verdict, error) {
	if q.where != nil {
		return j.search(q, from), nil
	}
	plan, err := q.planAt(j.at)
	if err != nil {
		return nil, err
	}
	o := j.options()
	o.From = from
	return plan.Verdict(ctx, j.Graph, o)
}

// search evaluates a condition of the search language on the given vertices. If from is nil,
// it takes all vertices that the condition may match.
func (j *judging) search(q *query, from []graph.Handle) *gremlin.Verdict {
	switch {
	case from != nil:
	case q.anywhere:
		from = j.Graph.Vertices()
	default:
		from = j.subjects(q.reads.Subjects)
	}
	v := &gremlin.Verdict{Work: int64(len(from))}
	for _, h := range from {
		e := entityOf(j.Graph, h)
		switch q.where.Of(&e) {
		case posture.Yes:
			v.Yes = append(v.Yes, h)
		case posture.Maybe:
			v.Unknown = append(v.Unknown, h)
		}
	}
	return v
}
