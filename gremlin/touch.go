package gremlin

import "vigil/gremlin/internal/plan"

// Touches is what a query can read of a graph. A change of a graph cannot change
// the query's result if it adds or removes no vertex of the Labels, changes no
// property of the Keys, and adds or removes no edge of the Edges.
type Touches = plan.Touched

// Touches works out what the query can read; it errs on the safe side. A query
// with variables can read anything.
func (p *Plan) Touches() Touches {
	if p.plain == nil {
		return Touches{AllLabels: true, AllKeys: true, AllEdges: true}
	}
	return plan.Touches(p.root)
}
