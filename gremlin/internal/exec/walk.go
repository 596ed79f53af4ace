package exec

import (
	"vigil/graph"
	"vigil/gremlin/internal/plan"
)

// A walk is a traversal of moves and tests that is evaluated depth first on
// handles, without batches. It answers whether there is a result, how many there
// are, and which.
type walk struct {
	run  *run
	kind graph.Kind // kind of the start elements
	end  graph.Kind // kind of the results
	hops []hop

	checks int // number of existence checks

	// State of the current evaluation.
	goal  goal
	n     int64                    // toCount: number of results so far; toFind: positive if the walk has a result
	limit int64                    // toCount stops at this number of results; 0 means no limit
	visit func(graph.Handle) error // toVisit calls it for each result
	err   error                    // the error that visit returned
}

// A goal is the purpose of an evaluation of a walk.
type goal uint8

const (
	toFind  goal = iota // find out whether the walk has a result
	toCount             // count the results
	toVisit             // call walk.visit for each result
)

// A hop is one step of a walk.
type hop struct {
	kind   hopKind
	elem   graph.Kind  // kind of its input
	ways   []graph.Hop // the labels and directions of a move
	toEdge bool
	dirs   []graph.Direction // end points of edges
	test   *condTest         // test of its input
	table  *tableTest        // the part of test for elements of kind elem
	check  func(graph.Handle) bool
	want   bool  // what test must return
	memo   *memo // cached existence of results of the rest of the walk
}

type hopKind uint8

const (
	hopMove hopKind = iota
	hopEnds
	hopTest
	hopCheck
)

// walk compiles steps that start from vertices or edges. It returns nil if a step is not supported.
func (r *run) walk(steps []plan.Step, kind graph.Kind) *walk {
	w := &walk{run: r, kind: kind, end: kind}
	for _, s := range steps {
		if m := s.Info(); m.Extend || m.Attach || len(m.Forget) > 0 {
			return nil
		}
		if !w.add(s) {
			return nil
		}
	}
	return w
}

// add compiles one step and reports whether it is supported.
func (w *walk) add(s plan.Step) bool {
	h := hop{elem: w.end, want: true}
	switch s := s.(type) {
	case *plan.Identity:
		return true
	case *plan.Move:
		if w.end != graph.KindVertex {
			return false
		}
		h.kind, h.ways, h.toEdge = hopMove, w.run.hops(s), s.ToEdge
		if s.ToEdge {
			w.end = graph.KindEdge
		}
	case *plan.EdgeEnd:
		if w.end != graph.KindEdge {
			return false
		}
		h.kind, h.dirs = hopEnds, dirsOf(s.Dir)
		w.end = graph.KindVertex
	case *plan.Has:
		h.kind, h.test = hopTest, w.run.conds(s.Conds)
	case *plan.HasNot:
		h.kind, h.test, h.want = hopTest, w.run.absence(s), false
	case *plan.Filter, *plan.Not, *plan.And, *plan.Or:
		h.check = w.run.handleTest(s, w.end)
		if h.check == nil {
			return false
		}
		h.kind = hopCheck
	default:
		return false
	}
	if h.test != nil {
		h.table = h.test.table(h.elem)
	}
	w.hops = append(w.hops, h)
	return true
}

// matchesHop reports whether an element satisfies the test of a hop.
func (p *hop) matchesHop(g *graph.Graph, h graph.Handle) bool {
	if p.elem != graph.KindVertex || len(p.table.ids) > 0 {
		return p.test.matchElement(p.elem, h) == p.want
	}
	l, row := g.VertexRow(h)
	lt := p.table.label(l)
	return (lt.ok && lt.matchRow(row)) == p.want
}

// handleTest compiles a filter with traversals to a test of handles, or returns nil.
func (r *run) handleTest(s plan.Step, kind graph.Kind) func(graph.Handle) bool {
	switch s := s.(type) {
	case *plan.Filter:
		return r.existence(s.Traversal, kind)
	case *plan.Not:
		r.negated = !r.negated
		t := r.existence(s.Traversal, kind)
		r.negated = !r.negated
		if t == nil {
			return nil
		}
		return func(h graph.Handle) bool { return !t(h) }
	case *plan.And:
		return r.connectiveTest(s.Traversals, kind, false) // the first false decides
	case *plan.Or:
		return r.connectiveTest(s.Traversals, kind, true) // the first true decides
	}
	return nil
}

// connectiveTest compiles traversals to a test that stops at the first whose result is stop.
func (r *run) connectiveTest(ts []*plan.Traversal, kind graph.Kind, stop bool) func(graph.Handle) bool {
	var tests []func(graph.Handle) bool
	for _, t := range ts {
		test := r.existence(t, kind)
		if test == nil {
			return nil
		}
		tests = append(tests, test)
	}
	return func(h graph.Handle) bool {
		for _, t := range tests {
			if t(h) == stop {
				return stop
			}
		}
		return !stop
	}
}

