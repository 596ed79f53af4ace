package exec

import (
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// moveOperator builds the operators that traverse edges. It returns nil for other steps.
func (r *run) moveOperator(s plan.Step, next op) (op, error) {
	switch s := s.(type) {
	case *plan.Graph:
		return r.graphOp(s, next), nil
	case *plan.Move:
		return r.moveOp(s, next), nil
	case *plan.EdgeEnd:
		return r.flatMapper(s, next, r.edgeEnds(s.Dir)), nil
	case *plan.OtherEnd:
		return r.newMapOp(s, next, r.otherEnd), nil
	case *plan.Properties:
		return r.propertiesOp(s, next)
	case *plan.ElementPart:
		return r.newMapOp(s, next, func(in *batch, i int) (graph.Value, bool, error) {
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
	hops      []graph.Hop
	toEdge    bool
	unmetered int // neighbours that addNeighbours appended and that are not yet spent as work
}

func (r *run) moveOp(s *plan.Move, next op) op {
	return &moveOp{output: r.output(s, next), hops: r.hops(s), toEdge: s.ToEdge}
}

// hops returns the hops of a move, by direction and then by label.
func (r *run) hops(s *plan.Move) []graph.Hop {
	var out []graph.Hop
	edgeLabels := r.edgeLabels(s.EdgeLabels)
	for _, d := range dirsOf(s.Dir) {
		if !s.ByLabel {
			out = append(out, r.g.HopAll(d))
		}
		for _, l := range edgeLabels {
			out = append(out, r.g.HopBy(d, l))
		}
	}
	return out
}

// dirsOf returns the graph directions of a plan direction.
func dirsOf(d plan.Direction) []graph.Direction {
	switch d {
	case plan.Out:
		return bothDirs[:1]
	case plan.In:
		return bothDirs[1:]
	}
	return bothDirs
}

var bothDirs = []graph.Direction{graph.Out, graph.In}

// edgeLabels returns the labels with the given names. It skips names that the graph
// does not have.
func (r *run) edgeLabels(names []string) []graph.Label {
	var out []graph.Label
	for _, name := range names {
		if l, ok := r.g.EdgeLabelByName(name); ok && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

func (o *moveOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	if b.kind == graph.KindVertex && !o.toEdge && !o.extend && b.path == nil && b.sack == nil {
		if err := o.pushHandles(b); err != nil {
			return err
		}
		return o.flush()
	}
	for i := range n {
		v, ok := b.vertex(i)
		if !ok {
			return value.Errorf("%s cannot be cast to Vertex", value.ClassName(b.value(i)))
		}
		if err := o.moveFrom(b, i, v); err != nil {
			return err
		}
	}
	return o.flush()
}

// pushHandles is the fast path for rows that have a handle and a bulk, but no path or sack.
func (o *moveOp) pushHandles(b *batch) error {
	for i, v := range b.ids {
		for k := range o.hops {
			if err := o.addNeighbours(b, i, o.hops[k].To(v)); err != nil {
				return err
			}
		}
	}
	work := o.unmetered
	o.unmetered = 0
	return o.run.meter.spend(work)
}

// addNeighbours adds the neighbours of row i without paths. If they have no bulks and fit
// into the batch that was begun, it only appends them.
func (o *moveOp) addNeighbours(b *batch, i int, to []graph.Handle) error {
	n := len(o.b.ids)
	if len(to) == 0 {
		return nil
	}
	if n == 0 || b.bulk != nil || o.b.bulk != nil || n+len(to) >= o.run.size {
		return o.emitNeighbours(b, i, to)
	}
	o.unmetered += len(to)
	o.b.ids = append(o.b.ids, to...)
	return nil
}

// emitNeighbours adds the neighbours of row i batch by batch.
func (o *moveOp) emitNeighbours(b *batch, i int, to []graph.Handle) error {
	for len(to) > 0 {
		o.b.prepareHandles(graph.KindVertex, b.bulk != nil)
		n := min(len(to), o.run.size-len(o.b.ids))
		if err := o.run.meter.spend(n); err != nil {
			return err
		}
		if b.bulk != nil || o.b.bulk != nil {
			o.b.bulk = fill(o.b.bulk, len(o.b.ids), 1)
			c := b.count(i)
			for range n {
				o.b.bulk = append(o.b.bulk, c)
			}
		}
		o.b.ids = append(o.b.ids, to[:n]...)
		to = to[n:]
		if len(o.b.ids) >= o.run.size {
			if err := o.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// moveFrom emits what row i, the vertex v, reaches by every hop.
func (o *moveOp) moveFrom(b *batch, i int, v graph.Handle) error {
	for k := range o.hops {
		edges, to := o.hops[k].Edges(v)
		if err := o.emitHop(b, i, v, edges, to); err != nil {
			return err
		}
	}
	return nil
}

// emitHop emits the edges of one hop from v, or the neighbours at their other ends.
func (o *moveOp) emitHop(b *batch, i int, v graph.Handle, edges, to []graph.Handle) error {
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
	if o.extend && b.sack == nil && b.bulk == nil {
		return o.emitNeighboursWithPath(b.pathOf(i), to)
	}
	for _, w := range to {
		if err := o.emitHandle(b, i, graph.KindVertex, w, graph.NoHandle); err != nil {
			return err
		}
	}
	return nil
}

// emitNeighboursWithPath adds neighbours. It extends the path by each of them.
func (o *moveOp) emitNeighboursWithPath(path *node, to []graph.Handle) error {
	for _, w := range to {
		if len(o.b.ids) == 0 {
			paths := o.b.path // keep the memory of the column
			o.b.prepareHandles(graph.KindVertex, false)
			o.b.path = paths[:0]
		}
		o.b.ids = append(o.b.ids, w)
		o.b.path = append(o.b.path, extend(path, graph.VertexOf(w), o.labels, 0))
		if len(o.b.ids) >= o.run.size {
			if err := o.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// edgeEnds moves to the end points of an edge.
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

// otherEnd moves to the end point of an edge from which the traverser did not
// come. The batch or the path of the traverser tells from which one it came.
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
	for p := in.pathOf(i); p != nil; p = p.prev {
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

// owner moves from a property to its element.
func (r *run) owner(v graph.Value) (graph.Value, error) {
	switch v.Kind() {
	case graph.KindVertexProperty:
		return graph.VertexOf(v.Property().Owner), nil
	case graph.KindProperty:
		p := v.Property()
		if p.Edge {
			return graph.EdgeOf(p.Owner), nil
		}
		return graph.VertexPropertyOf(p.Owner, p.Key, p.Index), nil // p is a meta-property
	}
	return graph.Null, value.Errorf("%s cannot be cast to Property", value.ClassName(v))
}
