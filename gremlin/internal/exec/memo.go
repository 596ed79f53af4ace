package exec

import "vigil/graph"

// A memo knows of vertices whether a walk from there leads anywhere. Many walks
// meet at the same vertices: instances share groups, users share roles.
type memo struct {
	known graph.Bits
	leads graph.Bits
}

// memoAfter says when remembering pays: when so many times the number of walks
// is what a memo has to have room for.
const memoAfter = 64

// remember gives the moves of the walk that others come before a memo, if there
// is room.
func (w *walk) remember() {
	size := w.run.g.VertexCap()
	for i := range w.hops {
		if i == 0 || w.hops[i].kind != hopMove {
			continue
		}
		bytes := int64(size / 4)
		if w.run.meter.once(bytes) != nil || w.run.meter.hold(bytes) != nil {
			return
		}
		w.hops[i].memo = &memo{graph.NewBits(size), graph.NewBits(size)}
	}
}

// recall goes on from h with the move at hop i, unless it is known where that
// leads. It reports false to stop.
func (w *walk) recall(i int, p *hop, h graph.Handle) bool {
	if p.memo.known.Has(h) {
		if p.memo.leads.Has(h) {
			w.n = 1
			return false
		}
		return true
	}
	more := w.move(i, p, h)
	if w.run.meter.err != nil {
		return more
	}
	if p.memo.known.Set(h); w.n > 0 {
		p.memo.leads.Set(h)
	}
	return more
}
