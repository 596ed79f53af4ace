package exec

import (
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
)

// repeatOp runs a traversal iteratively, breadth first: all rows of an iteration
// are finished before the next begins, so that all rows have the same iteration
// count.
type repeatOp struct {
	output
	step   *plan.Repeat
	body   chain
	until  func(in *batch, i int) (bool, error)
	emitIf func(in *batch, i int) (bool, error)
	round  int32 // number of iterations that the current rows have completed
	all    bool  // collect the whole input before the first iteration
	starts store // collected input
	front  *frontier
	simple bool // fixed number of iterations, and rows may be merged in between
	first  bool // run the first rows to the end at once, because they may suffice for a limit

	receiverDone bool // the next operator needs no more rows
}

func (r *run) repeatOp(s *plan.Repeat, next op) (op, error) {
	o := &repeatOp{output: output{base: base{run: r, next: next}}, step: s, all: hasBarrier(s.Body)}
	o.starts.run = r
	mayMerge := r.sackInit == nil && !r.root.NoBulk
	o.front = &frontier{run: r, bag: bag{run: r}, merge: s.Merge && mayMerge, byPath: s.MergeByPath && mayMerge}
	o.simple = o.front.merge && s.Times >= 0 && !s.UntilFirst && s.Emit == nil && !s.EmitAll
	o.first = r.mayStopEarly()
	plan.Walk(s.Body, func(step plan.Step) {
		if m := step.Info(); m.Extend || m.Attach {
			o.front.nodes++
		}
	})
	r.loops = append(r.loops, o)
	defer func() { r.loops = r.loops[:len(r.loops)-1] }()
	var err error
	if s.Until != nil {
		if o.until, err = r.traversalTest(s.Until); err != nil {
			return nil, err
		}
	}
	if s.Emit != nil {
		if o.emitIf, err = r.traversalTest(s.Emit); err != nil {
			return nil, err
		}
	}
	r.flow = append(r.flow, o)
	o.body, err = r.link(s.Body.Steps, &sink{take: o.back})
	r.flow = r.flow[:len(r.flow)-1]
	return o, err
}

// flowLoops returns a copy of r.flow, which changes while further operators are built.
func (r *run) flowLoops() []*repeatOp {
	return slices.Clone(r.flow)
}

func (o *repeatOp) push(b *batch) error {
	if o.all {
		return o.starts.addAll(b)
	}
	n := b.len()
	if o.front.merge && !o.first {
		return o.gather(b)
	}
	o.first = false
	if o.front.merge || o.front.byPath || n == 1 {
		return o.runAll(b)
	}
	// Without merging, each start row runs to the end before the next one begins.
	var row batch
	for i := range n {
		row.clear()
		row.appendRow(b, i)
		if err := o.runAll(&row); err != nil {
			return err
		}
	}
	return nil
}

// mayStopEarly reports whether a later step may need only some of the results.
func (r *run) mayStopEarly() bool {
	cuts := r.root.Take >= 0
	plan.Walk(&r.root.Traversal, func(s plan.Step) {
		if _, ok := s.(*plan.Range); ok {
			cuts = true
		}
	})
	return cuts
}

// gather runs the first iteration for rows. Further iterations wait for all rows
// of the input, so that rows at the same vertex can be merged, unless too many
// rows are waiting.
func (o *repeatOp) gather(b *batch) error {
	outer := o.round
	defer func() { o.round = outer }()
	o.round, o.receiverDone = 0, false
	if err := o.enter(b); err != nil {
		return err
	}
	if err := o.pushBody(b); err != nil {
		return err
	}
	limit := int64(1 << 20)
	if max := o.run.opt.Limits.Live; max > 0 {
		limit = max / 4
	}
	if int64(o.front.live) > limit {
		return o.runPending()
	}
	return nil
}

// runPending runs the remaining iterations for the gathered rows.
func (o *repeatOp) runPending() error {
	outer := o.round
	defer func() { o.round = outer }()
	o.round, o.receiverDone = 1, false
	defer o.front.reset()
	return o.iterate(o.front.take())
}

func (o *repeatOp) finish() error {
	if o.front.merge && !o.all {
		if o.front.live == 0 {
			return o.flush()
		}
		return o.runPending()
	}
	if o.starts.rows.len() == 0 {
		return nil
	}
	rows := o.starts.rows
	o.starts.rows = batch{}
	err := o.runAll(&rows)
	o.starts.reset()
	return err
}

// runAll runs all iterations for rows.
func (o *repeatOp) runAll(b *batch) error {
	outer := o.round
	defer func() { o.round = outer }()
	o.round, o.receiverDone = 0, false
	o.front.reset()
	defer o.front.reset()
	return o.iterate(b)
}

