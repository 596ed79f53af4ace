package graph

import "sync/atomic"

// A sharedSlice is an append-only slice that a graph shares with the graphs
// patched from it. Its content never changes. The newest graph appends in place;
// appending from an older one copies the slice.
type sharedSlice[T any] struct {
	items []T
	used  *atomic.Int64 // used length of the backing array
}

func newSharedSlice[T any](items []T) sharedSlice[T] {
	s := sharedSlice[T]{items: items, used: new(atomic.Int64)}
	s.used.Store(int64(len(items)))
	return s
}

// fit returns s without spare capacity. It copies s if necessary.
func fit[T any](s []T) []T {
	if len(s) == cap(s) {
		return s
	}
	t := make([]T, len(s))
	copy(t, s)
	return t
}

// with returns the slice with x appended.
func (s sharedSlice[T]) with(x T) sharedSlice[T] {
	n := len(s.items)
	if n < cap(s.items) && s.used.CompareAndSwap(int64(n), int64(n+1)) {
		s.items = s.items[:n+1]
		s.items[n] = x
		return s
	}
	items := make([]T, n+1, n+n/8+16)
	copy(items, s.items)
	items[n] = x
	return newSharedSlice(items)
}
