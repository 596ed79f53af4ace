package exec

import (
	"errors"
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
)

// errDone means that the receiver needs no more input. It is not a failure:
// operators stop and return it up to the source of the chain.
var errDone = errors.New("done")

// An op is one operator of a chain.
type op interface {
	// push passes a batch. The receiver may change it, but must not use it after the call
	// returns.
	push(b *batch) error
	// finish signals the end of the input: the operator pushes everything that it has
	// stored. Afterwards it may get another input; whether it keeps state in between
	// depends on the operator.
	finish() error
	// reset restores the initial state of the operator.
	reset()
}

// base is the common part of operators.
type base struct {
	run      *run
	next     op
	reserved int64 // reserved memory
}

func (o *base) finish() error { return nil }

func (o *base) reset() {
	if o.reserved != 0 {
		o.run.meter.release(o.reserved)
		o.reserved = 0
	}
}

// reserve reserves memory until the operator is reset.
func (o *base) reserve(bytes int64) error {
	o.reserved += bytes
	return o.run.meter.reserve(bytes)
}

// A chain is a sequence of operators; the last one pushes to a sink.
type chain struct {
	ops  []op
	head op // the first operator, or the sink if there is none
}

func (c *chain) push(b *batch) error { return c.head.push(b) }

// finish ends the input of every operator in order.
func (c *chain) finish() error {
	for _, o := range c.ops {
		if err := o.finish(); err != nil && err != errDone {
			return err
		}
	}
	return nil
}

func (c *chain) reset() {
	for _, o := range c.ops {
		o.reset()
	}
}

// output collects the results of an operator and pushes them in batches.
type output struct {
	base
	b      batch
	bytes  int64    // reserved memory of the collected results
	extend bool     // results extend the path
	labels []string // labels of the results in the path
	noPath bool     // paths of the results are not needed
}

func (o *output) reset() {
	o.clear()
	o.base.reset()
}

func (o *output) clear() {
	o.b.clear()
	if o.bytes != 0 {
		o.run.meter.release(o.bytes)
		o.bytes = 0
	}
}

// flush pushes the collected results.
func (o *output) flush() error {
	if o.b.len() == 0 {
		return nil
	}
	err := o.next.push(&o.b)
	o.clear()
	return err
}

// flushThenFail returns the error of a row after it has pushed the results of earlier rows. If
// the receiver needs no more than those, it returns errDone instead.
func (o *output) flushThenFail(err error) error {
	if err == errDone {
		return err
	}
	if done := o.flush(); done == errDone {
		return done
	}
	return err
}

// emit adds a value as a result of row i of in.
func (o *output) emit(in *batch, i int, v graph.Value) error {
	bytes, err := o.run.sizeOf(v)
	if err != nil {
		return err
	}
	return o.emitSized(in, i, v, bytes)
}

// emitSized adds a value of known size.
func (o *output) emitSized(in *batch, i int, v graph.Value, bytes int64) error {
	switch k := v.Kind(); k {
	case graph.KindVertex, graph.KindEdge:
		return o.emitHandle(in, i, k, v.Handle(), graph.NoHandle)
	}
	if o.b.kind != graph.KindNull {
		if err := o.flush(); err != nil {
			return err
		}
	}
	n := len(o.b.vals)
	if n == 0 {
		o.b.from = nil // only edges have it
	}
	if bytes != 0 {
		o.bytes += bytes
		if err := o.run.meter.reserve(bytes); err != nil {
			return err
		}
	}
	o.b.vals = append(o.b.vals, v)
	o.carry(in, i, n)
	if o.extend {
		o.b.path[n] = extend(o.b.path[n], v, o.labels, bytes)
	}
	return o.flushIfFull()
}

// emitHandle adds a vertex, or an edge with the vertex from which it was reached.
func (o *output) emitHandle(in *batch, i int, k graph.Kind, h, from graph.Handle) error {
	if o.b.kind != k {
		if err := o.flush(); err != nil {
			return err
		}
		o.b.kind = k
	}
	n := len(o.b.ids)
	o.b.ids = append(o.b.ids, h)
	o.carry(in, i, n)
	if from != graph.NoHandle {
		o.b.from = append(fill(o.b.from, n, graph.NoHandle), from)
	} else if o.b.from != nil {
		o.b.from = append(o.b.from, graph.NoHandle)
	}
	if o.extend {
		o.b.path[n] = extend(o.b.path[n], o.b.value(n), o.labels, 0)
	}
	return o.flushIfFull()
}