// iterate runs iterations, beginning with the rows of b, until no rows are left.
func (o *repeatOp) iterate(b *batch) error {
	for b.len() > 0 {
		if err := o.enter(b); err != nil {
			return err
		}
		if err := o.pushBody(b); err != nil {
			return err
		}
		if max := o.run.opt.Limits.Repeat; max > 0 && int64(o.round) > max {
			return &LimitError{Name: "repeat", Allowed: max}
		}
		b = o.front.take()
	}
	return o.flush()
}

// The positions of until() and emit() relative to the body.
const (
	beforeBody = true
	afterBody  = false
)

// enter handles until() and emit() before repeat(). Rows that leave here do not enter the body.
func (o *repeatOp) enter(b *batch) error {
	if !o.step.UntilFirst && !o.step.EmitFirst {
		return nil
	}
	passed := 0
	for i := range b.len() {
		leaves, err := o.exits(b, i, beforeBody)
		if err != nil {
			return err
		}
		isResult := leaves
		if !leaves {
			if isResult, err = o.emits(b, i, beforeBody); err != nil {
				return err
			}
		}
		if isResult {
			if err := o.release(b, i); err != nil {
				return err
			}
		}
		if !leaves {
			b.move(i, passed)
			passed++
		}
	}
	b.cut(passed)
	return nil
}

func (o *repeatOp) pushBody(b *batch) error {
	if b.len() == 0 {
		return nil
	}
	err := o.body.push(b)
	if err == errDone && !o.receiverDone {
		err = nil // a step of the body, such as limit(), needs no more rows of this iteration
	}
	if err != nil {
		return err
	}
	if err := o.body.finish(); err != nil {
		return err
	}
	if o.receiverDone {
		return errDone
	}
	o.round++
	return nil
}

// back receives the results of the body: they either leave or are queued for the next iteration.
func (o *repeatOp) back(b *batch) error {
	o.round++ // for these rows, the iteration is complete
	defer func() { o.round-- }()
	if err := o.run.meter.spend(b.len()); err != nil {
		return err
	}
	if o.simple && b.kind == graph.KindVertex && b.path == nil {
		return o.receiveHandles(b)
	}
	for i := range b.len() {
		leaves, err := o.exits(b, i, afterBody)
		if err != nil {
			return err
		}
		if leaves {
			if err := o.release(b, i); err != nil {
				o.receiverDone = err == errDone
				return err
			}
			continue
		}
		if err := o.front.add(b, i); err != nil {
			return err
		}
		emitted, err := o.emits(b, i, afterBody)
		if err != nil {
			return err
		}
		if emitted {
			if err := o.release(b, i); err != nil {
				o.receiverDone = err == errDone
				return err
			}
		}
	}
	return nil
}

// receiveHandles is the fast path of back for vertices when only the number of iterations matters.
func (o *repeatOp) receiveHandles(b *batch) error {
	if int64(o.round) < o.step.Times {
		return o.front.addAll(b)
	}
	err := o.flush()
	if err == nil {
		err = o.pass(b)
	}
	o.receiverDone = err == errDone
	return err
}

// exits reports whether a row leaves the loop at a position, beforeBody or afterBody.
func (o *repeatOp) exits(b *batch, i int, position bool) (bool, error) {
	switch {
	case o.step.UntilFirst != position:
		return false, nil
	case o.step.Times >= 0:
		return int64(o.round) >= o.step.Times, nil
	case o.until == nil:
		return false, nil
	}
	return o.until(b, i)
}

// emits reports whether a row is emitted as an intermediate result at a position, beforeBody
// or afterBody.
func (o *repeatOp) emits(b *batch, i int, position bool) (bool, error) {
	switch {
	case o.step.EmitFirst != position:
		return false, nil
	case o.step.EmitAll:
		return true, nil
	case o.emitIf == nil:
		return false, nil
	}
	return o.emitIf(b, i)
}

// release emits a row as a result.
func (o *repeatOp) release(b *batch, i int) error {
	if o.b.len() > 0 && (o.b.kind != b.kind) {
		if err := o.flush(); err != nil {
			return err
		}
	}
	o.b.appendRow(b, i)
	return o.flushIfFull()
}

func (o *repeatOp) reset() {
	o.body.reset()
	o.front.reset()
	o.starts.reset()
	o.output.reset()
}

