package exec

import "vigil/graph"

// valueList is a list that grows in chunks, so that growing a long list does not
// copy it repeatedly.
type valueList struct {
	full [][]graph.Value // complete chunks
	n    int             // number of values in full
	tail []graph.Value
}

// chunkLen is the length of a chunk.
const chunkLen = 4096

// add appends v n times.
func (l *valueList) add(v graph.Value, n int64) {
	for range n {
		l.tail = append(l.tail, v)
		l.grow()
	}
}

// grow moves the tail to the full chunks when it is long enough.
func (l *valueList) grow() {
	if len(l.tail) >= chunkLen {
		l.full = append(l.full, l.tail)
		l.n += len(l.tail)
		l.tail = make([]graph.Value, 0, chunkLen)
	}
}

// len returns the number of values.
func (l *valueList) len() int { return l.n + len(l.tail) }

// list converts the collected values to a list. The time for a long list counts as work.
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

// append appends v n times and returns the memory used.
func (r *run) append(l *valueList, v graph.Value, n int64) (int64, error) {
	bytes, err := r.sizeOf(v)
	if err != nil {
		return 0, err
	}
	if err := r.meter.checkItems(n, listBytes); err != nil {
		return 0, err
	}
	if err := r.meter.spend(int(n)); err != nil {
		return 0, err
	}
	l.add(v, n)
	return listBytes*n + bytes, nil
}
