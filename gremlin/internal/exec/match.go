package exec

import (
	"vigil/graph"
	"vigil/gremlin/internal/plan"
	"vigil/gremlin/internal/value"
)

// matchOp solves patterns jointly for one row at a time. Bindings of labels are stored in the path.
type matchOp struct {
	output
	step  *plan.Match
	group *patternGroup
}

// patternGroup is a match() or a nested connective of patterns.
type patternGroup struct {
	run      *run
	any      bool // an or(): one pattern is enough
	patterns []*pattern
}

// pattern is one pattern with its operators.
type pattern struct {
	plan.Pattern
	c           *child
	nested      *patternGroup
	flat        bool // results do not extend the path
	startInPath bool // the start label is part of the path
}

func (r *run) matchOp(s *plan.Match, next op) (op, error) {
	g, err := r.patternGroup(s)
	return &matchOp{output: r.output(s, next), step: s, group: g}, err
}

func (r *run) patternGroup(m *plan.Match) (*patternGroup, error) {
	g := &patternGroup{run: r, any: m.Any}
	for _, p := range m.Patterns {
		q := &pattern{Pattern: p, startInPath: m.Whole}
		var err error
		before := r.negated
		if p.Not {
			r.negated = !r.negated
		}
		if p.Nested != nil {
			q.nested, err = r.patternGroup(p.Nested)
		} else {
			q.c, err = r.newChild(p.Traversal)
			q.flat = hasBarrier(p.Traversal)
		}
		r.negated = before
		if err != nil {
			return nil, err
		}
		g.patterns = append(g.patterns, q)
	}
	return g, nil
}

func (o *matchOp) push(b *batch) error {
	n := b.len()
	if err := o.run.meter.spend(n); err != nil {
		return err
	}
	for i := range n {
		var row batch
		row.appendRow(b, i)
		row.path = fill(row.path, 1, nil)
		if s := o.step.Start; s != "" && !row.path[0].has(s) {
			if err := o.run.label(&row, []string{s}); err != nil {
				return err
			}
		}
		if err := o.group.solve(&row, 0, o.solution); err != nil {
			return o.flushThenFail(err)
		}
	}
	return o.flush()
}

// solution emits the result of a row in which everything is bound.
func (o *matchOp) solution(row *batch) error {
	var m mapBuilder
	for _, name := range o.step.Vars {
		if v, ok := row.pathOf(0).get(name, plan.PopLast); ok {
			m.put(graph.String(name), v)
		}
	}
	return o.emit(row, 0, m.value())
}

// solve finds all solutions of the remaining patterns and calls found for each. Bit i of done
// says that pattern i is solved.
func (g *patternGroup) solve(row *batch, done uint64, found func(*batch) error) error {
	if err := g.run.meter.spend(1); err != nil {
		return err
	}
	if g.any {
		for _, p := range g.patterns {
			if !p.isReady(row) {
				continue
			}
			if err := p.run(row, found); err != nil {
				return err
			}
		}
		return nil
	}
	if done == 1<<len(g.patterns)-1 {
		return found(row)
	}
	index := g.choose(row, done)
	if index < 0 {
		return value.Errorf("The provided match pattern is unsolvable")
	}
	return g.patterns[index].run(row, func(next *batch) error {
		var own batch
		own.copyOf(next)
		return g.solve(&own, done|1<<index, found)
	})
}

// choose returns the next pattern to solve: tests before moves, in the order of the text.
func (g *patternGroup) choose(row *batch, done uint64) int {
	best := -1
	for i, p := range g.patterns {
		if done&(1<<i) != 0 || !p.isReady(row) {
			continue
		}
		if p.Where != nil || p.Not || p.End != "" && row.pathOf(0).has(p.End) {
			return i
		}
		if best < 0 {
			best = i
		}
	}
	return best
}

// isReady reports whether all labels that a pattern needs are bound. A nested connective is ready
// as soon as one of its patterns is.
func (p *pattern) isReady(row *batch) bool {
	if p.nested != nil {
		for _, q := range p.nested.patterns {
			if q.isReady(row) {
				return true
			}
		}
		return false
	}
	for _, name := range p.Needs {
		if name != "" && !row.pathOf(0).has(name) {
			return false
		}
	}
	if p.Not && p.End != "" && !row.pathOf(0).has(p.End) {
		return false
	}
	return true
}

// run solves a pattern and calls found for every solution.
func (p *pattern) run(row *batch, found func(*batch) error) error {
	switch {
	case p.nested != nil && p.Not:
		if err := p.nested.solve(row, 0, func(*batch) error { return errDone }); err != nil {
			return ignoreDone(err) // errDone: there is a solution, so the not() fails
		}
		return found(row)
	case p.nested != nil:
		return p.nested.solve(row, 0, found)
	case p.Where != nil:
		ok, err := p.c.exists(row, 0)
		if err != nil || ok == p.Not {
			return err
		}
		return found(row)
	}
	v, _ := row.pathOf(0).get(p.Start, plan.PopLast)
	start := withValue(row, v)
	if p.startInPath {
		path, err := p.c.run.lengthen(row.pathOf(0), v, nil)
		if err != nil {
			return err
		}
		start.path = []*node{path}
	}
	if p.Not {
		err := p.c.start(start, 0, func(b *batch) error {
			for j := range b.len() {
				if p.End == "" || p.matchesBinding(row, b.value(j)) {
					return errDone
				}
			}
			return nil
		})
		if err != nil {
			return ignoreDone(err)
		}
		return found(row)
	}
	return p.c.start(start, 0, func(b *batch) error { return p.bind(row, start.pathOf(0), b, found) })
}

// withValue returns a copy of a row with another object.
func withValue(row *batch, v graph.Value) *batch {
	out := &batch{bulk: row.bulk, path: row.path, sack: row.sack}
	switch v.Kind() {
	case graph.KindVertex, graph.KindEdge:
		out.kind = v.Kind()
		out.ids = []graph.Handle{v.Handle()}
	default:
		out.vals = []graph.Value{v}
	}
	return out
}

// matchesBinding reports whether v equals the binding of the pattern's end label.
func (p *pattern) matchesBinding(row *batch, v graph.Value) bool {
	w, ok := row.pathOf(0).get(p.End, plan.PopLast)
	return ok && equal(v, w)
}

// bind binds the results b of a pattern to its end label. startPath is the path at the start of
// the pattern.
func (p *pattern) bind(row *batch, startPath *node, b *batch, found func(*batch) error) error {
	for j := range b.len() {
		var next batch
		next.appendRow(b, j)
		next.path = fill(next.path, 1, nil)
		next.path[0] = b.pathOf(j)
		if p.flat {
			next.path[0] = startPath
		}
		if p.End != "" {
			if row.pathOf(0).has(p.End) {
				if !p.matchesBinding(row, next.value(0)) {
					continue
				}
			}
			if err := p.c.run.label(&next, []string{p.End}); err != nil {
				return err
			}
		}
		if row.bulk != nil {
			bulk, err := mulBulk(b.count(j), row.count(0))
			if err != nil {
				return err
			}
			next.setBulk(bulk)
		}
		if err := found(&next); err != nil {
			return err
		}
	}
	return nil
}
