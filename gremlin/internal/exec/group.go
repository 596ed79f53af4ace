package exec

import (
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// grouping collects rows by key and reduces each group.
type grouping struct {
	run      *run
	key      projector
	keys     value.Keys
	kind     groupValue
	reserve  func(int64) error // reserves memory
	reserved int64             // reserved memory of the latest results
}

// groupValue reduces the rows of a group to a value.
type groupValue interface {
	// addGroup adds an empty group.
	addGroup()
	// add adds row i of in to a group.
	add(group int, in *batch, i int) error
	// result returns the value of a group, or false for none.
	result(group int) (graph.Value, bool, error)
	// isLazy reports whether results are computed from stored rows on demand, so that
	// they need additional memory.
	isLazy() bool
	// reset removes all groups.
	reset()
}

func (r *run) newGrouping(key, val *plan.By, reserve func(int64) error) (*grouping, error) {
	k, err := r.projector(key)
	if err != nil {
		return nil, err
	}
	g := &grouping{run: r, key: k, reserve: reserve}
	g.kind, err = r.groupValue(val, reserve)
	return g, err
}

// groupValue selects the cheapest implementation of the second by() of a group:
// a list of values, an incremental reduction, the result of the last row for a
// traversal without barriers, or a traversal over all rows of the group.
func (r *run) groupValue(val *plan.By, reserve func(int64) error) (groupValue, error) {
	if val == nil || val.Kind != plan.ByTraversal {
		p, err := r.projector(val)
		return &groupLists{run: r, by: p, reserve: reserve}, err
	}
	steps := val.Traversal.Steps
	index := slices.IndexFunc(steps, isBarrier)
	if index < 0 {
		c, err := r.newChild(val.Traversal)
		return &groupLast{run: r, reserve: reserve, c: c, productive: val.Productive}, err
	}
	newReduction := r.reduction(steps[index])
	if newReduction == nil || val.Productive {
		c, err := r.newChild(val.Traversal)
		return &groupRows{run: r, reserve: reserve, c: c, productive: val.Productive}, err
	}
	g := &groupReductions{run: r, reserve: reserve, newReduction: newReduction, simple: index == 0}
	if _, ok := steps[index].(*plan.Count); ok {
		g.count = r.walk(steps[:index], graph.KindVertex)
	}
	var err error
	if g.pre, err = r.newChild(&plan.Traversal{Steps: steps[:index]}); err != nil {
		return nil, err
	}
	if index+1 < len(steps) {
		g.post, err = r.newChild(&plan.Traversal{Steps: steps[index+1:]})
	}
	return g, err
}

// reduction returns a constructor of the reduction of a step, if it is incremental.
func (r *run) reduction(s plan.Step) func() reduction {
	switch s := s.(type) {
	case *plan.Count:
		return func() reduction { return &counting{} }
	case *plan.Reduce:
		return func() reduction { return &arithmetic{op: s.Op} }
	case *plan.Fold:
		return func() reduction { return newFolding(r, s) }
	}
	return nil
}

// isBarrier reports whether a step needs its whole input.
func isBarrier(s plan.Step) bool {
	switch s := s.(type) {
	case *plan.Count, *plan.Reduce, *plan.Fold, *plan.Order, *plan.Dedup, *plan.Range, *plan.Tail, *plan.Sample, *plan.Cap:
		return true
	case *plan.Group:
		return s.SideEffect == ""
	case *plan.GroupCount:
		return s.SideEffect == ""
	case *plan.TreeOf:
		return s.SideEffect == ""
	}
	return false
}

// add puts row i of in into its group.
func (g *grouping) add(in *batch, i int) error {
	k, ok, err := g.key.row(in, i)
	if err != nil || !ok {
		return err
	}
	bytes, err := g.run.sizeOf(k)
	if err != nil {
		return err
	}
	index, fresh := g.keys.Put(g.run.canonical(k))
	if fresh {
		g.kind.addGroup()
		if err := g.reserve(groupBytes + bytes); err != nil {
			return err
		}
	}
	return g.kind.add(index, in, i)
}

// value returns the map of the groups.
func (g *grouping) value() (graph.Value, error) {
	if err := g.reserve(-g.reserved); err != nil { // release the previous results
		return graph.Null, err
	}
	g.reserved = 0
	es := make([]graph.Entry, 0, g.keys.Len())
	for i, k := range g.keys.All() {
		v, ok, err := g.kind.result(i)
		if err != nil {
			return graph.Null, err
		}
		if !ok {
			continue
		}
		if g.kind.isLazy() {
			bytes, err := g.run.sizeOf(v)
			if err != nil {
				return graph.Null, err
			}
			g.reserved += bytes
			if err := g.reserve(bytes); err != nil {
				return graph.Null, err
			}
		}
		es = append(es, graph.Entry{Key: k, Value: v})
	}
	return graph.Map(es...), g.run.meter.spend(len(es))
}

// reset removes all groups. The owner of their memory must release it.
func (g *grouping) reset() {
	g.reserved = 0
	if g.keys.Len() > 0 {
		g.keys = value.Keys{}
		g.kind.reset()
	}
}

// groupLists collects the values of a by() in lists.
type groupLists struct {
	run     *run
	reserve func(int64) error
	by      projector
	lists   []valueList
}

func (g *groupLists) reset()       { g.lists = nil }
func (g *groupLists) isLazy() bool { return false }

func (g *groupLists) addGroup() { g.lists = append(g.lists, valueList{}) }

func (g *groupLists) add(group int, in *batch, i int) error {
	v, ok, err := g.by.row(in, i)
	if err != nil || !ok {
		return err
	}
	bytes, err := g.run.append(&g.lists[group], v, in.count(i))
	if err != nil {
		return err
	}
	return g.reserve(bytes)
}

func (g *groupLists) result(group int) (graph.Value, bool, error) {
	v, err := g.run.list(&g.lists[group])
	return v, true, err
}

// groupLast runs a traversal for each row. It keeps the first result for the last row that has one.
type groupLast struct {
	run        *run
	reserve    func(int64) error
	c          *child
	productive bool
	vals       []graph.Value
	present    []bool
}

func (g *groupLast) reset()       { g.vals, g.present = nil, nil }
func (g *groupLast) isLazy() bool { return false }

func (g *groupLast) addGroup() {
	g.vals = append(g.vals, graph.Null)
	g.present = append(g.present, g.productive)
}

func (g *groupLast) add(group int, in *batch, i int) error {
	v, ok, err := g.c.first(in, i)
	if err != nil || !ok {
		return err
	}
	before, err := g.run.sizeOf(g.vals[group])
	if err != nil {
		return err
	}
	bytes, err := g.run.sizeOf(v)
	if err != nil {
		return err
	}
	g.vals[group], g.present[group] = v, true
	return g.reserve(bytes - before)
}

func (g *groupLast) result(group int) (graph.Value, bool, error) {
	return g.vals[group], g.present[group], nil
}

// groupReductions reduces each group incrementally.
type groupReductions struct {
	run          *run
	reserve      func(int64) error
	newReduction func() reduction
	pre          *child // the steps before the reduction
	simple       bool   // no steps precede the reduction
	count        *walk  // the walk whose results are counted, if the reduction is a count
	post         *child // the steps after the reduction, or nil
	reductions   []reduction
}

func (g *groupReductions) reset()       { g.reductions = nil }
func (g *groupReductions) isLazy() bool { return g.post != nil }

func (g *groupReductions) addGroup() { g.reductions = append(g.reductions, g.newReduction()) }

func (g *groupReductions) add(group int, in *batch, i int) error {
	red := g.reductions[group]
	if g.simple {
		return g.reduce(red, in, i)
	}
	if g.count != nil && in.kind == graph.KindVertex {
		n, err := mulBulk(in.count(i), g.count.count(in.ids[i], 0))
		if err != nil {
			return err
		}
		c := red.(*counting)
		if c.n, err = addBulk(c.n, n); err != nil {
			return err
		}
		return g.run.meter.err
	}
	return g.pre.startBulk(in, i, func(b *batch) error {
		for j := range b.len() {
			if err := g.reduce(red, b, j); err != nil {
				return err
			}
		}
		return nil
	})
}

func (g *groupReductions) reduce(red reduction, in *batch, i int) error {
	bytes, err := red.add(in, i)
	if err != nil || bytes == 0 {
		return err
	}
	return g.reserve(bytes)
}

func (g *groupReductions) result(group int) (graph.Value, bool, error) {
	v, ok, err := g.reductions[group].result()
	if err != nil || !ok || g.post == nil {
		return v, ok, err
	}
	w, ok, err := g.post.firstOf(v)
	if err == nil && !ok {
		return v, true, nil // steps after the reduction do not filter groups
	}
	return w, ok, err
}

// groupRows stores the rows of each group and runs a traversal over them.
type groupRows struct {
	run        *run
	reserve    func(int64) error
	c          *child
	productive bool
	rows       []batch
}

func (g *groupRows) reset()       { g.rows = nil }
func (g *groupRows) isLazy() bool { return true }

func (g *groupRows) addGroup() { g.rows = append(g.rows, batch{}) }

func (g *groupRows) add(group int, in *batch, i int) error {
	g.rows[group].appendRow(in, i)
	bytes, err := g.run.rowCost(in, i)
	if err != nil {
		return err
	}
	return g.reserve(bytes)
}

func (g *groupRows) result(group int) (graph.Value, bool, error) {
	var rows batch // a copy, because operators change their input
	rows.copyOf(&g.rows[group])
	v, ok, err := g.c.firstOfAll(&rows)
	if !ok && g.productive {
		return graph.Null, true, err
	}
	return v, ok, err
}

// groupOp groups its whole input.
type groupOp struct {
	output
	g *grouping
}

func (r *run) groupOp(s *plan.Group, next op) (op, error) {
	if s.SideEffect != "" {
		return r.groupEffect(s, next)
	}
	o := &groupOp{output: r.output(s, next)}
	var err error
	o.g, err = r.newGrouping(s.Key, s.Value, o.reserve)
	return o, err
}

func (o *groupOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	for i := range n {
		if err := o.g.add(b, i); err != nil {
			return err
		}
	}
	return nil
}

func (o *groupOp) finish() error {
	v, err := o.g.value()
	o.g.reset()
	if err != nil {
		return err
	}
	if err := o.emitReduced(v); err != nil {
		return err
	}
	return o.flush()
}

func (o *groupOp) reset() {
	o.g.reset()
	o.output.reset()
}

// counts counts by key.
type counts struct {
	run  *run
	key  projector
	keys value.Keys
	n    []int64
}

// add counts row i of in. It returns the memory to reserve: 0 unless the key is new.
func (c *counts) add(in *batch, i int) (int64, error) {
	k, ok, err := c.key.row(in, i)
	if err != nil || !ok {
		return 0, err
	}
	bytes, err := c.run.sizeOf(k)
	if err != nil {
		return 0, err
	}
	fresh, err := c.put(c.run.canonical(k), in.count(i))
	if err != nil || !fresh {
		return 0, err
	}
	return groupBytes + bytes, nil
}

// put adds n to the count of k and reports whether k is new.
func (c *counts) put(k graph.Value, n int64) (fresh bool, err error) {
	index, fresh := c.keys.Put(k)
	if fresh {
		c.n = append(c.n, 0)
	}
	c.n[index], err = addBulk(c.n[index], n)
	return fresh, err
}

func (c *counts) value() graph.Value {
	es := make([]graph.Entry, c.keys.Len())
	for i, k := range c.keys.All() {
		es[i] = graph.Entry{Key: k, Value: graph.Long(c.n[i])}
	}
	return graph.Map(es...)
}

// groupCountOp counts its whole input by key.
type groupCountOp struct {
	output
	counts
	tally *tally
}

func (r *run) groupCountOp(s *plan.GroupCount, next op) (op, error) {
	key, err := r.projector(s.By)
	if s.SideEffect != "" {
		return r.groupCountEffect(s, key, next), err
	}
	o := &groupCountOp{output: r.output(s, next), counts: counts{run: r, key: key}}
	if err == nil {
		o.tally = r.newTally(&o.counts, o.reserve)
	}
	return o, err
}

func (o *groupCountOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	if o.tally != nil {
		if done, err := o.tally.add(b); done || err != nil {
			return err
		}
	}
	for i := range n {
		bytes, err := o.add(b, i)
		if err != nil {
			return err
		}
		if bytes > 0 {
			if err := o.reserve(bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *groupCountOp) finish() error {
	if o.tally != nil {
		if err := o.tally.flush(); err != nil {
			return err
		}
	}
	v := o.value()
	o.counts = counts{run: o.counts.run, key: o.key}
	if err := o.emitReduced(v); err != nil {
		return err
	}
	return o.flush()
}

func (o *groupCountOp) reset() {
	if o.tally != nil {
		o.tally.clear()
	}
	o.counts = counts{run: o.counts.run, key: o.key}
	o.output.reset()
}