// frontier holds the rows of the next iteration.
type frontier struct {
	run     *run
	merge   bool               // merge rows at the same vertex in bag
	bag     bag                // vertices of the next iteration
	byPath  bool               // merge rows at the same vertex that have the same path
	places  map[position]int32 // by position: index in rows
	rows    batch              // rows of the next iteration that are not in bag
	current batch              // rows of the current iteration
	nodes   int64              // number of objects by which an iteration extends paths

	live, liveNow         int   // number of rows of the next and of the current iteration
	reserved, reservedNow int64 // their reserved bytes
}

// add queues a row for the next iteration, or adds its bulk to an equal row.
func (f *frontier) add(b *batch, i int) error {
	switch {
	case f.merge && b.kind == graph.KindVertex:
		if err := f.bag.open(); err != nil {
			return err
		}
		if fresh, err := f.bag.add(b.ids[i], b.count(i)); err != nil || !fresh {
			return err
		}
	case f.byPath && b.kind == graph.KindVertex:
		if merged, err := f.merged(b, i); err != nil || merged {
			return err
		}
		f.rows.appendRow(b, i)
	default:
		f.rows.appendRow(b, i)
	}
	f.live++
	if err := f.run.meter.addLive(1); err != nil {
		return err
	}
	bytes := int64(idBytes + bulkBytes)
	if b.kind == graph.KindNull {
		more, err := f.run.sizeOf(b.vals[i])
		if err != nil {
			return err
		}
		bytes += valBytes + more
	}
	if b.sack != nil {
		more, err := f.run.sizeOf(b.sack[i])
		if err != nil {
			return err
		}
		bytes += valBytes + more
	}
	if path := b.pathOf(i); path != nil {
		bytes += 16 + path.tailBytes(f.nodes) // the prefix of the path is shared with other rows
	}
	f.reserved += bytes
	return f.run.meter.reserve(bytes)
}

// addAll queues vertices for the next iteration.
func (f *frontier) addAll(b *batch) error {
	if err := f.bag.open(); err != nil {
		return err
	}
	before := len(f.bag.ids)
	if err := f.bag.addAll(b); err != nil {
		return err
	}
	grown := len(f.bag.ids) - before
	f.live += grown
	bytes := int64(grown) * (idBytes + bulkBytes)
	f.reserved += bytes
	if err := f.run.meter.reserve(bytes); err != nil {
		return err
	}
	return f.run.meter.addLive(grown)
}

// position is a vertex together with the path by which it was reached.
type position struct {
	h    graph.Handle
	path *node
}

// merged adds the bulk of row i to that of the queued row at the same vertex with the same path.
// If there is none, it returns false, and the caller appends row i to f.rows.
func (f *frontier) merged(b *batch, i int) (bool, error) {
	if f.places == nil {
		f.places = map[position]int32{}
	}
	p := position{b.ids[i], b.pathOf(i)}
	j, ok := f.places[p]
	if !ok {
		if f.rows.len() == 0 || f.rows.kind == graph.KindVertex {
			f.places[p] = int32(f.rows.len())
		}
		return false, nil
	}
	f.rows.bulk = fill(f.rows.bulk, f.rows.len(), 1)
	var err error
	f.rows.bulk[j], err = addBulk(f.rows.bulk[j], b.count(i))
	return true, err
}

// take returns the rows of the next iteration and starts collecting those of the one after it.
func (f *frontier) take() *batch {
	f.rows, f.current = f.current, f.rows
	f.rows.clear()
	clear(f.places)
	if len(f.bag.ids) > 0 {
		f.appendBag()
		f.bag.empty()
	}
	// The rows of the current iteration are released when the next one is
	// complete. Paths share their prefixes and are released at the end.
	f.run.meter.removeLive(f.liveNow)
	f.liveNow, f.live = f.live, 0
	if f.current.path == nil {
		f.run.meter.release(f.reservedNow)
		f.reservedNow, f.reserved = f.reserved, 0
	}
	return &f.current
}

// appendBag appends the vertices of the bag to the rows of the current iteration.
func (f *frontier) appendBag() {
	if f.current.len() == 0 {
		f.current.clear()
		f.current.prepareHandles(graph.KindVertex, true)
		f.current.ids = append(f.current.ids, f.bag.ids...)
		f.current.bulk = append(f.current.bulk, f.bag.bulk...)
		return
	}
	vertices := &batch{kind: graph.KindVertex, ids: f.bag.ids, bulk: f.bag.bulk}
	for i := range vertices.ids {
		f.current.appendRow(vertices, i)
	}
}

func (f *frontier) reset() {
	f.run.meter.removeLive(f.live + f.liveNow)
	f.run.meter.release(f.reserved + f.reservedNow)
	f.live, f.liveNow, f.reserved, f.reservedNow = 0, 0, 0, 0
	f.rows.clear()
	f.current.clear()
	clear(f.places)
	f.bag.close()
}
