package plan

import "maps"

// need describes which parts of the path later steps use.
type need struct {
	full   bool            // the whole path
	labels map[string]bool // by label: true if all objects with the label are needed, false if only the last one
}

func (n need) empty() bool { return !n.full && len(n.labels) == 0 }

func (n need) needsAny(labels []string) bool {
	for _, l := range labels {
		if _, ok := n.labels[l]; ok || n.full {
			return true
		}
	}
	return false
}

// before returns the need before a step that assigns labels: where only the last
// object of such a label is needed, the step provides it.
func (n need) before(labels []string) need {
	if !n.needsAny(labels) {
		return n
	}
	out := need{full: n.full, labels: maps.Clone(n.labels)}
	for _, l := range labels {
		if !out.labels[l] {
			delete(out.labels, l)
		}
	}
	return out
}

func (n need) with(more ...need) need {
	out := need{full: n.full, labels: maps.Clone(n.labels)}
	for _, m := range more {
		out.full = out.full || m.full
		for l, all := range m.labels {
			if out.labels == nil {
				out.labels = map[string]bool{}
			}
			out.labels[l] = out.labels[l] || all
		}
	}
	return out
}

func (n need) equal(m need) bool { return n.full == m.full && maps.Equal(n.labels, m.labels) }

func needLabels(labels ...string) need {
	n := need{labels: map[string]bool{}}
	for _, l := range labels {
		if l != "" {
			n.labels[l] = false
		}
	}
	return n
}

// Annotate determines, from the end of the query to its start, which parts of
// the path each step must store. Paths and labels that no later step uses are
// dropped, so that equal traversers can be merged.
func Annotate(r *Root) {
	markOrigins(&r.Traversal, false) // a query has no edges before its first step
	a := annotator{keep: keptLabels(r), assigned: givenLabels(r)}
	after := need{full: r.FullPath}
	if r.Sack != nil && r.Sack.Merge != "" {
		// Merging of sacks depends on the paths of their traversers.
		Walk(&r.Traversal, func(s Step) { after.full = after.full || ownNeed(s).full })
	}
	a.chain(&r.Traversal, after)
	id := 0
	Walk(&r.Traversal, func(s Step) {
		id++
		s.Info().ID = id
	})
}

// annotator annotates the steps of one query.
type annotator struct {
	keep     map[Step]map[string]bool // see keptLabels
	assigned map[string]bool          // labels that some step assigns
}

// givenLabels returns the labels that some step assigns. Other names in a select() are
// side effects or keys of maps.
func givenLabels(r *Root) map[string]bool {
	out := map[string]bool{}
	Walk(&r.Traversal, func(s Step) {
		for _, l := range s.Info().Labels {
			out[l] = true
		}
		if m, ok := s.(*Match); ok {
			m.addAssigned(out)
		}
	})
	return out
}

func (m *Match) addAssigned(out map[string]bool) {
	for _, l := range m.Vars {
		out[l] = true
	}
	for _, p := range m.Patterns {
		if p.Nested != nil {
			p.Nested.addAssigned(out)
		}
	}
}

// ownNeed returns the need of the step itself, restricted to labels that exist.
func (a *annotator) ownNeed(s Step) need {
	n := ownNeed(s)
	for l := range n.labels {
		if !a.assigned[l] {
			delete(n.labels, l)
		}
	}
	return n
}

// chain annotates the steps of t, given the need after it, and returns the need before it.
func (a *annotator) chain(t *Traversal, after need) need {
	n := after
	for i := len(t.Steps) - 1; i >= 0; i-- {
		s := t.Steps[i]
		m := s.Info()
		m.Extend = MakesObject(s) && (n.full || n.needsAny(m.Labels))
		m.Attach = !MakesObject(s) && n.needsAny(m.Labels)
		m.Forget = a.droppedLabels(s, n)
		rest := n.before(m.Labels)
		before := a.ownNeed(s).with(a.children(s, rest))
		if !resetsPath(s) {
			before = before.with(rest)
		}
		m.DropPath = n.empty() && !before.empty() && !resetsPath(s)
		m.free = n.empty()
		n = before
	}
	return n
}

// droppedLabels returns the labels that are needed after s but lost there, as TinkerPop loses
// them: see keptLabels.
func (a *annotator) droppedLabels(s Step, n need) []string {
	keep, ok := a.keep[s]
	if !ok {
		return nil
	}
	var out []string
	for l := range n.labels {
		if !keep[l] {
			out = append(out, l)
		}
	}
	return out
}

