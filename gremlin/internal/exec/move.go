package exec

import (
	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// movers builds the operators that go through the graph.
func (r *run) movers(s plan.Step, next op) (op, error) {
	switch s := s.(type) {
	case *plan.Graph:
		return r.graphOp(s, next)
	case *plan.Move:
		return r.moveOp(s, next), nil
	case *plan.EdgeEnd:
		return r.flatMapper(s, next, r.edgeEnds(s.Dir)), nil
	case *plan.OtherEnd:
		return r.mapper(s, next, r.otherEnd), nil
	case *plan.Properties:
		return r.propertiesOp(s, next)
	case *plan.ElementPart:
		return r.mapper(s, next, func(in *batch, i int) (graph.Value, bool, error) {
			return r.part(in.value(i), s.Part)
		}), nil
	case *plan.Owner:
		return r.valueMapper(s, next, r.owner), nil
	case *plan.PropertyMap:
		return r.propertyMap(s, next)
	}
	return nil, nil
}

// moveOp goes from vertices to neighbours or edges.
type moveOp struct {
	output
	dirs   []graph.Direction
	toEdge bool
	some   bool
	labels []graph.Label
}

func (r *run) moveOp(s *plan.Move, next op) op {
	o := &moveOp{output: r.output(s, next), toEdge: s.ToEdge, some: s.Some}
	switch s.Dir {
	case plan.Out:
		o.dirs = []graph.Direction{graph.Out}
	case plan.In:
		o.dirs = []graph.Direction{graph.In}
	default:
		o.dirs = []graph.Direction{graph.Out, graph.In}
	}
	o.labels = r.edgeLabels(s.Over)
	return o
}

// edgeLabels returns the numbers of the edge labels that the graph has.
func (r *run) edgeLabels(names []string) []graph.Label {
	var out []graph.Label
	seen := map[string]bool{}
	for _, name := range names {
		if l, ok := r.g.EdgeLabelByName(name); ok && !seen[name] {
			out = append(out, l)
		}
		seen[name] = true
	}
	return out
}

func (o *moveOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	for i := range n {
		v, ok := b.vertex(i)
		if !ok {
			return value.Errorf("%s cannot be cast to Vertex", value.ClassName(b.value(i)))
		}
		if err := o.from(b, i, v); err != nil {
			return err
		}
	}
	return o.flush()
}

func (o *moveOp) from(b *batch, i int, v graph.Handle) error {
	g := o.run.g
	for _, d := range o.dirs {
		if !o.some {
			edges, to := g.Incident(v, d)
			if err := o.reach(b, i, v, edges, to); err != nil {
				return err
			}
			continue
		}
		for _, l := range o.labels {
			edges, to := g.IncidentBy(v, d, l)
			if err := o.reach(b, i, v, edges, to); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *moveOp) reach(b *batch, i int, v graph.Handle, edges, to []graph.Handle) error {
	if err := o.run.meter.spend(len(to)); err != nil {
		return err
	}
	if o.toEdge {
		for _, e := range edges {
			if err := o.emitHandle(b, i, graph.KindEdge, e, v); err != nil {
				return err
			}
		}
		return nil
	}
	for _, w := range to {
		if err := o.emitHandle(b, i, graph.KindVertex, w, graph.NoHandle); err != nil {
			return err
		}
	}
	return nil
}

// edgeEnds goes to the ends of an edge.
func (r *run) edgeEnds(d plan.Direction) func(o *output, in *batch, i int) error {
	return func(o *output, in *batch, i int) error {
		e, ok := in.edge(i)
		if !ok {
			return value.Errorf("%s cannot be cast to Edge", value.ClassName(in.value(i)))
		}
		if d != plan.In {
			if err := o.emitHandle(in, i, graph.KindVertex, r.g.Source(e), graph.NoHandle); err != nil {
				return err
			}
		}
		if d != plan.Out {
			return o.emitHandle(in, i, graph.KindVertex, r.g.Target(e), graph.NoHandle)
		}
		return nil
	}
}

// otherEnd goes to the end of an edge that the traverser did not come from: by
// what the edge remembers, else by the path.
func (r *run) otherEnd(in *batch, i int) (graph.Value, bool, error) {
	e, ok := in.edge(i)
	if !ok {
		return graph.Null, false, value.Errorf("%s cannot be cast to Edge", value.ClassName(in.value(i)))
	}
	src, dst := r.g.Source(e), r.g.Target(e)
	if in.from != nil && in.from[i] != graph.NoHandle {
		if in.from[i] == src {
			return graph.VertexOf(dst), true, nil
		}
		return graph.VertexOf(src), true, nil
	}
	for p := in.way(i); p != nil; p = p.prev {
		if p.val.Kind() == graph.KindVertex {
			switch p.val.Handle() {
			case src:
				return graph.VertexOf(dst), true, nil
			case dst:
				return graph.VertexOf(src), true, nil
			}
		}
	}
	return graph.Null, false, value.Errorf("The path history of the traverser does not contain an adjacent vertex")
}

// owner goes from a property to its element.
func (r *run) owner(v graph.Value) (graph.Value, error) {
	switch v.Kind() {
	case graph.KindVertexProperty:
		return graph.VertexOf(v.Property().Owner), nil
	case graph.KindProperty:
		p := v.Property()
		if p.Edge {
			return graph.EdgeOf(p.Owner), nil
		}
		return graph.VertexPropertyOf(p.Owner, p.Key, p.Index), nil
	}
	return graph.Null, value.Errorf("%s cannot be cast to Property", value.ClassName(v))
}
