package exec

import (
	"cmp"
	"slices"
	"strings"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// sorter compares by keys. As in TinkerPop, the keys before the last shuffle
// have no effect.
type sorter struct {
	run     *run
	bys     []projector // one per by(), or the object itself without a by()
	sorts   []plan.Sort // the order of each of bys
	first   int         // index of the first key to compare
	shuffle bool        // the last by() shuffles: there is no key to compare
	random  *value.Random
}

func (r *run) newSorter(bys []plan.By) (sorter, error) {
	s := sorter{run: r, random: r.random()}
	ps, err := r.projectors(bys)
	if err != nil {
		return s, err
	}
	s.bys = ps
	for i, by := range bys {
		s.sorts = append(s.sorts, by.Sort)
		if by.Sort == plan.Shuffle {
			s.first = i + 1
		}
	}
	if len(bys) == 0 {
		s.sorts = []plan.Sort{plan.Asc}
	}
	s.shuffle = s.first == len(s.sorts)
	return s, nil
}

// keys returns the sort keys of row i, or false if a by() has no value.
func (s *sorter) keys(dst []graph.Value, in *batch, i int) ([]graph.Value, bool, error) {
	for _, by := range s.bys {
		v, ok, err := by.row(in, i)
		if err != nil || !ok {
			return dst, false, err
		}
		if err := s.run.visitParts(v); err != nil {
			return dst, false, err
		}
		dst = append(dst, sortKey(v))
	}
	return dst, true, nil
}

// cost returns the memory to reserve for stored keys.
func (s *sorter) cost(keys []graph.Value) (int64, error) {
	total := int64(0)
	for _, k := range keys {
		bytes, err := s.run.sizeOf(k)
		if err != nil {
			return 0, err
		}
		total += valBytes + bytes
	}
	return total, nil
}

// sortKey returns the value to compare for a key: tokens are compared by name.
func sortKey(v graph.Value) graph.Value {
	if t, ok := value.As[value.Token](v); ok {
		return graph.String(string(t))
	}
	return v
}

// compare compares two lists of keys.
func (s *sorter) compare(a, b []graph.Value) int {
	for i := s.first; i < len(s.sorts); i++ {
		if c := s.order(a[i], b[i]); c != 0 {
			if s.sorts[i] == plan.Desc {
				return -c
			}
			return c
		}
	}
	return 0
}

// order compares two keys, with fast paths for frequent types.
func (s *sorter) order(a, b graph.Value) int {
	if a.Kind() == b.Kind() {
		switch a.Kind() {
		case graph.KindInt, graph.KindLong:
			return cmp.Compare(a.Int(), b.Int())
		case graph.KindString:
			return strings.Compare(a.Str(), b.Str())
		case graph.KindDouble:
			if x, y := a.Float(), b.Float(); x < y {
				return -1
			} else if x > y {
				return 1
			}
		}
	}
	return value.Order(s.run, a, b)
}

// arrange returns the positions 0..n-1 in sorted order. keys holds the keys of
// all rows one after another.
func (s *sorter) arrange(n int, keys []graph.Value) []int {
	pos := make([]int, n)
	for i := range pos {
		pos[i] = i
	}
	if s.shuffle {
		s.random.Shuffle(n, func(i, j int) { pos[i], pos[j] = pos[j], pos[i] })
		return pos
	}
	k := len(s.bys)
	m := s.run.meter
	slices.SortStableFunc(pos, func(a, b int) int {
		if !m.tick(1) {
			return 0 // the budget is exceeded: finish the sort quickly
		}
		return s.compare(keys[a*k:(a+1)*k], keys[b*k:(b+1)*k])
	})
	return pos
}

// orderOp sorts its whole input. Before a shuffle it merges equal traversers, so
// that the result for a seed does not depend on how they were split into rows.
type orderOp struct {
	mergingStore
	sorter
	storedKeys []graph.Value // keys of all stored rows, one row after another
	limit      int64         // number of results needed; negative for all
	worst      []graph.Value // keys of the last row among the first limit rows, once known
}

func (r *run) orderOp(s *plan.Order, next op) (op, error) {
	sort, err := r.newSorter(s.Bys)
	return &orderOp{mergingStore: mergingStore{store: store{base: base{run: r, next: next}}}, sorter: sort, limit: s.Limit}, err
}

func (o *orderOp) push(b *batch) error {
	n := b.len()
	if err := o.store.run.meter.spend(2 * n); err != nil {
		return err
	}
	for i := range n {
		before := len(o.storedKeys)
		keys, ok, err := o.keys(o.storedKeys, b, i)
		if err != nil {
			return err
		}
		// The keys are now in the memory behind storedKeys; keepRow appends them if it stores the row.
		o.storedKeys = keys[:before]
		switch {
		case !ok: // a row without one of the keys is dropped
		case o.shuffle:
			_, err = o.put(b, i)
		case o.worst == nil || o.compare(keys[before:], o.worst) < 0:
			err = o.keepRow(b, i, keys[before:])
		}
		if err != nil {
			return err
		}
		// Sort only when there are about four times as many rows as needed, so that the cost per row
		// stays low. The limit itself may be too large to be multiplied.
		if o.limit >= 0 && int64(o.rows.len()-256)/4 > o.limit {
			if err := o.shorten(); err != nil {
				return err
			}
		}
	}
	return nil
}

// keepRow stores a row with its keys.
func (o *orderOp) keepRow(b *batch, i int, keys []graph.Value) error {
	bytes, err := o.cost(keys)
	if err != nil {
		return err
	}
	if err := o.reserve(bytes); err != nil {
		return err
	}
	o.storedKeys = append(o.storedKeys, keys...)
	return o.add(b, i)
}

// shorten keeps only the first limit rows.
func (o *orderOp) shorten() error {
	n, k := o.rows.len(), len(o.bys)
	if err := o.store.run.meter.spend(2 * n); err != nil {
		return err
	}
	rows, keys := o.rows, o.storedKeys
	selected := o.arrange(n, keys)[:o.limit]
	o.mergingStore.reset()
	o.storedKeys = nil
	for _, i := range selected {
		if err := o.keepRow(&rows, i, keys[i*k:(i+1)*k]); err != nil {
			return err
		}
	}
	if o.limit > 0 {
		o.worst = slices.Clone(o.storedKeys[len(o.storedKeys)-k:])
	}
	return nil
}

func (o *orderOp) finish() error {
	n := o.rows.len()
	if err := o.store.run.meter.spend(2 * n); err != nil {
		return err
	}
	if err := o.reserve(8 * int64(n)); err != nil {
		return err
	}
	pos := o.arrange(n, o.storedKeys)
	if err := o.store.run.meter.err; err != nil {
		return err
	}
	err := o.pushOrdered(pos)
	o.reset()
	return err
}

func (o *orderOp) reset() {
	clear(o.storedKeys)
	o.storedKeys, o.worst = o.storedKeys[:0], nil
	o.mergingStore.reset()
}

// orderLocal sorts a collection.
func (r *run) orderLocal(s *plan.OrderLocal) (func(graph.Value) (graph.Value, error), error) {
	sort, err := r.newSorter(s.Bys)
	return func(v graph.Value) (graph.Value, error) {
		if es, ok := value.Entries(v); ok {
			items := make([]graph.Value, len(es))
			for i, e := range es {
				items[i] = graph.EntryOf(e)
			}
			sorted, err := sort.values(items)
			if err != nil {
				return graph.Null, err
			}
			out := make([]graph.Entry, len(sorted))
			for i, e := range sorted {
				out[i] = e.Entry()
			}
			return graph.Map(out...), nil
		}
		vs, ok := value.Elems(v)
		if _, isPath := value.As[*value.Path](v); !ok || isPath {
			return v, nil
		}
		sorted, err := sort.values(vs)
		return graph.List(sorted...), err
	}, err
}

// values sorts values; it drops those for which a by() has no value.
func (s *sorter) values(vs []graph.Value) ([]graph.Value, error) {
	if err := s.run.meter.spend(4 * len(vs)); err != nil {
		return nil, err
	}
	if err := s.run.meter.checkItems(int64(len(vs)), valBytes*int64(2+len(s.bys))); err != nil {
		return nil, err
	}
	var kept, keys []graph.Value
	for _, v := range vs {
		before := len(keys)
		for _, by := range s.bys {
			k, ok, err := by.project(v)
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			if !value.Comparable(k) {
				return nil, value.NotComparable(k)
			}
			keys = append(keys, sortKey(k))
		}
		if len(keys)-before < len(s.bys) { // a by() has no value
			keys = keys[:before]
			continue
		}
		kept = append(kept, v)
	}
	out := make([]graph.Value, len(kept))
	for i, p := range s.arrange(len(kept), keys) {
		out[i] = kept[p]
	}
	return out, s.run.meter.err
}
