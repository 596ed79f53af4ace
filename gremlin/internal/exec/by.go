package exec

import (
	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// projector evaluates a by() modulator.
type projector interface {
	// row returns the value for a row, or false for none.
	row(in *batch, i int) (graph.Value, bool, error)
	// project returns the value for an object.
	project(v graph.Value) (graph.Value, bool, error)
}

// projectors builds the by() modulators of a step. Without any, it returns the identity.
func (r *run) projectors(bys []plan.By) ([]projector, error) {
	if len(bys) == 0 {
		return []projector{identity{}}, nil
	}
	out := make([]projector, len(bys))
	for i := range bys {
		p, err := r.projector(&bys[i])
		if err != nil {
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}

func (r *run) projector(by *plan.By) (projector, error) {
	if by == nil {
		return identity{}, nil
	}
	var p projector = identity{}
	switch by.Kind {
	case plan.ByKey:
		p = r.keyOf(by.Key)
	case plan.ByPart:
		p = &partOf{run: r, part: by.Part}
	case plan.ByTraversal:
		q, err := r.traversalBy(by.Traversal)
		if err != nil {
			return nil, err
		}
		p = q
	}
	if by.Productive {
		return productive{p}, nil
	}
	return p, nil
}

func (r *run) traversalBy(t *plan.Traversal) (projector, error) {
	if p := r.simpleBy(t); p != nil {
		return p, nil
	}
	if p := r.walkBy(t); p != nil {
		return p, nil
	}
	c, err := r.newChild(t)
	return childBy{c}, err
}

// simpleBy recognises traversals that need no operators.
func (r *run) simpleBy(t *plan.Traversal) projector {
	if len(t.Steps) == 1 {
		switch s := t.Steps[0].(type) {
		case *plan.Identity:
			return identity{}
		case *plan.Constant:
			return constant{s.Value}
		case *plan.ElementPart:
			return &partOf{run: r, part: s.Part}
		case *plan.Select:
			if s.One && len(s.Bys) == 0 && needsNoPath(s) && len(s.Info().Forget) == 0 {
				return &selectedBy{run: r, name: s.Keys[0], pop: s.Pop}
			}
		}
	}
	return nil
}

type identity struct{}

func (identity) row(in *batch, i int) (graph.Value, bool, error)  { return in.value(i), true, nil }
func (identity) project(v graph.Value) (graph.Value, bool, error) { return v, true, nil }

type constant struct{ v graph.Value }

func (c constant) row(*batch, int) (graph.Value, bool, error)     { return c.v, true, nil }
func (c constant) project(graph.Value) (graph.Value, bool, error) { return c.v, true, nil }

type childBy struct{ c *child }

func (b childBy) row(in *batch, i int) (graph.Value, bool, error)  { return b.c.first(in, i) }
func (b childBy) project(v graph.Value) (graph.Value, bool, error) { return b.c.firstOf(v) }

// mustBy is a projector that fails when there is no value.
type mustBy struct {
	run *run
	projector
}

func (b mustBy) row(in *batch, i int) (graph.Value, bool, error) {
	v, ok, err := b.projector.row(in, i)
	if err == nil && !ok {
		err = value.Errorf("The provided traverser does not map to a value: %s", value.Text(b.run, in.value(i)))
	}
	return v, ok, err
}

// productive yields null when there is no value.
type productive struct{ projector }

func (p productive) row(in *batch, i int) (graph.Value, bool, error) {
	v, ok, err := p.projector.row(in, i)
	if !ok {
		v = graph.Null
	}
	return v, true, err
}

func (p productive) project(v graph.Value) (graph.Value, bool, error) {
	w, ok, err := p.projector.project(v)
	if !ok {
		w = graph.Null
	}
	return w, true, err
}
