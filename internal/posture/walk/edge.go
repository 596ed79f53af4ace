package walk

import (
	"cmp"
	"context"
	"slices"

	"vigil/graph"
	"vigil/internal/fault"
	"vigil/internal/posture"
)

// An Edge leads from one entity to another.
type Edge struct {
	From  posture.EntityID
	Label string
	To    posture.EntityID
}

// maxEdges is the maximum number of edges in a response, and maxIncident the maximum number of
// edges that are examined to find them.
const (
	maxEdges    = 5_000
	maxIncident = 200_000
)

// edges returns the edges between the vertices of the response, up to the limits.
func (t *resultBuilder) edges() []Edge {
	all := []Edge{}
	looked := 0
	for v := range t.seen {
		edges, to := t.graph.Incident(v, graph.Out)
		looked += len(edges)
		if looked > maxIncident {
			break
		}
		for i, e := range edges {
			if t.seen[to[i]] {
				if !t.budget.take(edgeBytes) {
					return nil
				}
				all = append(all, Edge{t.id(v), t.graph.EdgeLabels()[t.graph.EdgeLabel(e)], t.id(to[i])})
			}
		}
	}
	slices.SortFunc(all, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Label, b.Label), cmp.Compare(a.To, b.To))
	})
	all = slices.Compact(all)
	return all[:min(len(all), maxEdges)]
}

// The directions of edges from the perspective of an entity.
const (
	Outgoing = "out"
	Incoming = "in"
)

// A Neighbour is an entity at the other end of an edge.
type Neighbour struct {
	Direction string
	Label     string
	ID        posture.EntityID
}

// A NeighbourCount is the number of neighbours by direction, label and type.
type NeighbourCount struct {
	Direction string
	Label     string
	Type      posture.EntityType
	Count     int
}

// Neighbourhood holds the neighbours of an entity.
type Neighbourhood struct {
	Counts     []NeighbourCount
	Neighbours []Neighbour // outgoing before incoming, then by label and id
}

// Neighbours returns the neighbours of an entity of an account. It fails with fault.NotFound when
// the account's graph does not contain the entity.
func (w *Walker) Neighbours(ctx context.Context, org posture.OrgID, account posture.AccountID, id posture.EntityID) (Neighbourhood, error) {
	g, err := w.graphs.Graph(ctx, org, account)
	if err != nil {
		return Neighbourhood{}, err
	}
	v, ok := g.VertexByID(graph.String(string(id)))
	if !ok {
		return Neighbourhood{}, fault.New(fault.NotFound, "entity %q is not in the graph of its account", id)
	}
	t := newResultBuilder(g.Graph, &budget{}) // only for t.id
	var n Neighbourhood
	types := map[posture.EntityID]posture.EntityType{}
	for _, d := range []struct {
		direction graph.Direction
		name      string
	}{{graph.Out, Outgoing}, {graph.In, Incoming}} {
		edges, to := g.Incident(v, d.direction)
		for i, e := range edges {
			other := t.id(to[i])
			types[other] = posture.EntityType(g.VertexLabels()[g.VertexLabel(to[i])])
			n.Neighbours = append(n.Neighbours, Neighbour{d.name, g.EdgeLabels()[g.EdgeLabel(e)], other})
		}
	}
	// Directions are compared in reverse: "out" comes before "in".
	slices.SortFunc(n.Neighbours, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(b.Direction, a.Direction), cmp.Compare(a.Label, b.Label), cmp.Compare(a.ID, b.ID))
	})
	n.Neighbours = slices.Compact(n.Neighbours) // several edges with one label may lead to the same entity
	counts := map[NeighbourCount]int{}
	for _, to := range n.Neighbours {
		counts[NeighbourCount{Direction: to.Direction, Label: to.Label, Type: types[to.ID]}]++
	}
	for c, count := range counts {
		c.Count = count
		n.Counts = append(n.Counts, c)
	}
	slices.SortFunc(n.Counts, func(a, b NeighbourCount) int {
		return cmp.Or(cmp.Compare(b.Direction, a.Direction), cmp.Compare(a.Label, b.Label), cmp.Compare(a.Type, b.Type))
	})
	return n, nil
}
