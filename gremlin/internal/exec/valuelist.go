package exec

import "vigil/graph"

// valueList is a list that grows in pieces, so that a long one need not be copied
// again and again while it grows.
type valueList struct {
	full [][]graph.Value // pieces that are complete
	n    int             // values in them
	tail []graph.Value
}

// pieceLen is the length of a piece of a long list.
const pieceLen = 4096

// add appends n times v.
func (l *valueList) add(v graph.Value, n int64) {
	for range n {
		l.tail = append(l.tail, v)
		l.grown()
	}
}

// grown puts the tail away once it is long enough.
func (l *valueList) grown() {
	if len(l.tail) >= pieceLen {
		l.full = append(l.full, l.tail)
		l.n += len(l.tail)
		l.tail = make([]graph.Value, 0, pieceLen)
	}
}

// len returns how many values there are.
func (l *valueList) len() int { return l.n + len(l.tail) }

// list makes a list of what was collected. A long one takes a while, which counts
// as work.
func (r *run) list(l *valueList) (graph.Value, error) {
	if len(l.full) == 0 {
		return graph.List(l.tail...), nil
	}
	out := make([]graph.Value, 0, l.len())
	for _, p := range l.full {
		if err := r.meter.spend(len(p) / 16); err != nil {
			return graph.Null, err
		}
		out = append(out, p...)
	}
	return graph.List(append(out, l.tail...)...), nil
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
