package exec

import (
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
)

// A child is a nested traversal that is run for one row at a time: the argument
// of a where(), by() or map().
type child struct {
	run *run
	chain
	one       batch
	take      func(*batch) error // receiver of the results of the current row
	done      bool               // take needs no more results
	needsPath bool               // the traversal uses paths: startValue begins one with its value

	// Set by keepFirst.
	found bool
	value graph.Value // the first result
}

// newChild builds the operators of a traversal.
func (r *run) newChild(t *plan.Traversal) (*child, error) {
	c := &child{run: r, needsPath: plan.LooksAtPaths(t)}
	r.whereEnds = append(r.whereEnds, whereTargetOf(t))
	flow := r.flow
	r.flow = nil
	var err error
	c.chain, err = r.linkWithin(t.Steps, &sink{take: c.pass})
	r.flow = flow
	r.whereEnds = r.whereEnds[:len(r.whereEnds)-1]
	return c, err
}

// pass gives results to the receiver until it needs no more.
func (c *child) pass(b *batch) error {
	if c.done {
		return errDone
	}
	err := c.take(b)
	c.done = err == errDone
	return err
}

// lazyChild is a child that is built on first use. Most are never used, because
// there is a fast path for vertices.
type lazyChild struct {
	run     *run
	t       *plan.Traversal
	negated bool        // run.negated at the place of the traversal
	loops   []*repeatOp // run.loops at that place
	child   *child      // nil before the first use
}

func (r *run) newLazyChild(t *plan.Traversal) *lazyChild {
	return &lazyChild{run: r, t: t, negated: r.negated, loops: slices.Clone(r.loops)}
}

func (l *lazyChild) get() (*child, error) {
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

func (l *lazyChild) first(in *batch, i int) (graph.Value, bool, error) {
	c, err := l.get()
	if err != nil {
		return graph.Null, false, err
	}
	return c.first(in, i)
}

func (l *lazyChild) firstOf(v graph.Value) (graph.Value, bool, error) {
	c, err := l.get()
	if err != nil {
		return graph.Null, false, err
	}
	return c.firstOf(v)
}

// whereTargetOf returns the target of t. Its label is empty unless t is the argument of a where()
// and ends at a label.
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

// startValue runs the traversal for a value without a path.
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
	if c.needsPath {
		path, err := c.run.lengthen(nil, v, nil)
		if err != nil {
			return err
		}
		c.one.path = []*node{path}
	}
	return c.feed(take)
}

func (c *child) feed(take func(*batch) error) error { return c.feedAll(&c.one, take) }

// feedAll runs the traversal for several rows at once. It returns errDone only if take did.
func (c *child) feedAll(rows *batch, take func(*batch) error) error {
	if err := c.run.meter.spend(1); err != nil {
		return err
	}
	c.reset()
	c.take, c.done = take, false
	err := c.push(rows)
	if !c.done && (err == nil || err == errDone) {
		err = c.finish()
	}
	if c.done && err == nil {
		return errDone
	}
	return err
}

func ignoreDone(err error) error {
	if err == errDone {
		return nil
	}
	return err
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
	err := ignoreDone(c.start(in, i, c.keepFirst))
	return c.value, c.found, err
}

// firstOf returns the first result for a value.
func (c *child) firstOf(v graph.Value) (graph.Value, bool, error) {
	c.found = false
	err := ignoreDone(c.startValue(v, c.keepFirst))
	return c.value, c.found, err
}

// firstOfAll returns the first result for several rows together.
func (c *child) firstOfAll(rows *batch) (graph.Value, bool, error) {
	c.found = false
	err := ignoreDone(c.feedAll(rows, c.keepFirst))
	return c.value, c.found, err
}

// exists reports whether there is a result for a row.
func (c *child) exists(in *batch, i int) (bool, error) {
	_, ok, err := c.first(in, i)
	return ok, err
}
