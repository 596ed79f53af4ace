package exec

import (
	"vigil/graph"
	"vigil/gremlin/internal/plan"
)

// branchOperator builds the branching operators.
func (r *run) branchOperator(s plan.Step, next op) (op, error) {
	switch s := s.(type) {
	case *plan.Union:
		return r.unionOp(s, next)
	case *plan.Choose:
		return r.chooseOp(s, next)
	case *plan.Coalesce:
		return r.coalesceOp(s, next)
	case *plan.Optional:
		return r.optionalOp(s, next)
	case *plan.Local:
		return r.localOp(s, next)
	case *plan.MapTo:
		p, err := r.traversalBy(s.Traversal)
		return r.newMapOp(s, next, func(in *batch, i int) (graph.Value, bool, error) { return p.row(in, i) }), err
	case *plan.FlatMap:
		c, err := r.newChild(s.Traversal)
		return r.flatMapper(s, next, func(o *output, in *batch, i int) error {
			return c.start(in, i, func(b *batch) error { return o.emitEach(in, i, b) })
		}), err
	case *plan.Repeat:
		return r.repeatOp(s, next)
	case *plan.Match:
		return r.matchOp(s, next)
	}
	return nil, nil
}

// emitEach adds the objects of b as results of row i of in.
func (o *output) emitEach(in *batch, i int, b *batch) error {
	for j := range b.len() {
		row, index := in, i
		if c := b.count(j); c != 1 {
			bulk, err := mulBulk(c, in.count(i))
			if err != nil {
				return err
			}
			row, index = &batch{}, 0
			row.appendRow(in, i)
			row.setBulk(bulk)
		}
		var err error
		if b.kind != graph.KindNull {
			from := graph.NoHandle
			if b.from != nil {
				from = b.from[j]
			}
			err = o.emitHandle(row, index, b.kind, b.ids[j], from)
		} else {
			err = o.emit(row, index, b.vals[j])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A branch is a nested traversal whose results are passed on unchanged.
type branch struct {
	chain
	fed          bool // has received input
	done         bool // needs no more input
	receiverDone bool // the receiver of its results needs no more
	in           batch
}

// newBranch builds the operators of a traversal; the last of them pushes to next.
func (r *run) newBranch(t *plan.Traversal, next op) (*branch, error) {
	b := &branch{}
	var err error
	b.chain, err = r.linkWithin(t.Steps, &sink{take: func(rows *batch) error {
		err := next.push(rows)
		b.receiverDone = b.receiverDone || err == errDone
		return err
	}})
	return b, err
}

// feed pushes rows to the branch. It returns errDone only if the receiver of the
// results needs no more.
func (b *branch) feed(rows *batch) error {
	b.fed = true
	if b.done {
		return nil
	}
	err := b.push(rows)
	if err == errDone && !b.receiverDone {
		b.done = true
		return nil
	}
	return err
}

// end signals the end of the input.
func (b *branch) end() error {
	if !b.fed {
		return nil
	}
	b.fed = false
	err := b.chain.finish()
	if err == nil && b.receiverDone {
		return errDone
	}
	return err
}

func (b *branch) reset() {
	b.fed, b.done, b.receiverDone = false, false, false
	b.chain.reset()
}

// unionOp pushes all input to all of its branches.
type unionOp struct {
	store
	branches     []*branch
	wholeBatches bool // push whole batches, not single rows: the results may have any order
	all          bool // each branch gets the whole input before the next one
}

func (r *run) unionOp(s *plan.Union, next op) (op, error) {
	o := &unionOp{store: store{base: base{run: r, next: next}}, wholeBatches: s.AnyOrder}
	for _, t := range s.Traversals {
		b, err := r.newBranch(t, next)
		if err != nil {
			return nil, err
		}
		o.branches = append(o.branches, b)
		o.all = o.all || hasBarrier(t)
	}
	return o, nil
}

// hasBarrier reports whether a step within t needs its whole input.
func hasBarrier(t *plan.Traversal) bool {
	found := false
	plan.Walk(t, func(s plan.Step) {
		switch s.(type) {
		case *plan.Barrier, *plan.Aggregate, *plan.SubgraphOf, *plan.Group, *plan.GroupCount, *plan.TreeOf:
			found = true
		}
		found = found || isBarrier(s)
	})
	return found
}

func (o *unionOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n * len(o.branches)); err != nil {
		return err
	}
	if o.all {
		return o.addAll(b)
	}
	if o.wholeBatches || n == 1 {
		return o.each(b)
	}
	var row batch
	for i := range n {
		row.clear()
		row.appendRow(b, i)
		if err := o.each(&row); err != nil {
			return err
		}
	}
	return nil
}

func (o *unionOp) each(b *batch) error {
	for _, br := range o.branches {
		br.in.copyOf(b)
		if err := br.feed(&br.in); err != nil {
			return err
		}
	}
	return nil
}

func (o *unionOp) finish() error {
	if !o.all {
		return endAll(o.branches)
	}
	rows := o.rows
	o.rows = batch{}
	defer o.store.reset()
	if rows.len() == 0 {
		return nil
	}
	for _, br := range o.branches {
		br.in.copyOf(&rows)
		if err := br.feed(&br.in); err != nil {
			return err
		}
		if err := br.end(); err != nil {
			return err
		}
	}
	return nil
}

func endAll(branches []*branch) error {
	for _, br := range branches {
		if err := br.end(); err != nil {
			return err
		}
	}
	return nil
}

func (o *unionOp) reset() {
	for _, br := range o.branches {
		br.reset()
	}
	o.store.reset()
}

// chooseOp sends each row to the matching options.
type chooseOp struct {
	base
	choice   projector
	test     func(in *batch, i int) (bool, error)
	options  []plan.Option
	tests    []*child  // by option: the traversal that selects it, or nil
	branches []*branch // by option
	first    bool      // choose(): each row takes only the first matching option; branch(): all of them
	runs     batch     // consecutive rows for the same branch
	branch   int       // that branch; len(branches) if the rows match no option and pass unchanged
	all      bool      // route the whole input before a branch gets any
	waiting  []store   // pending rows by branch; the last store has the rows that pass unchanged
}

func (r *run) chooseOp(s *plan.Choose, next op) (op, error) {
	o := &chooseOp{base: base{run: r, next: next}, options: s.Options, first: s.First}
	var err error
	if s.Test != nil {
		o.test, err = r.traversalTest(s.Test)
	} else {
		o.choice, err = r.projector(&s.Choice)
	}
	if err != nil {
		return nil, err
	}
	for _, opt := range s.Options {
		b, err := r.newBranch(opt.Traversal, next)
		if err != nil {
			return nil, err
		}
		var test *child
		if opt.Test != nil {
			if test, err = r.newChild(opt.Test); err != nil {
				return nil, err
			}
		}
		o.tests = append(o.tests, test)
		o.branches = append(o.branches, b)
		o.all = o.all || hasBarrier(opt.Traversal)
	}
	o.waiting = make([]store, len(o.branches)+1)
	for i := range o.waiting {
		o.waiting[i].base = base{run: r, next: next}
	}
	return o, nil
}

func (o *chooseOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	for i := range n {
		v, ok, err := o.pick(b, i)
		if err != nil {
			return err
		}
		if err := o.route(b, i, v, ok); err != nil {
			return err
		}
	}
	return o.flush()
}

// pick returns the value by which options are selected for a row, or false for none.
func (o *chooseOp) pick(b *batch, i int) (graph.Value, bool, error) {
	if o.test == nil {
		return o.choice.row(b, i)
	}
	ok, err := o.test(b, i)
	return graph.Bool(ok), true, err
}

// route sends a row to the options that its value v matches; ok is false if it has no value.
func (o *chooseOp) route(b *batch, i int, v graph.Value, ok bool) error {
	hit := false
	for k, opt := range o.options {
		fits, err := o.matchesOption(k, opt, v, ok)
		if err != nil {
			return err
		}
		if !fits {
			continue
		}
		hit = true
		if err := o.send(b, i, k); err != nil || o.first {
			return err
		}
	}
	if !hit {
		sent := false
		if ok || !o.first { // choose() passes a row without a value unchanged
			var err error
			if sent, err = o.sendTo(b, i, plan.PickNone); err != nil {
				return err
			}
		}
		if !sent && o.first {
			return o.send(b, i, len(o.branches))
		}
	}
	_, err := o.sendTo(b, i, plan.PickAny)
	return err
}

// matchesOption reports whether a row's value selects option k.
func (o *chooseOp) matchesOption(k int, opt plan.Option, v graph.Value, ok bool) (bool, error) {
	switch opt.Pick {
	case plan.PickPred:
		if !ok {
			return false, nil
		}
		if err := o.run.visitParts(v); err != nil {
			return false, err
		}
		return opt.Pred.Test(o.run, v), nil
	case plan.PickUnproductive:
		return !ok, nil
	case plan.PickTest:
		if !ok {
			return false, nil
		}
		_, found, err := o.tests[k].firstOf(v)
		return found, err
	}
	return false, nil // PickNone and PickAny do not depend on the value; see route
}

// sendTo sends a row to all options with the given pick, in choose() only to the
// first.
func (o *chooseOp) sendTo(b *batch, i int, pick plan.Pick) (sent bool, err error) {
	for k, opt := range o.options {
		if opt.Pick != pick {
			continue
		}
		sent = true
		if err := o.send(b, i, k); err != nil || o.first {
			return sent, err
		}
	}
	return sent, nil
}

// send adds a row to the pending rows of a branch. It flushes them when the branch changes.
func (o *chooseOp) send(b *batch, i, branch int) error {
	if o.all {
		return o.waiting[branch].add(b, i)
	}
	if branch != o.branch {
		if err := o.flush(); err != nil {
			return err
		}
		o.branch = branch
	}
	o.runs.appendRow(b, i)
	return nil
}

func (o *chooseOp) flush() error {
	if o.runs.len() == 0 {
		return nil
	}
	var err error
	if o.branch < len(o.branches) {
		err = o.branches[o.branch].feed(&o.runs)
	} else {
		err = o.next.push(&o.runs)
	}
	o.runs.clear()
	return err
}

func (o *chooseOp) finish() error {
	for i := range o.waiting {
		rows := o.waiting[i].rows
		if rows.len() == 0 {
			continue
		}
		o.waiting[i].rows = batch{}
		var err error
		if i < len(o.branches) {
			err = o.branches[i].feed(&rows)
		} else {
			err = o.next.push(&rows)
		}
		o.waiting[i].reset()
		if err != nil {
			return err
		}
		if i < len(o.branches) {
			if err := o.branches[i].end(); err != nil {
				return err
			}
		}
	}
	return endAll(o.branches)
}

func (o *chooseOp) reset() {
	o.runs.clear()
	for i := range o.waiting {
		o.waiting[i].reset()
	}
	for _, br := range o.branches {
		br.reset()
	}
	o.base.reset()
}
