package exec

import (
	"fmt"
	"math"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// cutOperator builds the stateful filters.
func (r *run) cutOperator(s plan.Step, next op) (op, error) {
	switch s := s.(type) {
	case *plan.Range:
		return &rangeOp{base: base{run: r, next: next}, low: s.Low, high: s.High, loops: r.flowLoops()}, nil
	case *plan.Tail:
		return &tailOp{store: store{base: base{run: r, next: next}}, limit: s.N}, nil
	case *plan.Dedup:
		by, err := r.projector(s.By)
		return &dedupOp{base: base{run: r, next: next}, by: by, over: s.Over, wholeObject: s.By == nil && len(s.Over) == 0}, err
	case *plan.Sample:
		o := &sampleOp{mergingStore: mergingStore{store: store{base: base{run: r, next: next}}}, n: s.N, random: r.random()}
		var err error
		if s.By != nil {
			o.by, err = r.projector(s.By)
		}
		return o, err
	case *plan.PathFilter:
		return r.pathFilter(s, next)
	}
	return nil, nil
}

// rounds are the iteration counters of the enclosing repeats, as a map key.
type rounds struct {
	outer [6]int32
	inner string // the counters of more deeply nested repeats, which are rare
}

func roundsOf(loops []*repeatOp) rounds {
	var out rounds
	for i, l := range loops {
		if i < len(out.outer) {
			out.outer[i] = l.round
		} else {
			out.inner += fmt.Sprintf("%d,", l.round)
		}
	}
	return out
}

// rangeOp keeps the traversers from low up to high. Within a repeat it counts
// each iteration separately.
type rangeOp struct {
	base
	low, high int64
	loops     []*repeatOp
	count     int64            // number of traversers seen, outside a repeat
	counts    map[rounds]int64 // number of traversers seen by iteration, within a repeat
}

func (o *rangeOp) push(b *batch) error {
	if len(o.loops) == 0 {
		done := o.cut(b, &o.count)
		if err := o.pass(b); err != nil {
			return err
		}
		if done {
			return errDone
		}
		return nil
	}
	if o.counts == nil {
		o.counts = map[rounds]int64{}
	}
	key := roundsOf(o.loops)
	count := o.counts[key]
	o.cut(b, &count)
	o.counts[key] = count
	return o.pass(b)
}

// cut keeps the rows of b that are within the range, and reports whether the range is exhausted.
func (o *rangeOp) cut(b *batch, count *int64) (done bool) {
	n := b.len()
	passed := 0
	for i := 0; i < n && !(o.high >= 0 && *count >= o.high); i++ {
		c := b.count(i)
		if c <= o.low-*count {
			*count += c
			continue
		}
		skip := max(0, o.low-*count)
		trim := int64(0)
		if o.high >= 0 {
			trim = max(0, c-(o.high-*count))
			*count += c - trim
		} else {
			*count = max(o.low, *count) // what is above the lower bound does not matter and may overflow
		}
		if remaining := c - skip - trim; remaining != c {
			b.bulk[i] = remaining // c > 1 here, so the batch has bulks
		}
		b.move(i, passed)
		passed++
	}
	b.cut(passed)
	return o.high >= 0 && *count >= o.high
}

func (o *rangeOp) reset() {
	o.count = 0
	clear(o.counts)
	o.base.reset()
}

// tailOp keeps the last traversers.
type tailOp struct {
	store
	limit int64
	bulk  int64 // number of traversers in the rows from first on
	first int   // rows before it are obsolete
}

func (o *tailOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	for i := range n {
		var err error
		if o.bulk, err = addBulk(o.bulk, b.count(i)); err != nil {
			return err
		}
		if err := o.add(b, i); err != nil {
			return err
		}
		for o.first < o.rows.len()-1 && o.bulk-o.rows.count(o.first) >= o.limit {
			o.bulk -= o.rows.count(o.first)
			o.first++
		}
		if o.first > 1024 && o.first > o.rows.len()/2 {
			if err := o.compact(); err != nil {
				return err
			}
		}
	}
	return nil
}

// compact removes obsolete rows.
func (o *tailOp) compact() error {
	rows, first := o.rows, o.first
	o.store.reset()
	o.first = 0
	for i := first; i < rows.len(); i++ {
		if err := o.add(&rows, i); err != nil {
			return err
		}
	}
	return nil
}

func (o *tailOp) finish() error {
	if o.limit <= 0 {
		o.reset()
		return nil
	}
	rest := batch{}
	for i := o.first; i < o.rows.len(); i++ {
		rest.appendRow(&o.rows, i)
	}
	if excess := o.bulk - o.limit; excess > 0 && rest.len() > 0 && rest.bulk != nil {
		rest.bulk[0] -= excess
	}
	o.rows = rest
	err := o.drain()
	o.first, o.bulk = 0, 0
	return err
}

func (o *tailOp) reset() {
	o.first, o.bulk = 0, 0
	o.store.reset()
}

// dedupOp keeps the first of equal rows.
type dedupOp struct {
	base
	by          projector
	over        []string
	wholeObject bool // compare the object itself
	seen        value.Keys
	bits        [2]graph.Bits // seen vertices and edges
}

func (o *dedupOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	if o.wholeObject && b.kind != graph.KindNull && b.path == nil && b.sack == nil && b.from == nil {
		return o.handles(b)
	}
	passed := 0
	for i := range n {
		fresh, err := o.fresh(b, i)
		if err != nil {
			return err
		}
		if fresh {
			b.move(i, passed)
			passed++
		}
	}
	b.cut(passed)
	b.bulk = nil
	return o.pass(b)
}

func (o *dedupOp) fresh(b *batch, i int) (bool, error) {
	if o.wholeObject { // an element may come in a batch of handles or in one of values
		for _, kind := range []graph.Kind{graph.KindVertex, graph.KindEdge} {
			if h, ok := b.handle(i, kind); ok {
				return o.freshHandle(kind, h)
			}
		}
	}
	key, ok, err := o.key(b, i)
	if err != nil || !ok {
		return false, err
	}
	bytes, err := o.run.sizeOf(key)
	if err != nil {
		return false, err
	}
	_, fresh := o.seen.Put(key)
	if fresh {
		err = o.reserve(bytes + keyBytes)
	}
	return fresh, err
}

// handles keeps the first of equal elements in a batch that has only handles.
func (o *dedupOp) handles(b *batch) error {
	bits, err := o.seenBits(b.kind)
	if err != nil {
		return err
	}
	passed := 0
	for _, h := range b.ids {
		if !bits.Has(h) {
			bits.Set(h)
			b.ids[passed] = h
			passed++
		}
	}
	b.ids, b.bulk = b.ids[:passed], nil
	return o.pass(b)
}

// seenBits returns a bit set with one bit per vertex or edge of the graph.
func (o *dedupOp) seenBits(kind graph.Kind) (graph.Bits, error) {
	index, size := 0, o.run.g.VertexCap()
	if kind == graph.KindEdge {
		index, size = 1, o.run.g.EdgeCap()
	}
	if o.bits[index] == nil {
		if err := o.reserve(int64(size / 8)); err != nil {
			return nil, err
		}
		o.bits[index] = graph.NewBits(size)
	}
	return o.bits[index], nil
}

func (o *dedupOp) freshHandle(kind graph.Kind, h graph.Handle) (bool, error) {
	bits, err := o.seenBits(kind)
	if err != nil || bits.Has(h) {
		return false, err
	}
	bits.Set(h)
	return true, nil
}

// key returns the value to compare.
func (o *dedupOp) key(b *batch, i int) (graph.Value, bool, error) {
	if len(o.over) == 0 {
		v, ok, err := o.by.row(b, i)
		return o.run.canonical(v), ok, err
	}
	parts := make([]graph.Value, len(o.over))
	for k, name := range o.over {
		v, err := o.run.mustScope(b, i, name)
		if err != nil {
			return graph.Null, false, err
		}
		v, ok, err := o.by.project(v)
		if err != nil || !ok {
			return graph.Null, false, err
		}
		parts[k] = v
	}
	return graph.List(parts...), true, nil
}

func (o *dedupOp) reset() {
	o.seen.Reset()
	o.bits = [2]graph.Bits{}
	o.base.reset()
}

// sampleOp keeps a weighted random sample of traversers.
type sampleOp struct {
	mergingStore
	n       int64
	by      projector // weight; nil for one
	weights []float64
	random  *value.Random
}

func (o *sampleOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	for i := range n {
		w := 1.0
		if o.by != nil {
			v, ok, err := o.by.row(b, i)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			if !v.IsNumber() {
				return value.Errorf("%s cannot be cast to Number", value.ClassName(v))
			}
			w = value.Float64(v)
		}
		fresh, err := o.put(b, i)
		if err != nil {
			return err
		}
		if fresh {
			o.weights = append(o.weights, w)
		}
	}
	return nil
}

func (o *sampleOp) finish() error {
	total, err := o.rows.total()
	if err != nil {
		return err
	}
	if total > o.n {
		if err := o.choose(); err != nil {
			return err
		}
	}
	err = o.drain()
	o.weights = o.weights[:0]
	return err
}

// choose replaces the rows by a sample of them.
func (o *sampleOp) choose() error {
	taken := make([]int64, o.rows.len())
	total := 0.0
	for i, w := range o.weights {
		total += w * float64(o.rows.count(i))
	}
	var order []int
	for n := int64(0); n < o.n; {
		if err := o.run.meter.spend(len(taken)); err != nil {
			return err
		}
		want := o.random.Float64() * total
		i := o.indexOf(want, taken)
		if i < 0 {
			if math.IsNaN(total) || math.IsInf(total, 0) { // every further draw would be in vain
				return value.Errorf("sample(): the sum of the weights is %s", value.FormatFloat(graph.Double(total)))
			}
			continue // by rounding, the weights add up to less than total: draw again
		}
		n++
		if taken[i] == 0 {
			order = append(order, i)
		}
		taken[i]++
		total -= o.weights[i]
	}
	var out batch
	for k, i := range order {
		out.appendRow(&o.rows, i)
		if out.bulk != nil {
			out.bulk[k] = taken[i]
		}
	}
	o.rows = out
	return nil
}

// indexOf returns the row at which the cumulative weight reaches want.
func (o *sampleOp) indexOf(want float64, taken []int64) int {
	sum := 0.0
	for i, w := range o.weights {
		rest := o.rows.count(i) - taken[i]
		if rest == 0 {
			continue
		}
		all := w * float64(rest)
		if sum+max(w, all) >= want { // if w is negative, the sum is highest after the first traverser
			return i
		}
		sum += all
	}
	return -1
}

func (o *sampleOp) reset() {
	o.weights = o.weights[:0]
	o.mergingStore.reset()
}
