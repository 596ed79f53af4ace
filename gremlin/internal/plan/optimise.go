package plan

// Optimise rewrites a plan to an equivalent one with lower cost. Each rewrite is
// a function of one chain; nested chains are rewritten first.
func Optimise(r *Root) {
	o := optimiser{root: r}
	Walk(&r.Traversal, func(s Step) { o.usesPaths = o.usesPaths || ownNeed(s).full && !isOtherEnd(s) })
	o.usesPaths = o.usesPaths || r.FullPath
	o.chain(&r.Traversal)
	Annotate(r) // for o.bulk; the rewrites after it make the annotations obsolete
	if !r.Lazy && !r.NoBulk && r.Sack == nil && !o.usesSacks() {
		o.bulk(&r.Traversal)
	}
	o.order(&r.Traversal)
	if !r.Lazy && !r.NoBulk {
		countUnseen(&r.Traversal)
	}
	Annotate(r)
}

// optimiser holds facts about the whole query.
type optimiser struct {
	root      *Root
	usesPaths bool // some step uses whole paths; otherV() does not count, because it uses only their vertices
}

func isOtherEnd(s Step) bool {
	_, ok := s.(*OtherEnd)
	return ok
}

func (o *optimiser) usesSacks() bool {
	found := false
	Walk(&o.root.Traversal, func(s Step) {
		switch s.(type) {
		case *SackPut, *SackOf:
			found = true
		}
	})
	return found
}

// chain rewrites a chain and its nested chains.
func (o *optimiser) chain(t *Traversal) {
	for _, s := range t.Steps {
		for _, c := range Children(s) {
			o.chain(c)
		}
	}
	t.Steps = dropIdentities(t.Steps)
	if !o.root.Lazy {
		t.Steps = simplifyTests(t.Steps)
	}
	t.Steps = inlineFilters(t.Steps)
	if !o.usesPaths {
		t.Steps = overEdges(t.Steps)
	}
	t.Steps = mergeHas(t.Steps)
	t.Steps = rankFilters(t.Steps)
	t.Steps = mergeHas(t.Steps)
	t.Steps = pullHas(t.Steps)
	if !o.root.Lazy {
		t.Steps = earlyLimit(t.Steps)
		t.Steps = topOrder(t.Steps)
		t.Steps = bareCount(t.Steps)
	}
}

// dropIdentities removes steps that do nothing. A chain of only such steps keeps one.
func dropIdentities(steps []Step) []Step {
	var out []Step
	for i, s := range steps {
		if id, ok := s.(*Identity); ok && len(id.Labels) == 0 && (len(out) > 0 || i+1 < len(steps)) {
			continue
		}
		out = append(out, s)
	}
	return out
}

// overEdges replaces outE().inV() and similar pairs by out() when the edge is not used.
func overEdges(steps []Step) []Step {
	var out []Step
	for i := 0; i < len(steps); i++ {
		m, ok := steps[i].(*Move)
		if !ok || !m.ToEdge || len(m.Labels) > 0 || i+1 == len(steps) {
			out = append(out, steps[i])
			continue
		}
		if end := steps[i+1]; movesFromEdge(m.Dir, end) {
			name := [...]string{"out", "in", "both"}[m.Dir]
			out = append(out, &Move{
				Meta: Meta{Name: name, Labels: end.Info().Labels}, Dir: m.Dir, ByLabel: m.ByLabel, EdgeLabels: m.EdgeLabels,
			})
			i++
			continue
		}
		out = append(out, m)
	}
	return out
}

// movesFromEdge reports whether s moves to the far end of an edge that was reached in
// direction d.
func movesFromEdge(d Direction, s Step) bool {
	switch s := s.(type) {
	case *OtherEnd:
		return true
	case *EdgeEnd:
		return d == Out && s.Dir == In || d == In && s.Dir == Out
	}
	return false
}
