package exec

import (
	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// mergingStore stores rows and merges equal traversers, which have equal objects
// and paths, by adding their bulks. Sacks are merged by the sack operator;
// without one, traversers with sacks are not merged.
type mergingStore struct {
	store
	table map[uint64][]int32 // rows by the hash of object and path
}

// put adds row i of in and reports whether it was not merged with an existing row.
func (o *mergingStore) put(in *batch, i int) (fresh bool, err error) {
	merged, err := o.merge(in, i)
	if err != nil || merged {
		return false, err
	}
	return true, o.add(in, i)
}

// merge merges row i of in into an equal row, if there is one.
func (o *mergingStore) merge(in *batch, i int) (bool, error) {
	var sackMerge plan.Operator
	if o.run.root.Sack != nil {
		sackMerge = o.run.root.Sack.Merge
	}
	if in.sack != nil && sackMerge == "" {
		return false, nil
	}
	if err := o.run.countVisit(in.value(i)); err != nil {
		return false, err
	}
	if err := o.run.meter.spend(in.pathOf(i).length()); err != nil {
		return false, err
	}
	h := value.Hash(in.value(i)) ^ in.pathOf(i).hash()
	if o.table == nil {
		o.table = map[uint64][]int32{}
	}
	for _, index := range o.table[h] {
		j := int(index)
		if !equal(o.rows.value(j), in.value(i)) || !samePath(o.rows.pathOf(j), in.pathOf(i)) {
			continue
		}
		if in.from != nil && (o.rows.from == nil || o.rows.from[j] != in.from[i]) {
			continue // otherV() needs to know from which vertex each edge was reached
		}
		return true, o.join(in, i, j, sackMerge)
	}
	// put appends row i at this index. An entry of the table has about 64 bytes.
	o.table[h] = append(o.table[h], int32(o.rows.len()))
	return false, o.reserve(64)
}

// join merges row i of in into row j. After withBulk(false) the merged row still
// counts as one traverser, as in TinkerPop: only the sacks are merged.
func (o *mergingStore) join(in *batch, i, j int, sackMerge plan.Operator) error {
	if !o.run.root.NoBulk {
		o.rows.bulk = fill(o.rows.bulk, o.rows.len(), 1)
		var err error
		if o.rows.bulk[j], err = addBulk(o.rows.bulk[j], in.count(i)); err != nil {
			return err
		}
	}
	if in.sack == nil {
		return nil
	}
	before, err := o.run.sizeOf(o.rows.sack[j])
	if err != nil {
		return err
	}
	v, err := o.run.operate(sackMerge, o.rows.sack[j], in.sack[i])
	if err != nil {
		return err
	}
	o.rows.sack[j] = v
	after, err := o.run.sizeOf(v)
	if err != nil {
		return err
	}
	return o.reserve(max(0, after-before))
}

func (o *mergingStore) drain() error {
	o.table = nil
	return o.store.drain()
}

func (o *mergingStore) reset() {
	o.table = nil
	o.store.reset()
}

// barrierOp collects the whole input and merges equal traversers.
type barrierOp struct {
	mergingStore
	norm bool // barrier(normSack): sacks are divided by their sum
}

func (r *run) barrier(norm bool, next op) op {
	return &barrierOp{mergingStore: mergingStore{store: store{base: base{run: r, next: next}}}, norm: norm}
}

func (o *barrierOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	for i := range n {
		if _, err := o.put(b, i); err != nil {
			return err
		}
	}
	return nil
}

func (o *barrierOp) finish() error {
	if o.norm && o.rows.sack != nil {
		if err := o.normalise(); err != nil {
			return err
		}
	}
	return o.drain()
}

// normalise divides all sacks by their sum.
func (o *barrierOp) normalise() error {
	total := graph.Double(0)
	for i, s := range o.rows.sack {
		v, err := value.Mul.Apply(s, graph.Long(o.rows.count(i)))
		if err != nil {
			return err
		}
		if total, err = value.Add.Apply(total, v); err != nil {
			return err
		}
	}
	for i, s := range o.rows.sack {
		v, err := value.Div.Apply(s, total)
		if err != nil {
			return err
		}
		o.rows.sack[i] = v
	}
	return nil
}