// carry copies the columns that a result inherits from its row.
func (o *output) carry(in *batch, i, n int) {
	if in.bulk != nil || o.b.bulk != nil {
		o.b.bulk = append(fill(o.b.bulk, n, 1), in.count(i))
	}
	if (in.path != nil || o.b.path != nil || o.extend) && !o.noPath {
		o.b.path = append(fill(o.b.path, n, nil), in.pathOf(i))
	}
	if in.sack != nil || o.b.sack != nil {
		s := graph.Null
		if in.sack != nil {
			s = in.sack[i]
		}
		o.b.sack = append(fill(o.b.sack, n, graph.Null), s)
	}
}

// emitReduced adds a value that does not derive from a single row, such as a count or
// a list of all. The operator that made it has reserved its memory.
func (o *output) emitReduced(v graph.Value) error {
	row := &batch{vals: []graph.Value{v}}
	if o.run.sackInit != nil {
		row.sack = []graph.Value{*o.run.sackInit}
	}
	return o.emitSized(row, 0, v, 0)
}

// flushIfFull flushes when the batch has reached its size.
func (o *output) flushIfFull() error {
	if o.b.len() < o.run.size {
		return nil
	}
	return o.flush()
}

// pass pushes a batch unchanged.
func (o *base) pass(b *batch) error {
	if b.len() == 0 {
		return nil
	}
	return o.next.push(b)
}

// sink is the end of a chain.
type sink struct {
	take func(*batch) error
}

func (s *sink) push(b *batch) error { return s.take(b) }
func (s *sink) finish() error       { return nil }
func (s *sink) reset()              {}

// dropLabelsOp removes labels from paths.
type dropLabelsOp struct {
	base
	labels []string
}

func (o *dropLabelsOp) push(b *batch) error {
	for i, p := range b.path {
		b.path[i] = p.without(o.labels)
	}
	return o.pass(b)
}

// labelOp adds labels to the current objects or, if dropPaths is true, drops the paths.
type labelOp struct {
	base
	labels    []string
	dropPaths bool
}

func (o *labelOp) push(b *batch) error {
	if o.dropPaths {
		b.path = nil
		return o.pass(b)
	}
	if err := o.run.label(b, o.labels); err != nil {
		return err
	}
	return o.pass(b)
}

// label adds labels to the current objects.
func (r *run) label(b *batch, labels []string) error {
	n := b.len()
	if b.path == nil {
		b.path = fill(b.path, n, nil)
	}
	for i := range n {
		var err error
		if b.path[i], err = r.addLabels(b, i, labels); err != nil {
			return err
		}
	}
	return nil
}

// addLabels returns the path of a row with labels added to its object.
func (r *run) addLabels(b *batch, i int, labels []string) (*node, error) {
	p := b.path[i]
	if p != nil && sameObject(p.val, b, i) {
		return attach(p, labels), nil
	}
	return r.lengthen(p, b.value(i), labels)
}

// sameObject reports whether the last object of a path is the current one.
func sameObject(v graph.Value, b *batch, i int) bool {
	if b.kind != graph.KindNull {
		return v.Kind() == b.kind && v.Handle() == b.ids[i]
	}
	return equal(v, b.vals[i])
}

// linkWithin builds the operators of a nested traversal. An inject() at its start
// emits its values after the first input row.
func (r *run) linkWithin(steps []plan.Step, end op) (chain, error) {
	c, err := r.link(steps, end)
	head := c.head
	if p, ok := head.(*inProbe); ok {
		head = p.op
	}
	if o, ok := head.(*injectOp); ok && !o.start {
		o.afterFirst = true
	}
	return c, err
}

// link builds the operators of steps; the last of them pushes to end.
func (r *run) link(steps []plan.Step, end op) (chain, error) {
	var ops []op // the last first, because each operator is built with its successor
	next := end
	for i := len(steps) - 1; i >= 0; i-- {
		m := steps[i].Info()
		if m.DropPath && !plan.MakesObject(steps[i]) { // steps that make objects omit the path; see output.noPath
			next = &labelOp{base: base{run: r, next: next}, dropPaths: true}
			ops = append(ops, next)
		}
		if len(m.Forget) > 0 {
			next = &dropLabelsOp{base: base{run: r, next: next}, labels: m.Forget}
			ops = append(ops, next)
		}
		if m.Attach {
			next = &labelOp{base: base{run: r, next: next}, labels: m.Labels}
			ops = append(ops, next)
		}
		if r.probes != nil {
			next = r.probes.addOutput(m, next, r)
		}
		o, err := r.operator(steps[i], next)
		if err != nil {
			return chain{}, err
		}
		next = o
		if r.probes != nil {
			next = r.probes.addInput(m, o, r)
		}
		ops = append(ops, next)
	}
	slices.Reverse(ops)
	return chain{ops: ops, head: next}, nil
}
