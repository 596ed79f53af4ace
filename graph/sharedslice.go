package graph

import "sync/atomic"

// A growing is a slice that graphs patched from one another share. What is in it
// never changes; the graph at the end of the line appends in place, any other
// one gets a copy.
type growing[T any] struct {
	items []T
	used  *atomic.Int64 // how much of the array behind items is taken
}

func grown[T any](items []T) growing[T] {
	g := growing[T]{items: items, used: new(atomic.Int64)}
	g.used.Store(int64(len(items)))
	return g
}

// fit returns a copy of s without room to spare.
func fit[T any](s []T) []T {
	if len(s) == cap(s) {
		return s
	}
	t := make([]T, len(s))
	copy(t, s)
	return t
}

// with returns the slice with x appended.
func (g growing[T]) with(x T) growing[T] {
	n := len(g.items)
	if n < cap(g.items) && g.used.CompareAndSwap(int64(n), int64(n+1)) {
		g.items = g.items[:n+1]
		g.items[n] = x
		return g
	}
	items := make([]T, n+1, n+n/8+16)
	copy(items, g.items)
	items[n] = x
	return grown(items)
}
