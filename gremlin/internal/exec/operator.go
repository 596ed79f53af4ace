package exec

import (
	"fmt"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
)

// operator builds the operator of a step, which pushes its results to next.
func (r *run) operator(s plan.Step, next op) (op, error) {
	for _, family := range []func(plan.Step, op) (op, error){
		r.moveOperator, r.filterOperator, r.mapOperator, r.reduceOperator, r.branchOperator, r.effectOperator,
	} {
		o, err := family(s, next)
		if o != nil || err != nil {
			return o, err
		}
	}
	return nil, fmt.Errorf("step %T has no operator", s)
}

// output returns the output of a step that produces new objects.
func (r *run) output(s plan.Step, next op) output {
	m := s.Info()
	return output{base: base{run: r, next: next}, extend: m.Extend, labels: m.Labels, noPath: m.DropPath}
}

// mapOp replaces each object by the result of a function, or drops it.
type mapOp struct {
	output
	fn         func(in *batch, i int) (graph.Value, bool, error)
	countsSize bool // count the size of large values as work
}

func (o *mapOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	for i := range n {
		if o.countsSize && b.kind == graph.KindNull { // vertices and edges are small
			if err := o.run.visitParts(b.vals[i]); err != nil {
				return err
			}
		}
		v, ok, err := o.fn(b, i)
		if err != nil {
			return o.flushThenFail(err)
		}
		if !ok {
			continue
		}
		if err := o.emit(b, i, v); err != nil {
			return err
		}
	}
	return o.flush()
}

// readsParts reports whether a step reads all parts of a value.
func readsParts(s plan.Step) bool {
	switch s.(type) {
	case *plan.Call, *plan.OrderLocal, *plan.DedupLocal, *plan.ReduceLocal, *plan.RangeLocal, *plan.TailLocal, *plan.SampleLocal, *plan.Index:
		return true
	}
	return false
}

// newMapOp builds an operator from a function of a row.
func (r *run) newMapOp(s plan.Step, next op, fn func(in *batch, i int) (graph.Value, bool, error)) op {
	return &mapOp{output: r.output(s, next), fn: fn, countsSize: readsParts(s)}
}

// valueMapper builds an operator from a function of a value.
func (r *run) valueMapper(s plan.Step, next op, fn func(graph.Value) (graph.Value, error)) op {
	return r.newMapOp(s, next, func(in *batch, i int) (graph.Value, bool, error) {
		v, err := fn(in.value(i))
		return v, true, err
	})
}

// flatOp replaces each object by any number of results.
type flatOp struct {
	output
	fn func(o *output, in *batch, i int) error
}

func (o *flatOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	for i := range n {
		if err := o.fn(&o.output, b, i); err != nil {
			return o.flushThenFail(err)
		}
	}
	return o.flush()
}

func (r *run) flatMapper(s plan.Step, next op, fn func(o *output, in *batch, i int) error) op {
	return &flatOp{output: r.output(s, next), fn: fn}
}

// filterOp keeps the rows for which a function returns true.
type filterOp struct {
	base
	fn     func(in *batch, i int) (bool, error)
	vertex func(graph.Handle) bool // the same for vertices, or nil
}

func (o *filterOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	if o.vertex != nil && b.kind == graph.KindVertex && b.bulk == nil && b.path == nil && b.sack == nil {
		return o.filterVertices(b)
	}
	passed := 0
	for i := range n {
		ok, err := o.fn(b, i)
		if err != nil {
			b.cut(passed)
			if done := o.pass(b); done == errDone {
				return done // the receiver did not need the row that failed
			}
			return err
		}
		if ok {
			b.move(i, passed)
			passed++
		}
	}
	b.cut(passed)
	return o.pass(b)
}

// filterVertices filters a batch that has only vertices.
func (o *filterOp) filterVertices(b *batch) error {
	passed := 0
	for _, h := range b.ids {
		if o.vertex(h) {
			b.ids[passed] = h
			passed++
		}
	}
	if o.run.meter.err != nil { // o.vertex cannot return an error
		return o.run.meter.err
	}
	b.from = nil // only edges need it
	b.ids = b.ids[:passed]
	return o.pass(b)
}

func (r *run) newFilterOp(next op, fn func(in *batch, i int) (bool, error)) op {
	return &filterOp{base: base{run: r, next: next}, fn: fn}
}

// store buffers rows.
type store struct {
	base
	rows batch
	live int
}

// add appends row i of in.
func (s *store) add(in *batch, i int) error {
	if err := s.run.meter.addLive(1); err != nil {
		return err
	}
	s.live++
	bytes, err := s.run.rowCost(in, i)
	if err != nil {
		return err
	}
	if err := s.reserve(bytes); err != nil {
		return err
	}
	s.rows.appendRow(in, i)
	return nil
}

// addAll appends all rows of in.
func (s *store) addAll(in *batch) error {
	n := in.len()
	if err := s.run.meter.spend(n); err != nil {
		return err
	}
	for i := range n {
		if err := s.add(in, i); err != nil {
			return err
		}
	}
	return nil
}

// drain pushes the buffered rows in batches and clears the buffer.
func (s *store) drain() error {
	rows := s.rows
	s.rows = batch{}
	err := s.pushRows(&rows)
	s.reset()
	return err
}

// pushRows pushes the rows of a batch in parts of the regular batch size.
func (s *store) pushRows(rows *batch) error {
	n := rows.len()
	if n <= s.run.size {
		if n == 0 {
			return nil
		}
		return s.next.push(rows)
	}
	var part batch
	for i := 0; i < n; i += s.run.size {
		part.clear()
		for j := i; j < min(n, i+s.run.size); j++ {
			part.appendRow(rows, j)
		}
		if err := s.next.push(&part); err != nil {
			return err
		}
	}
	return nil
}

// pushOrdered pushes the buffered rows at the positions pos, in that order.
func (s *store) pushOrdered(pos []int) error {
	var part batch
	for len(pos) > 0 {
		n := min(len(pos), s.run.size)
		part.clear()
		for _, i := range pos[:n] {
			part.appendRow(&s.rows, i)
		}
		if err := s.next.push(&part); err != nil {
			return err
		}
		pos = pos[n:]
	}
	return nil
}

func (s *store) reset() {
	s.run.meter.removeLive(s.live)
	s.live = 0
	s.rows = batch{}
	s.base.reset()
}
