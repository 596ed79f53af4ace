package exec

import (
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// A child is a traversal that is run for one row at a time: the argument of a
// where(), a by(), a map().
type child struct {
	run *run
	chain
	one  batch
	take func(*batch) error // who gets the results of the current row
	way  bool               // paths matter: that of a value starts with it

	found bool
	value graph.Value
}

// newChild builds the operators of a traversal.
func (r *run) newChild(t *plan.Traversal) (*child, error) {
	c := &child{run: r, way: plan.LooksAtPaths(t)}
	r.whereEnds = append(r.whereEnds, whereTargetOf(t))
	flow := r.flow
	r.flow = nil
	var err error
	c.chain, err = r.linkWithin(t.Steps, &sink{take: func(b *batch) error { return c.take(b) }})
	r.flow = flow
	r.whereEnds = r.whereEnds[:len(r.whereEnds)-1]
	return c, err
}

// laterChild is a child that is built when it is first needed: most are not,
// since there is a shorter way for vertices.
type laterChild struct {
	run     *run
	t       *plan.Traversal
	negated bool
	loops   []*repeatOp
	child   *child
}

func (r *run) later(t *plan.Traversal) *laterChild {
	return &laterChild{run: r, t: t, negated: r.negated, loops: slices.Clone(r.loops)}
}

func (l *laterChild) get() (*child, error) {
	if l.child != nil {
		return l.child, nil
	}
	r := l.run
	negated, loops := r.negated, r.loops
	r.negated, r.loops = l.negated, l.loops
	defer func() { r.negated, r.loops = negated, loops }()
	var err error
	l.child, err = r.newChild(l.t)
	return l.child, err
}

func (l *laterChild) first(in *batch, i int) (graph.Value, bool, error) {
	c, err := l.get()
	if err != nil {
		return graph.Null, false, err
	}
	return c.first(in, i)
}

func (l *laterChild) firstOf(v graph.Value) (graph.Value, bool, error) {
	c, err := l.get()
	if err != nil {
		return graph.Null, false, err
	}
	return c.firstOf(v)
}

// whereTargetOf returns what the end of t looks for, if t is that of a where().
func whereTargetOf(t *plan.Traversal) *whereTarget {
	target := &whereTarget{}
	if n := len(t.Steps); n > 0 {
		if end, ok := t.Steps[n-1].(*plan.WhereEnd); ok {
			target.label = end.Label
		}
	}
	return target
}

// start runs the traversal for a row, with a bulk of one.
func (c *child) start(in *batch, i int, take func(*batch) error) error {
	c.one.clear()
	c.one.appendRow(in, i)
	if c.one.bulk != nil {
		c.one.bulk[0] = 1
	}
	return c.feed(take)
}

// startBulk runs the traversal for a row with all its bulk.
func (c *child) startBulk(in *batch, i int, take func(*batch) error) error {
	c.one.clear()
	c.one.appendRow(in, i)
	return c.feed(take)
}

// startValue runs the traversal for a value that came from nowhere.
func (c *child) startValue(v graph.Value, take func(*batch) error) error {
	c.one.clear()
	c.one.bulk, c.one.path, c.one.sack, c.one.from = nil, nil, nil, nil
	switch v.Kind() {
	case graph.KindVertex, graph.KindEdge:
		c.one.kind = v.Kind()
		c.one.ids = append(c.one.ids, v.Handle())
	default:
		c.one.vals = append(c.one.vals, v)
	}
	if c.run.sackInit != nil {
		c.one.sack = append(c.one.sack, *c.run.sackInit)
	}
	if c.way {
		c.one.path = []*node{extend(nil, v, nil)}
	}
	return c.feed(take)
}

func (c *child) feed(take func(*batch) error) error { return c.feedAll(&c.one, take) }

// feedAll runs the traversal for several rows at once.
func (c *child) feedAll(rows *batch, take func(*batch) error) error {
	if err := c.run.meter.spend(1); err != nil {
		return err
	}
	c.reset()
	c.take = take
	err := c.push(rows)
	if err != nil && err != errDone {
		return err
	}
	return c.finish()
}

func (c *child) keepFirst(b *batch) error {
	if b.len() == 0 {
		return nil
	}
	if !c.found {
		c.found = true
		c.value = b.value(0)
	}
	return errDone
}

// first returns the first result for a row.
func (c *child) first(in *batch, i int) (graph.Value, bool, error) {
	c.found = false
	err := c.start(in, i, c.keepFirst)
	return c.value, c.found, err
}

// firstOf returns the first result for a value.
func (c *child) firstOf(v graph.Value) (graph.Value, bool, error) {
	c.found = false
	err := c.startValue(v, c.keepFirst)
	return c.value, c.found, err
}

// firstOfAll returns the first result for several rows together.
func (c *child) firstOfAll(rows *batch) (graph.Value, bool, error) {
	c.found = false
	err := c.feedAll(rows, c.keepFirst)
	return c.value, c.found, err
}

// exists reports whether there is a result for a row.
func (c *child) exists(in *batch, i int) (bool, error) {
	_, ok, err := c.first(in, i)
	return ok, err
}

// projector is what a by() looks at.
type projector interface {
	// row returns what it finds for a row, or false for nothing.
	row(in *batch, i int) (graph.Value, bool, error)
	// of returns what it finds for a value.
	of(v graph.Value) (graph.Value, bool, error)
}

// projectors builds the by() modulators of a step; with none, the object itself
// is looked at.
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
			if s.One && len(s.Bys) == 0 && plainInfo(s) && len(s.Info().Forget) == 0 {
				return &selectedBy{run: r, name: s.Keys[0], pop: s.Pop}
			}
		}
	}
	return nil
}

