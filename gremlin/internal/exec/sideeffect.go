package exec

import (
	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// sideEffects holds the side effects of a run by name.
type sideEffects struct {
	run    *run
	byName map[string]*sideEffect
}

// A sideEffect is one side effect: the value that was collected under a name. The value is val
// if scalar is set, list if isList is set, or the one pointer that is not nil. The side effect of
// a group() has none of these until the operator of the step is built.
type sideEffect struct {
	reduce plan.Operator // combines the value with added ones; "" for the default
	scalar bool
	val    graph.Value // a value that an operator changes
	bytes  int64       // its reserved memory
	isList bool
	list   valueList // a growing list
	bulk   *value.BulkSet
	set    *value.Keys // a growing set
	group  *grouping
	counts *counts
	tree   *value.Tree
	sub    *value.Subgraph

	version       int         // number of additions to group or counts
	cached        graph.Value // the map of group or counts, as of cachedVersion
	cachedVersion int
}

// newSideEffects creates all side effects of a plan, so that empty ones exist
// before anything is added.
func newSideEffects(r *run) *sideEffects {
	s := &sideEffects{run: r, byName: map[string]*sideEffect{}}
	for _, init := range r.root.SideEffects {
		s.byName[init.Key] = newSideEffect(init.Initial, init.Reduce)
	}
	for key, v := range r.opt.Side {
		s.byName[key] = newSideEffect(v, "")
	}
	plan.Walk(&r.root.Traversal, func(step plan.Step) {
		switch t := step.(type) {
		case *plan.Aggregate:
			s.register(t.SideEffect, func() *sideEffect { return &sideEffect{bulk: &value.BulkSet{}} })
		case *plan.Group:
			s.register(t.SideEffect, func() *sideEffect { return &sideEffect{} }) // see groupEffect
		case *plan.GroupCount:
			s.register(t.SideEffect, func() *sideEffect { return &sideEffect{counts: &counts{}} })
		case *plan.TreeOf:
			s.register(t.SideEffect, func() *sideEffect { return &sideEffect{tree: &value.Tree{}} })
		case *plan.SubgraphOf:
			s.register(t.SideEffect, func() *sideEffect { return &sideEffect{sub: &value.Subgraph{}} })
		}
	})
	return s
}

// newSideEffect returns a side effect with an initial value. If the value is a set or list, and
// the operator is "" or addAll, steps add values to it.
func newSideEffect(v graph.Value, op plan.Operator) *sideEffect {
	if op == "" || op == "addAll" {
		switch v.Kind() {
		case graph.KindSet:
			s := &sideEffect{set: &value.Keys{}, reduce: "addAll"}
			for _, x := range v.Elems() {
				s.set.Put(x)
			}
			return s
		case graph.KindList:
			s := &sideEffect{isList: true, reduce: "addAll"}
			for _, x := range v.Elems() {
				s.list.add(x, 1)
			}
			return s
		}
	}
	return &sideEffect{val: v, scalar: true, reduce: op}
}

func (s *sideEffects) register(key string, make func() *sideEffect) {
	if key != "" && s.byName[key] == nil {
		s.byName[key] = make()
	}
}

func (s *sideEffects) has(key string) bool { return s.byName[key] != nil }

// value returns the value of a side effect.
func (s *sideEffects) value(key string) (graph.Value, error) {
	e := s.byName[key]
	switch {
	case e == nil:
		return graph.Null, value.Errorf("The side-effect key does not exist in the side-effects: %s", key)
	case e.scalar:
		return e.val, nil
	case e.bulk != nil:
		return graph.Opaque(e.bulk), nil
	case e.isList:
		if err := s.run.meter.checkSize(24 * int64(e.list.len())); err != nil {
			return graph.Null, err
		}
		return s.run.list(&e.list)
	case e.set != nil:
		return graph.Set(e.set.All()...), nil
	case e.tree != nil:
		return graph.Opaque(e.tree), nil
	case e.sub != nil:
		return graph.Opaque(e.sub), nil
	}
	return s.snapshot(e)
}

// snapshot returns the map of a group side effect. It is computed again only after additions.
func (s *sideEffects) snapshot(e *sideEffect) (graph.Value, error) {
	if e.cachedVersion == e.version && e.cached.Kind() == graph.KindMap {
		return e.cached, nil
	}
	var v graph.Value
	var err error
	switch {
	case e.counts != nil:
		if err = s.run.meter.spend(e.counts.keys.Len()); err == nil {
			v = e.counts.value()
		}
	case e.group != nil:
		v, err = e.group.value()
	default:
		v = graph.Map()
	}
	e.cached, e.cachedVersion = v, e.version
	return v, err
}

// add adds v n times to a collection, or applies the operator of the side effect.
func (e *sideEffect) add(r *run, v graph.Value, n int64) (int64, error) {
	bytes, err := r.sizeOf(v)
	if err != nil {
		return 0, err
	}
	v = freeze(v)
	if e.isList {
		return r.append(&e.list, v, n)
	}
	switch {
	case e.bulk != nil:
		if fresh, err := e.bulk.Add(v, n); err != nil || !fresh {
			return 0, err
		}
		return bytes + keyBytes, nil
	case e.set != nil:
		if _, fresh := e.set.Put(v); fresh {
			return bytes + keyBytes, nil
		}
		return 0, nil
	}
	op := e.reduce
	if op == "" {
		op = "assign"
	}
	before := e.bytes
	if op == "addAll" {
		v = graph.List(v)
	}
	for range n {
		if err := r.meter.spend(1); err != nil { // not all at once, so that the clock is checked in between
			return 0, err
		}
		if e.val, err = r.operate(op, e.val, v); err != nil {
			return 0, err
		}
		if e.bytes, err = r.checkSize(e.val); err != nil {
			return 0, err
		}
	}
	return e.bytes - before, nil
}

// effectOp updates a side effect for every row. It passes the rows on when it has seen all of them.
type effectOp struct {
	store
	update func(in *batch, i int) (int64, error)
}

func (o *effectOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	for i := range n {
		bytes, err := o.update(b, i)
		if err != nil {
			return err
		}
		// The memory is reserved until the run ends.
		if bytes > 0 {
			if err := o.run.meter.reserve(bytes); err != nil {
				return err
			}
		}
		if err := o.add(b, i); err != nil {
			return err
		}
	}
	return nil
}

func (o *effectOp) finish() error { return o.drain() }

func (r *run) newRowEffect(next op, update func(in *batch, i int) (int64, error)) op {
	return &effectOp{store: store{base: base{run: r, next: next}}, update: update}
}

// aggregateOp collects values under a name. The values of one input become
// visible together at its end.
type aggregateOp struct {
	store
	by      projector
	effect  *sideEffect
	pending value.BulkSet
}

func (o *aggregateOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	for i := range n {
		v, ok, err := o.by.row(b, i)
		if err != nil {
			return err
		}
		if ok {
			bytes, err := o.run.sizeOf(v)
			if err != nil {
				return err
			}
			fresh, err := o.pending.Add(o.run.canonical(v), b.count(i))
			if err != nil {
				return err
			}
			if fresh {
				if err := o.reserve(keyBytes + bytes); err != nil {
					return err
				}
			}
		}
		if err := o.add(b, i); err != nil {
			return err
		}
	}
	return nil
}

func (o *aggregateOp) finish() error {
	if o.effect.reduce == "assign" {
		return o.replace()
	}
	for i := range o.pending.Len() {
		v, n := o.pending.At(i)
		bytes, err := o.effect.add(o.run, v, n)
		if err != nil {
			return err
		}
		// The memory is reserved until the run ends.
		if err := o.run.meter.reserve(bytes); err != nil {
			return err
		}
	}
	o.pending = value.BulkSet{}
	return o.drain()
}

// replace makes the collected values the value of the side effect.
func (o *aggregateOp) replace() error {
	if o.rows.len() == 0 {
		return nil
	}
	all := o.pending
	o.pending = value.BulkSet{}
	o.effect.val = graph.Opaque(&all)
	bytes, err := o.run.sizeOf(o.effect.val)
	if err != nil {
		return err
	}
	if err := o.run.meter.reserve(bytes); err != nil {
		return err
	}
	return o.drain()
}

func (o *aggregateOp) reset() {
	o.pending = value.BulkSet{}
	o.store.reset()
}

// effectOperator builds the operators with side effects, and a few others.
func (r *run) effectOperator(s plan.Step, next op) (op, error) {
	switch s := s.(type) {
	case *plan.Aggregate:
		by, err := r.projector(s.By)
		return &aggregateOp{store: store{base: base{run: r, next: next}}, by: by, effect: r.sideEffects.byName[s.SideEffect]}, err
	case *plan.SubgraphOf:
		return r.subgraph(s, next), nil
	case *plan.SideEffect:
		c, err := r.newChild(s.Traversal)
		return r.newFilterOp(next, func(in *batch, i int) (bool, error) {
			return true, c.start(in, i, func(*batch) error { return nil })
		}), err
	case *plan.Cap:
		return &capOp{output: r.output(s, next), keys: s.Keys}, nil
	case *plan.Inject:
		return &injectOp{output: r.output(s, next), values: s.Values, start: s.Start}, nil
	case *plan.Barrier:
		return r.barrier(s.NormSack, next), nil
	case *plan.Bulk:
		return r.bulkOp(next), nil
	}
	return nil, nil
}

func (r *run) groupEffect(s *plan.Group, next op) (op, error) {
	g, err := r.newGrouping(s.Key, s.Value, r.meter.reserve) // reserved until the run ends
	if err != nil {
		return nil, err
	}
	e := r.sideEffects.byName[s.SideEffect]
	if e.group == nil { // several steps may share a side effect
		e.group = g
	}
	return r.newRowEffect(next, func(in *batch, i int) (int64, error) {
		e.version++
		e.group.key = g.key // the key of this step
		return 0, e.group.add(in, i)
	}), nil
}

func (r *run) groupCountEffect(s *plan.GroupCount, key projector, next op) op {
	e := r.sideEffects.byName[s.SideEffect]
	return r.newRowEffect(next, func(in *batch, i int) (int64, error) {
		if e.counts == nil {
			return 0, value.Errorf("the side effect %s is not a count", s.SideEffect)
		}
		e.version++
		e.counts.run = r
		e.counts.key = mustBy{r, key} // the key of this step; several steps may share a side effect
		return e.counts.add(in, i)
	})
}

func (r *run) treeEffect(s *plan.TreeOf, t treeMaker, next op) op {
	e := r.sideEffects.byName[s.SideEffect]
	return r.newRowEffect(next, func(in *batch, i int) (int64, error) {
		if e.tree == nil {
			return 0, value.Errorf("the side effect %s is not a tree", s.SideEffect)
		}
		return t.add(e.tree, in, i)
	})
}

func (r *run) subgraph(s *plan.SubgraphOf, next op) op {
	e := r.sideEffects.byName[s.SideEffect]
	return r.newRowEffect(next, func(in *batch, i int) (int64, error) {
		if e.sub == nil {
			return 0, value.Errorf("the side effect %s is not a subgraph", s.SideEffect)
		}
		h, ok := in.edge(i)
		if !ok {
			return 0, value.Errorf("%s cannot be cast to Edge", value.ClassName(in.value(i)))
		}
		if !e.sub.AddEdge(h) {
			return 0, nil
		}
		e.sub.AddVertex(r.g.Source(h))
		e.sub.AddVertex(r.g.Target(h))
		return subgraphEdgeBytes, nil
	})
}

// capOp emits the value of side effects at the end of the input.
type capOp struct {
	output
	keys []string
}

func (o *capOp) push(b *batch) error { return o.run.meter.spend(b.len()) }

func (o *capOp) finish() error {
	var v graph.Value
	var err error
	if len(o.keys) == 1 {
		v, err = o.run.sideEffects.value(o.keys[0])
	} else {
		var m mapBuilder
		for _, k := range o.keys {
			if v, err = o.run.sideEffects.value(k); err != nil {
				return err
			}
			m.put(graph.String(k), v)
		}
		v = m.value()
	}
	if err != nil {
		return err
	}
	if err := o.emitReduced(v); err != nil {
		return err
	}
	return o.flush()
}
