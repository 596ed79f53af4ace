package exec

import (
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// localMappers builds the operators on collections (local scope).
func (r *run) localMappers(s plan.Step, next op) (op, error) {
	switch s := s.(type) {
	case *plan.RangeLocal:
		return r.valueMapper(s, next, func(v graph.Value) (graph.Value, error) { return cutLocal(v, s.Low, s.High), nil }), nil
	case *plan.TailLocal:
		return r.valueMapper(s, next, func(v graph.Value) (graph.Value, error) {
			n := localSize(v)
			return cutLocal(v, max(0, n-s.N), n), nil
		}), nil
	case *plan.DedupLocal:
		return r.valueMapper(s, next, func(v graph.Value) (graph.Value, error) {
			if err := r.meter.checkItems(localSize(v), keyBytes); err != nil {
				return graph.Null, err
			}
			return plan.SetOf(iterate(v)), nil
		}), nil
	case *plan.SampleLocal:
		random := r.random()
		return r.valueMapper(s, next, func(v graph.Value) (graph.Value, error) { return r.sampleLocal(v, s.N, random) }), nil
	case *plan.CountLocal:
		return r.valueMapper(s, next, func(v graph.Value) (graph.Value, error) { return graph.Long(localSize(v)), nil }), nil
	case *plan.ReduceLocal:
		return r.newMapOp(s, next, func(in *batch, i int) (graph.Value, bool, error) { return r.reduceLocal(s.Op, in.value(i)) }), nil
	case *plan.OrderLocal:
		fn, err := r.orderLocal(s)
		return r.valueMapper(s, next, fn), err
	case *plan.Index:
		return r.valueMapper(s, next, func(v graph.Value) (graph.Value, error) {
			if err := r.meter.checkItems(localSize(v), indexBytes); err != nil {
				return graph.Null, err
			}
			return withIndexes(v, s.AsMap), nil
		}), nil
	}
	return nil, nil
}

// iterate returns the items of a collection, the entries of a map, or the value itself.
func iterate(v graph.Value) []graph.Value {
	if vs, ok := value.Elems(v); ok {
		return vs
	}
	if es, ok := value.Entries(v); ok {
		out := make([]graph.Value, len(es))
		for i, e := range es {
			out[i] = graph.EntryOf(e)
		}
		return out
	}
	return []graph.Value{v}
}

func localSize(v graph.Value) int64 {
	if s, ok := value.As[*value.BulkSet](v); ok {
		return s.Size()
	}
	if es, ok := value.Entries(v); ok {
		return int64(len(es))
	}
	return int64(len(iterate(v)))
}

// cutLocal keeps the items of a collection from low up to high; a negative high means no limit.
// It returns values that are no collections unchanged.
func cutLocal(v graph.Value, low, high int64) graph.Value {
	bounds := func(n int) (int, int) {
		hi := int64(n)
		if high >= 0 {
			hi = min(hi, high)
		}
		lo := min(max(low, 0), hi)
		return int(lo), int(hi)
	}
	if es, ok := value.Entries(v); ok {
		lo, hi := bounds(len(es))
		return graph.Map(es[lo:hi:hi]...)
	}
	vs, ok := value.Elems(v)
	if !ok {
		return v
	}
	lo, hi := bounds(len(vs))
	if _, isBulk := value.As[*value.BulkSet](v); isBulk {
		return plan.SetOf(vs[lo:hi])
	}
	if v.Kind() == graph.KindSet {
		return graph.Set(vs[lo:hi:hi]...)
	}
	return graph.List(vs[lo:hi:hi]...)
}

func (r *run) sampleLocal(v graph.Value, n int64, random *value.Random) (graph.Value, error) {
	n = max(0, n)
	if es, ok := value.Entries(v); ok {
		if int64(len(es)) <= n {
			return v, nil
		}
		drawn, err := draw(r.meter, es, n, random)
		return graph.Map(drawn...), err
	}
	vs, ok := value.Elems(v)
	if _, isPath := value.As[*value.Path](v); !ok || isPath || int64(len(vs)) <= n {
		return v, nil
	}
	drawn, err := draw(r.meter, vs, n, random)
	return graph.List(drawn...), err
}

// draw draws n items at random without replacement. The items behind a drawn one move up,
// because their order decides which item the next random number draws: for a seed, the
// sample is that of TinkerPop. This work is counted.
func draw[T any](m *meter, from []T, n int64, random *value.Random) ([]T, error) {
	if err := m.checkItems(int64(len(from)), listBytes); err != nil {
		return nil, err
	}
	rest := slices.Clone(from)
	out := make([]T, 0, n)
	for range n {
		i := int(random.Intn(int32(len(rest))))
		if err := m.spend(1 + (len(rest)-i)/movedPerUnit); err != nil {
			return nil, err
		}
		out = append(out, rest[i])
		rest = slices.Delete(rest, i, i+1)
	}
	return out, nil
}

// movedPerUnit is the number of items that are moved within a list as one unit of work.
const movedPerUnit = 64

// reduceLocal reduces a collection to one number; an empty collection has none.
func (r *run) reduceLocal(op plan.ReduceOp, v graph.Value) (graph.Value, bool, error) {
	vs := iterate(v)
	if err := r.meter.spend(len(vs)); err != nil {
		return graph.Null, false, err
	}
	a := arithmetic{op: op, local: true}
	for _, x := range vs {
		if err := a.addValue(x, 1); err != nil {
			return graph.Null, false, err
		}
	}
	return a.result()
}

// indexBytes is the memory of an item that is paired with its index.
const indexBytes = 96

// withIndexes pairs items with their index.
func withIndexes(v graph.Value, asMap bool) graph.Value {
	vs := iterate(v)
	if asMap {
		es := make([]graph.Entry, len(vs))
		for i, x := range vs {
			es[i] = graph.Entry{Key: graph.Int(int32(i)), Value: x}
		}
		return graph.Map(es...)
	}
	out := make([]graph.Value, len(vs))
	for i, x := range vs {
		out[i] = graph.List(x, graph.Int(int32(i)))
	}
	return graph.List(out...)
}
