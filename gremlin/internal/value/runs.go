package value

import (
	"slices"

	"vigil/graph"
)

// A run is a value of a set with its count.
type run struct {
	value graph.Value
	count int64
}

// sortedRuns returns the values of a set or bulk set, sorted like [Order] with the given Space.
// Without a Space, elements are sorted by handle. The comparisons count as work of meter.
func sortedRuns(meter, space Space, set graph.Value) []run {
	var runs []run
	if b, ok := As[*BulkSet](set); ok {
		for i := range b.Len() {
			v, n := b.At(i)
			runs = append(runs, run{v, n})
		}
	} else {
		for _, v := range set.Elems() {
			runs = append(runs, run{v, 1})
		}
	}
	sortBy(meter, space, runs, func(r run) graph.Value { return r.value })
	return runs
}

// align returns the items of two sorted sets for a comparison of the items at the same index. Bulk
// sets may have too many items to list. So a pair of items that repeats is returned once, and of the
// items beyond the end of the shorter set only the first is returned.
func align(a, b []run) (x, y []graph.Value) {
	for len(a) > 0 && len(b) > 0 {
		x, y = append(x, a[0].value), append(y, b[0].value)
		n := min(a[0].count, b[0].count)
		a, b = skip(a, n), skip(b, n)
	}
	if len(a) > 0 {
		x = append(x, a[0].value)
	}
	if len(b) > 0 {
		y = append(y, b[0].value)
	}
	return x, y
}

// skip removes the first n items, which must be in the first run. It changes runs.
func skip(runs []run, n int64) []run {
	runs[0].count -= n
	if runs[0].count == 0 {
		return runs[1:]
	}
	return runs
}

// setSize returns the number of items of a set or bulk set.
func setSize(set graph.Value) int64 {
	if b, ok := As[*BulkSet](set); ok {
		return b.Size()
	}
	return int64(len(set.Elems()))
}

// sortBy sorts items by their values, like [Order] with the given Space. The comparisons count as work
// of meter, which may be nil.
func sortBy[T any](meter, space Space, items []T, value func(T) graph.Value) {
	slices.SortStableFunc(items, func(a, b T) int {
		if meter != nil && !meter.Tick(1) {
			return 0
		}
		return Order(space, value(a), value(b))
	})
}