// walkBy recognises traversals that can be walked: a count, or a list, of what
// moves and tests lead to.
func (r *run) walkBy(t *plan.Traversal) projector {
	n := len(t.Steps)
	if n == 0 {
		return nil
	}
	switch end := t.Steps[n-1].(type) {
	case *plan.Count:
		if w := r.walk(t.Steps[:n-1], graph.KindVertex); w != nil {
			return &countBy{laterChild: r.later(t), w: w}
		}
	case *plan.Fold:
		if end.Reduce == "" {
			return r.foldBy(t)
		}
	case *plan.Properties:
		if !end.Values || len(end.Keys) != 1 || end.Filter != nil || !plainInfo(end) {
			return nil
		}
		if w := r.walk(t.Steps[:n-1], graph.KindVertex); w != nil && w.end == graph.KindVertex {
			return &valueBy{laterChild: r.later(t), w: w, key: r.keyOf(end.Keys[0])}
		}
	}
	return nil
}

// foldBy recognises lists of vertices, or of the values of a key.
func (r *run) foldBy(t *plan.Traversal) projector {
	p := &listBy{laterChild: r.later(t)}
	steps := t.Steps[:len(t.Steps)-1]
	if n := len(steps); n > 0 {
		if v, ok := steps[n-1].(*plan.Properties); ok {
			if !v.Values || len(v.Keys) != 1 || v.Filter != nil || !plainInfo(v) {
				return nil
			}
			p.key = r.keyOf(v.Keys[0])
			steps = steps[:n-1]
		}
	}
	if p.w = r.walk(steps, graph.KindVertex); p.w == nil || p.w.end != graph.KindVertex {
		return nil
	}
	return p
}

// countBy counts what a walk leads to.
type countBy struct {
	*laterChild
	w *walk
}

func (p *countBy) row(in *batch, i int) (graph.Value, bool, error) {
	if in.kind != graph.KindVertex {
		return p.first(in, i)
	}
	return graph.Long(p.w.count(in.ids[i], 0)), true, p.run.meter.err
}

func (p *countBy) of(v graph.Value) (graph.Value, bool, error) {
	if v.Kind() != graph.KindVertex {
		return p.firstOf(v)
	}
	return graph.Long(p.w.count(v.Handle(), 0)), true, p.run.meter.err
}

