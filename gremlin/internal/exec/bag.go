package exec

import (
	"math"
	"sync"

	"vigil/graph"
	"vigil/gremlin/internal/value"
)

// addBulk adds two bulks. Each step can multiply bulks, so even a short query can exceed 64 bits.
func addBulk(a, b int64) (int64, error) {
	if b > math.MaxInt64-a {
		return 0, errBulk
	}
	return a + b, nil
}

// mulBulk multiplies two bulks.
func mulBulk(a, b int64) (int64, error) {
	if b > 0 && a > math.MaxInt64/b {
		return 0, errBulk
	}
	return a * b, nil
}

// errBulk is the error of a bulk that exceeds 64 bits. Its text begins like that of a count that
// overflows.
var errBulk = value.Errorf("long overflow: more than %d traversers with the same value", math.MaxInt64)

// A bag is a multiset of vertices in the order of their first insertion, with
// the number of traversers at each.
type bag struct {
	run       *run
	positions []int32 // by vertex: its index plus one, 0 if absent
	ids       []graph.Handle
	bulk      []int64
	reserved  int64
}

// positionTables is a pool of zeroed tables. Tables must be zeroed before they are returned to it.
var positionTables sync.Pool

// open allocates the table.
func (b *bag) open() error {
	if b.positions != nil {
		return nil
	}
	n := b.run.g.VertexCap()
	b.reserved = 4 * int64(n)
	if err := b.run.meter.reserve(b.reserved); err != nil {
		return err
	}
	if p, ok := positionTables.Get().(*[]int32); ok && len(*p) >= n {
		b.positions = *p
	} else {
		b.positions = make([]int32, n)
	}
	return nil
}

// add adds n traversers at a vertex and reports whether the vertex is new.
func (b *bag) add(h graph.Handle, n int64) (fresh bool, err error) {
	if p := b.positions[h]; p != 0 {
		b.bulk[p-1], err = addBulk(b.bulk[p-1], n)
		return false, err
	}
	b.ids = append(b.ids, h)
	b.bulk = append(b.bulk, n)
	b.positions[h] = int32(len(b.ids))
	return true, nil
}

// addAll adds the traversers of a batch of vertices.
func (b *bag) addAll(in *batch) error {
	for i, h := range in.ids {
		if _, err := b.add(h, in.count(i)); err != nil {
			return err
		}
	}
	return nil
}

// empty removes all vertices and keeps the memory for reuse.
func (b *bag) empty() {
	for _, h := range b.ids {
		b.positions[h] = 0
	}
	b.ids, b.bulk = b.ids[:0], b.bulk[:0]
}

// close releases the memory.
func (b *bag) close() {
	if b.positions == nil {
		return
	}
	b.empty()
	positions := b.positions
	positionTables.Put(&positions)
	b.positions = nil
	b.run.meter.release(b.reserved)
	b.reserved = 0
}

// bulkOp merges traversers at the same vertex. Other values, and traversers with a path or a sack,
// pass unchanged.
type bulkOp struct {
	base
	bag  bag
	live int
	out  batch
}

func (r *run) bulkOp(next op) op {
	return &bulkOp{base: base{run: r, next: next}, bag: bag{run: r}}
}

func (o *bulkOp) push(b *batch) error {
	if b.kind != graph.KindVertex || b.path != nil || b.sack != nil {
		return o.pass(b)
	}
	if err := o.run.meter.spend(b.len()); err != nil {
		return err
	}
	if err := o.bag.open(); err != nil {
		return err
	}
	before := len(o.bag.ids)
	if err := o.bag.addAll(b); err != nil {
		return err
	}
	grown := len(o.bag.ids) - before
	o.live += grown
	if err := o.reserve(12 * int64(grown)); err != nil { // a handle has 4 bytes and a bulk 8
		return err
	}
	return o.run.meter.addLive(grown)
}

func (o *bulkOp) finish() error {
	err := pushBag(&o.bag, &o.out, o.run.size, o.next)
	o.reset()
	return err
}

// pushBag pushes the vertices of a bag in batches.
func pushBag(s *bag, out *batch, size int, next op) error {
	for i := 0; i < len(s.ids); i += size {
		j := min(len(s.ids), i+size)
		out.clear()
		out.kind = graph.KindVertex
		out.ids = append(out.ids, s.ids[i:j]...)
		out.bulk = append(trim(out.bulk), s.bulk[i:j]...)
		if err := next.push(out); err != nil {
			return err
		}
	}
	return nil
}

func (o *bulkOp) reset() {
	o.bag.close()
	o.run.meter.removeLive(o.live)
	o.live = 0
	o.base.reset()
}
