package gremlin

import (
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/syntax"
)

// Touches is the part of a graph that a query can read. A change of the graph
// cannot change the query's result if it adds or removes no vertex with Labels,
// changes no property with Keys, and adds or removes no edge with Edges.
type Touches = plan.Touched

// Touches computes what the query can read; it may overestimate. params holds the
// values of the query's variables. If a variable has none, the result covers the whole graph.
// The time of datetime() affects the query's result, but not what it reads.
func (p *Plan) Touches(params map[string]graph.Value) Touches {
	root := p.root
	if root == nil {
		var err error
		if root, err = prepare(p.query, plan.Binding{Vars: params, UUID: newUUID}, DefaultBudget.Regex); err != nil {
			return Touches{AllLabels: true, AllKeys: true, AllEdges: true, Time: usesTime(p.query)}
		}
	}
	t := plan.Touches(root)
	t.Time = usesTime(p.query)
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
