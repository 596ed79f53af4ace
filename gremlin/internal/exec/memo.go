package exec

import "vigil/graph"

// A memo caches by vertex whether a walk from it has a result. Many walks meet
// at the same vertices: instances share groups, users share roles.
type memo struct {
	known graph.Bits // vertices whose answer is cached
	leads graph.Bits // those of them from which the walk has a result
}

// A walk gets memos when the number of its existence checks reaches the number of vertices of the
// graph divided by memoDivisor.
const memoDivisor = 64

// addMemos adds memos to the moves of the walk, if the budget allows. A move at the first hop
// gets none.
func (w *walk) addMemos() {
	size := w.run.g.VertexCap()
	for i := range w.hops {
		if i == 0 || w.hops[i].kind != hopMove {
			continue
		}
		bytes := int64(size / 4) // two bits per vertex
		if w.run.meter.checkSize(bytes) != nil || w.run.meter.reserve(bytes) != nil {
			return
		}
		w.hops[i].memo = &memo{graph.NewBits(size), graph.NewBits(size)}
	}
}

// moveOnce continues at h with the move at hop i unless the result is cached. It
// returns false to stop.
func (w *walk) moveOnce(i int, p *hop, h graph.Handle) bool {
	if p.memo.known.Has(h) {
		if p.memo.leads.Has(h) {
			w.n = 1 // there is a result; the number of results does not matter
			return false
		}
		return true
	}
	more := w.move(i, p, h)
	if w.run.meter.err != nil {
		return more
	}
	p.memo.known.Set(h)
	if w.n > 0 {
		p.memo.leads.Set(h)
	}
	return more
}
