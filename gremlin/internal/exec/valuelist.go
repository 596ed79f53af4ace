package exec

import "vigil/graph"

// valueList is a list that grows in pieces, so that a long one need not be copied
// again and again while it grows.
type valueList struct {
	full [][]graph.Value // pieces that are complete
	tail []graph.Value
	n    int
}

// pieceLen is the length of a piece of a long list.
const pieceLen = 4096

// add appends n times v.
func (l *valueList) add(v graph.Value, n int64) {
	l.n += int(n)
	for range n {
		if len(l.tail) == pieceLen {
			l.full = append(l.full, l.tail)
			l.tail = make([]graph.Value, 0, pieceLen)
		}
		l.tail = append(l.tail, v)
	}
}

// values returns the whole list.
func (l *valueList) values() []graph.Value {
	if len(l.full) == 0 {
		return l.tail
	}
	out := make([]graph.Value, 0, l.n)
	for _, p := range l.full {
		out = append(out, p...)
	}
	return append(out, l.tail...)
}

// append adds n times v to a list and returns how much memory that takes.
func (r *run) append(l *valueList, v graph.Value, n int64) (int64, error) {
	bytes, err := r.weigh(v)
	if err != nil {
		return 0, err
	}
	if err := r.meter.once(listBytes * n); err != nil {
		return 0, err
	}
	if err := r.meter.spend(int(n)); err != nil {
		return 0, err
	}
	l.add(v, n)
	return listBytes*n + bytes, nil
}