// existence compiles a test of whether a traversal has a result, or returns nil.
// A traversal that ends with count().is(p) is supported too.
func (r *run) existence(t *plan.Traversal, kind graph.Kind) func(graph.Handle) bool {
	steps := t.Steps
	n := len(steps)
	if n >= 2 {
		is, ok := steps[n-1].(*plan.Is)
		_, counts := steps[n-2].(*plan.Count)
		if ok && counts && needsNoPath(is) {
			return r.countIs(steps[:n-2], is.Pred, kind)
		}
	}
	w := r.walk(steps, kind)
	if w == nil {
		return nil
	}
	return w.exists
}

func needsNoPath(s plan.Step) bool { return !s.Info().Extend && !s.Info().Attach }

// countIs compiles a test of whether the number of results satisfies a predicate.
func (r *run) countIs(steps []plan.Step, p *plan.Pred, kind graph.Kind) func(graph.Handle) bool {
	limit := int64(0)
	if n := len(steps); n > 0 {
		if cut, ok := steps[n-1].(*plan.Range); ok {
			if cut.Low != 0 || cut.High <= 0 { // below, limit 0 means no limit
				return nil
			}
			limit = cut.High
			steps = steps[:n-1]
		}
	}
	if r.opt.Reading != Plain {
		return r.countRangeIs(steps, p, limit, kind)
	}
	w := r.walk(steps, kind)
	if w == nil {
		return nil
	}
	return func(h graph.Handle) bool { return p.Test(r, graph.Long(w.count(h, limit))) }
}

// exists reports whether the walk from h has a result.
func (w *walk) exists(h graph.Handle) bool {
	w.checks++
	if w.checks == w.run.g.VertexCap()/memoDivisor {
		w.addMemos()
	}
	w.goal, w.n = toFind, 0
	w.continueAt(0, h)
	return w.n > 0
}

// count counts the results of the walk from h up to a limit; 0 means no limit.
func (w *walk) count(h graph.Handle, limit int64) int64 {
	w.goal, w.n, w.limit = toCount, 0, limit
	w.continueAt(0, h)
	if limit > 0 {
		return min(w.n, limit)
	}
	return w.n
}

// each calls fn for every result of the walk from h.
func (w *walk) each(h graph.Handle, fn func(graph.Handle) error) error {
	w.goal, w.visit, w.err = toVisit, fn, nil
	w.continueAt(0, h)
	return w.err
}

// continueAt continues at h with hop i. It returns false to end the walk. It returns true to go on
// with the next element, even if h leads to no result.
func (w *walk) continueAt(i int, h graph.Handle) bool {
	for ; i < len(w.hops); i++ {
		p := &w.hops[i]
		switch p.kind {
		case hopTest:
			if !p.matchesHop(w.run.g, h) {
				return true
			}
		case hopCheck:
			if !p.check(h) {
				return true
			}
		case hopMove:
			if p.memo != nil && w.goal == toFind {
				return w.moveOnce(i, p, h)
			}
			return w.move(i, p, h)
		case hopEnds:
			return w.ends(i, p, h)
		}
	}
	switch w.goal {
	case toFind:
		w.n = 1
		return false
	case toCount:
		w.n++
		return w.limit == 0 || w.n < w.limit
	}
	w.err = w.visit(h)
	return w.err == nil
}

func (w *walk) move(i int, p *hop, h graph.Handle) bool {
	for k := range p.ways {
		to := []graph.Handle(nil)
		if p.toEdge {
			to, _ = p.ways[k].Edges(h)
		} else {
			to = p.ways[k].To(h)
		}
		if !w.continueWith(i, to) {
			return false
		}
	}
	return true
}

// continueWith continues with the results of a move.
func (w *walk) continueWith(i int, to []graph.Handle) bool {
	if len(to) == 0 {
		return true
	}
	if !w.run.meter.tick(len(to)) {
		return false
	}
	if i+1 == len(w.hops) && w.goal != toVisit { // all elements of to are results
		w.n += int64(len(to))
		return w.goal == toCount && (w.limit == 0 || w.n < w.limit)
	}
	if i+2 == len(w.hops) && w.hops[i+1].kind == hopTest && w.goal != toVisit {
		return w.applyLastTest(&w.hops[i+1], to)
	}
	for _, h := range to {
		if !w.continueAt(i+1, h) {
			return false
		}
	}
	return true
}

// applyLastTest adds the elements that pass the last test of a walk to its results.
// It returns false to stop.
func (w *walk) applyLastTest(p *hop, targets []graph.Handle) bool {
	g := w.run.g
	for _, h := range targets {
		if !p.matchesHop(g, h) {
			continue
		}
		w.n++
		if w.goal == toFind || w.limit > 0 && w.n >= w.limit {
			return false
		}
	}
	return true
}

func (w *walk) ends(i int, p *hop, e graph.Handle) bool {
	g := w.run.g
	for _, d := range p.dirs {
		h := g.Source(e)
		if d == graph.In {
			h = g.Target(e)
		}
		if !w.continueAt(i+1, h) {
			return false
		}
	}
	return true
}