// children annotates the nested traversals of s and returns their need.
func (a *annotator) children(s Step, after need) need {
	out := need{}
	eval := func(ts ...*Traversal) { // the paths of their results are not used
		for _, t := range ts {
			if t != nil {
				out = out.with(a.chain(t, need{}))
			}
		}
	}
	flow := func(ts ...*Traversal) { // their results go on to the step after s
		for _, t := range ts {
			out = out.with(a.chain(t, after))
		}
	}
	for _, by := range Bys(s) {
		eval(by.Traversal)
	}
	switch s := s.(type) {
	case *Local:
		flow(s.Traversal)
	case *Optional:
		flow(s.Traversal)
	case *Union:
		flow(s.Traversals...)
	case *Choose:
		eval(s.Test)
		for _, o := range s.Options {
			eval(o.Test)
			flow(o.Traversal)
		}
	case *Repeat:
		return out.with(a.loop(s, after))
	case *Match:
		return out.with(a.match(s, after))
	default:
		eval(appendTraversals(nil, s)...)
	}
	return out
}

// loop returns the need of the body of a repeat: the need after the loop, and
// that of the next iteration.
func (a *annotator) loop(r *Repeat, after need) need {
	outer := need{}
	if r.Until != nil {
		outer = outer.with(a.chain(r.Until, need{}))
	}
	if r.Emit != nil {
		outer = outer.with(a.chain(r.Emit, need{}))
	}
	n := after.with(outer)
	for {
		next := n.with(a.chain(r.Body, n))
		if next.equal(n) {
			break
		}
		n = next
	}
	r.Merge = n.empty()
	r.MergeByPath = !n.full && !extendsPaths(r.Body)
	return n
}

// extendsPaths reports whether steps of t, including nested ones, extend paths.
func extendsPaths(t *Traversal) bool {
	found := false
	Walk(t, func(s Step) { found = found || s.Info().Extend || s.Info().Attach })
	return found
}

func (a *annotator) match(m *Match, after need) need {
	m.Whole = after.full
	vars := needLabels(m.Vars...)
	n := after.with(vars)
	for _, p := range m.Patterns {
		if p.Nested != nil {
			n = n.with(a.match(p.Nested, n))
		}
		if p.Traversal != nil {
			n = n.with(a.chain(p.Traversal, after.with(vars)))
		}
	}
	return n
}

// ownNeed returns the need of the step itself.
func ownNeed(s Step) need {
	switch s := s.(type) {
	case *PathOf, *PathFilter, *TreeOf, *SelectBy:
		return need{full: true}
	case *OtherEnd:
		return need{full: !s.Simple}
	case *Select:
		n := needLabels(s.Keys...)
		for l := range n.labels {
			n.labels[l] = s.Pop != PopLast
		}
		return n
	case *WhereStart:
		return needLabels(s.Label)
	case *WhereEnd:
		return needLabels(s.Label)
	case *WherePred:
		n := needLabels(s.Start)
		s.Pred.Walk(func(p *Pred) {
			if len(p.Args) == 0 {
				n = n.with(needLabels(p.Label()))
			}
		})
		return n
	case *Dedup:
		return needLabels(s.Over...)
	case *Math:
		return needLabels(MathVariables(s.Expr)...)
	case *Format:
		return needLabels(FormatVariables(s.Template)...)
	}
	return need{}
}

// LooksAtPaths reports whether a step of t, including nested ones, uses whole paths.
func LooksAtPaths(t *Traversal) bool {
	found := false
	Walk(t, func(s Step) { found = found || ownNeed(s).full })
	return found
}

// resetsPath reports whether the results of a step start a new path.
func resetsPath(s Step) bool {
	if g, ok := s.(*Graph); ok {
		return !g.Mid
	}
	return isReducing(s)
}

// MakesObject reports whether the results of a step are new objects, not its
// input or results of a nested traversal.
func MakesObject(s Step) bool {
	switch s := s.(type) {
	case *Has, *HasNot, *Is, *Filter, *Not, *And, *Or, *WherePred, *WhereEnd, *Range, *Tail, *Dedup, *Sample, *Coin,
		*PathFilter, *Discard, *TimeLimit, *Items, *Identity, *Order, *SackPut, *Local, *Union, *Choose, *Optional, *Repeat,
		*Aggregate, *SubgraphOf, *SideEffect, *Barrier, *Bulk, *Fail:
		return false
	case *Group:
		return s.SideEffect == ""
	case *GroupCount:
		return s.SideEffect == ""
	case *TreeOf:
		return s.SideEffect == ""
	}
	return true
}

// markOrigins finds the otherV() steps that need no path, because their edges carry the vertex
// from which they were reached. known says whether the input of t consists of such edges.
// markOrigins reports whether the results of t do.
func markOrigins(t *Traversal, known bool) bool {
	for _, s := range t.Steps {
		childrenKnown := true
		for _, c := range Children(s) {
			childrenKnown = markOrigins(c, known) && childrenKnown
		}
		switch s := s.(type) {
		case *Move:
			known = s.ToEdge
		case *OtherEnd:
			s.Simple = known
			known = false
		case *Local, *Union, *Coalesce:
			known = childrenKnown
		case *Optional:
			known = known && childrenKnown // its input can pass unchanged
		case *Choose, *Repeat:
			known = false
		default:
			known = known && !MakesObject(s)
		}
	}
	return known
}
