package plan

import (
	"cmp"

	"vigil/gremlin/syntax"
)

// criteria are the filters of a SubgraphStrategy. They are functions because
// each place in the plan needs its own traversal.
type criteria struct {
	vertex, edge, property func() *Traversal
	adjacent               bool // an edge is visible only if its end points are
}

// subgraph restricts the query to the part of the graph that satisfies the criteria.
func (b *builder) subgraph(conf map[string]syntax.Arg) error {
	c := criteria{adjacent: true}
	for name, slot := range map[string]*func() *Traversal{"vertices": &c.vertex, "edges": &c.edge, "vertexProperties": &c.property} {
		a, ok := conf[name]
		if !ok {
			continue
		}
		if _, err := b.child(a, scope{}); err != nil { // only to report errors early
			return err
		}
		*slot = func() *Traversal {
			t, err := b.child(a, scope{})
			if err != nil { // a later strategy may refuse what succeeded above
				b.late = cmp.Or(b.late, err)
				return &Traversal{}
			}
			return t
		}
	}
	if a, ok := conf["checkAdjacentVertices"]; ok {
		v, err := b.value(a)
		if err != nil {
			return err
		}
		c.adjacent = isTrue(v)
	}
	b.decorate = append(b.decorate, c.apply)
	return nil
}

func (c criteria) apply(t *Traversal) {
	t.Steps = c.viaEdges(t.Steps)
	t.Steps = insertAfter(t.Steps, c.filterAfter)
}

// viaEdges replaces moves to neighbours by moves over edges when edges are filtered.
func (c criteria) viaEdges(steps []Step) []Step {
	if c.edge == nil {
		return steps
	}
	var out []Step
	for _, s := range steps {
		m, ok := s.(*Move)
		if !ok || m.ToEdge {
			out = append(out, s)
			continue
		}
		e := &Move{Meta: Meta{Name: m.Name + "E"}, Dir: m.Dir, ToEdge: true, ByLabel: m.ByLabel, EdgeLabels: m.EdgeLabels}
		end := farEnd(m.Dir)
		end.Info().Labels = m.Labels
		out = append(out, e, end)
	}
	return out
}

func inV() Step  { return &EdgeEnd{Meta: Meta{Name: "inV"}, Dir: In} }
func outV() Step { return &EdgeEnd{Meta: Meta{Name: "outV"}, Dir: Out} }

// farEnd returns the step to the far end of an edge that was reached in direction d.
func farEnd(d Direction) Step {
	switch d {
	case Out:
		return inV()
	case In:
		return outV()
	}
	return &OtherEnd{Meta: Meta{Name: "otherV"}}
}

// filterAfter returns the filters for the results of a step.
func (c criteria) filterAfter(s Step) []Step {
	switch s := s.(type) {
	case *Graph:
		if s.Edges {
			return c.edgeFilter(inV(), outV())
		}
		return c.vertexFilter()
	case *Move:
		if s.ToEdge {
			return c.edgeFilter(farEnd(s.Dir))
		}
		return c.vertexFilter()
	case *EdgeEnd, *OtherEnd:
		return c.vertexFilter()
	case *Properties:
		if c.property != nil {
			s.Filter = c.property()
		}
	case *PropertyMap:
		if c.property != nil && s.Mode != ElementMap {
			s.Filter = c.property()
		}
	}
	return nil
}

func filterBy(t *Traversal) Step { return &Filter{Meta: Meta{Name: "filter"}, Traversal: t} }

func (c criteria) vertexFilter() []Step {
	if c.vertex == nil {
		return nil
	}
	return []Step{filterBy(c.vertex())}
}

// edgeFilter returns the filters for edges. ends are the steps to those end points that
// must be visible, too.
func (c criteria) edgeFilter(ends ...Step) []Step {
	var out []Step
	if c.edge != nil {
		out = append(out, filterBy(c.edge()))
	}
	if c.vertex == nil || !c.adjacent {
		return out
	}
	for _, end := range ends {
		out = append(out, filterBy(&Traversal{Steps: []Step{end, filterBy(c.vertex())}}))
	}
	return out
}
