package gremlin

import "vigil/gremlin/internal/plan"

// Touches is what a query can read of a graph. A change of a graph cannot change
// the query's result if it adds or removes no vertex of the Labels, changes no
// property of the Keys, and adds or removes no edge of the Edges.
type Touches = plan.Touched

// Touches works out what the query can read; it errs on the safe side. A query
// with variables can read anything. What a query reads does not depend on the
// time it asks for with datetime(), but its result does.
func (p *Plan) Touches() Touches {
	root := p.root
	if root == nil {
		var err error
		if root, _, err = prepare(p.query, plan.Binding{UUID: newUUID}); err != nil {
			return Touches{AllLabels: true, AllKeys: true, AllEdges: true, Time: asksTime(p.query)}
		}
	}
	t := plan.Touches(root)
	t.Time = asksTime(p.query)
	return t
}
