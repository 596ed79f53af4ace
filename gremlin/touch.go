package gremlin

import (
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/syntax"
)

// Touches is what a query can read of a graph. A change of a graph cannot change
// the query's result if it adds or removes no vertex of the Labels, changes no
// property of the Keys, and adds or removes no edge of the Edges.
type Touches = plan.Touched

// Touches works out what the query can read; it errs on the safe side. Params are
// values of its variables: when one lacks a value, the query can read anything. What
// a query reads does not depend on the time it asks for with datetime(), but its
// result does.
func (p *Plan) Touches(params map[string]graph.Value) Touches {
	root := p.root
	if root == nil {
		var err error
		if root, _, err = prepare(p.query, plan.Binding{Vars: params, UUID: newUUID}); err != nil {
			return Touches{AllLabels: true, AllKeys: true, AllEdges: true, Time: asksTime(p.query)}
		}
	}
	t := plan.Touches(root)
	t.Time = asksTime(p.query)
	return t
}

// Variables returns the names of the query's variables, sorted.
func (p *Plan) Variables() []string {
	var names []string
	syntax.Walk(p.query, func(a syntax.Arg) {
		if v, ok := a.(*syntax.Variable); ok {
			names = append(names, v.Name)
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}