// valueBy is the first value of a key that a walk leads to.
type valueBy struct {
	*laterChild
	w   *walk
	key *keyBy
}

func (p *valueBy) row(in *batch, i int) (graph.Value, bool, error) {
	if in.kind != graph.KindVertex {
		return p.first(in, i)
	}
	return p.find(in.ids[i])
}

func (p *valueBy) of(v graph.Value) (graph.Value, bool, error) {
	if v.Kind() != graph.KindVertex {
		return p.firstOf(v)
	}
	return p.find(v.Handle())
}

func (p *valueBy) find(from graph.Handle) (v graph.Value, ok bool, err error) {
	err = p.w.each(from, func(h graph.Handle) error {
		if v, ok = p.key.vertex(h); ok {
			return errDone
		}
		return nil
	})
	if err == errDone {
		err = nil
	}
	if err == nil {
		err = p.run.meter.err
	}
	return v, ok, err
}

// selectedBy is the projector of by(select("name")).
type selectedBy struct {
	run  *run
	name string
	pop  plan.Pop
}

func (p *selectedBy) row(in *batch, i int) (graph.Value, bool, error) {
	return p.run.scoped(in, i, p.name, p.pop)
}

func (p *selectedBy) of(v graph.Value) (graph.Value, bool, error) {
	one := batch{vals: []graph.Value{v}}
	return p.run.scoped(&one, 0, p.name, p.pop)
}

// listBy lists what a walk leads to: vertices, or their values of a key.
type listBy struct {
	*laterChild
	w   *walk
	key *keyBy
}

func (p *listBy) row(in *batch, i int) (graph.Value, bool, error) {
	if in.kind != graph.KindVertex {
		return p.first(in, i)
	}
	return p.list(in.ids[i])
}

func (p *listBy) of(v graph.Value) (graph.Value, bool, error) {
	if v.Kind() != graph.KindVertex {
		return p.firstOf(v)
	}
	return p.list(v.Handle())
}

func (p *listBy) list(from graph.Handle) (graph.Value, bool, error) {
	var out []graph.Value
	bytes := int64(0)
	err := p.w.each(from, func(h graph.Handle) error {
		before := len(out)
		if p.key == nil {
			out = append(out, graph.VertexOf(h))
		} else {
			out = p.key.appendAll(out, h)
		}
		bytes += listBytes * int64(len(out)-before)
		return p.run.meter.once(bytes)
	})
	if err == nil {
		err = p.run.meter.err
	}
	return graph.List(out...), true, err
}

type identity struct{}

func (identity) row(in *batch, i int) (graph.Value, bool, error) { return in.value(i), true, nil }
func (identity) of(v graph.Value) (graph.Value, bool, error)     { return v, true, nil }

type constant struct{ v graph.Value }

func (c constant) row(*batch, int) (graph.Value, bool, error) { return c.v, true, nil }
func (c constant) of(graph.Value) (graph.Value, bool, error)  { return c.v, true, nil }

type childBy struct{ c *child }

func (p childBy) row(in *batch, i int) (graph.Value, bool, error) { return p.c.first(in, i) }
func (p childBy) of(v graph.Value) (graph.Value, bool, error)     { return p.c.firstOf(v) }

// mustBy is a projector that has to find something.
type mustBy struct {
	run *run
	projector
}

func (p mustBy) row(in *batch, i int) (graph.Value, bool, error) {
	v, ok, err := p.projector.row(in, i)
	if err == nil && !ok {
		err = value.Errorf("The provided traverser does not map to a value: %s", value.Text(p.run, in.value(i)))
	}
	return v, ok, err
}

// productive finds null where there is nothing.
type productive struct{ projector }

func (p productive) row(in *batch, i int) (graph.Value, bool, error) {
	v, ok, err := p.projector.row(in, i)
	if !ok {
		v = graph.Null
	}
	return v, true, err
}

func (p productive) of(v graph.Value) (graph.Value, bool, error) {
	w, ok, err := p.projector.of(v)
	if !ok {
		w = graph.Null
	}
	return w, true, err
}
