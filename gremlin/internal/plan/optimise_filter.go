package plan

import (
	"cmp"
	"slices"
)

// simplifyTests replaces tests by cheaper ones. A trailing values() of a test
// becomes a condition. A comparison of a count stops counting as early as possible:
// a comparison with zero is an existence test, and "more than five" is decided at six.
// The traversals of the steps are changed in place.
func simplifyTests(steps []Step) []Step {
	out := slices.Clone(steps)
	for i := range out {
		for _, t := range testsOf(out[i]) {
			replaceTrailingValues(t)
		}
		switch s := out[i].(type) {
		case *Filter:
			out[i] = simplifyCount(s, s.Traversal)
		case *Not:
			out[i] = simplifyCount(s, s.Traversal)
		}
	}
	return out
}

// testsOf returns the traversals of a step for which only the existence of a result matters.
func testsOf(s Step) []*Traversal {
	switch s := s.(type) {
	case *Filter, *Not, *And, *Or:
		return appendTraversals(nil, s)
	case *Choose:
		if s.Test != nil {
			return []*Traversal{s.Test}
		}
	case *Repeat:
		var out []*Traversal
		if s.Until != nil {
			out = append(out, s.Until)
		}
		if s.Emit != nil {
			out = append(out, s.Emit)
		}
		return out
	}
	return nil
}

// replaceTrailingValues replaces values(k).is(p) or values(k) at the end of a test by a
// has step: only the existence of such a value matters.
func replaceTrailingValues(t *Traversal) {
	for n := min(2, len(t.Steps)); n > 0; n-- {
		before := len(t.Steps) - n
		tail := &Traversal{Steps: t.Steps[before:]}
		if len(last(tail).Info().Labels) > 0 {
			return
		}
		if h := asHas(tail); h != nil {
			t.Steps = append(slices.Clone(t.Steps[:before]), h)
			return
		}
	}
}

// simplifyCount simplifies where(x.count().is(p)) and not(x.count().is(p)); t is the traversal
// of s. For an existence test, it returns where(x) or not(x), else s with a limit() before the
// count(). It returns any other step unchanged.
func simplifyCount(s Step, t *Traversal) Step {
	n := len(t.Steps)
	if n < 3 {
		return s
	}
	count, ok := t.Steps[n-2].(*Count)
	is, isOK := t.Steps[n-1].(*Is)
	if !ok || !isOK || len(count.Labels)+len(is.Labels) > 0 || hasSideEffects(t) {
		return s
	}
	_, negated := s.(*Not)
	wantResult, limit := limitOfCount(is.Pred)
	counted := &Traversal{Steps: t.Steps[:n-2]}
	meta := Meta{Name: s.Info().Name, Labels: s.Info().Labels}
	switch {
	case wantResult != nil && *wantResult != negated:
		meta.Name = "where"
		return &Filter{Meta: meta, Traversal: counted}
	case wantResult != nil:
		meta.Name = "not"
		return &Not{Meta: meta, Traversal: counted}
	case limit > 0:
		if _, limited := t.Steps[n-3].(*Range); !limited {
			t.Steps = slices.Insert(t.Steps, n-2, Step(&Range{Meta: Meta{Name: "limit"}, High: limit}))
		}
	}
	return s
}

// limitOfCount finds out how far to count for a predicate on the count. If the predicate
// is an existence test, wantResult is true when there must be a result and false when
// there must be none. Otherwise wantResult is nil, and limit is the number at which counting
// can stop, or 0 if there is no such number.
func limitOfCount(p *Pred) (wantResult *bool, limit int64) {
	switch p.Op {
	case AllOf, AnyOf, NotOf:
		for _, a := range p.Args {
			existence, n := limitOfCount(a)
			if existence != nil {
				n = 1 // the first result decides
			}
			if n == 0 {
				return nil, 0
			}
			limit = max(limit, n)
		}
		return nil, limit
	case Within, Without:
		for _, v := range p.Values {
			if !v.IsInteger() || v.Int() < 0 {
				return nil, 0
			}
			limit = max(limit, v.Int()+1)
		}
		return nil, limit
	case Eq, Neq, Lt, Lte, Gt, Gte:
		return limitOfComparison(p)
	}
	return nil, 0
}

// limitOfComparison is limitOfCount for the comparison of a count with a number.
func limitOfComparison(p *Pred) (wantResult *bool, limit int64) {
	const highest = 1 << 32 // a higher limit saves nothing
	if !p.Value.IsInteger() || p.Value.Int() < 0 || p.Value.Int() > highest {
		return nil, 0
	}
	n := p.Value.Int()
	switch {
	case n == 0 && (p.Op == Gt || p.Op == Neq), n == 1 && p.Op == Gte:
		return new(true), 0
	case n == 0 && (p.Op == Eq || p.Op == Lte), n == 1 && p.Op == Lt:
		return new(false), 0
	case p.Op == Gte || p.Op == Lt:
		return nil, max(n, 1) // a limit of 0 would mean that there is none
	}
	return nil, n + 1
}

// hasSideEffects reports whether running t has side effects.
func hasSideEffects(t *Traversal) bool {
	found := false
	Walk(t, func(s Step) {
		switch s.(type) {
		case *SideEffect, *Fail, *SackPut:
			found = true
		}
		found = found || writesSideEffect(s)
	})
	return found
}

// childrenHaveSideEffects reports whether a nested traversal of s has side effects.
func childrenHaveSideEffects(s Step) bool { return slices.ContainsFunc(Children(s), hasSideEffects) }

// inlineFilters replaces filters that test only the current object by their
// conditions: where(has("a", 1)) becomes has("a", 1).
func inlineFilters(steps []Step) []Step {
	var out []Step
	for _, s := range steps {
		switch s := s.(type) {
		case *Filter:
			if in := inlineSteps(s.Traversal); in != nil {
				out = append(out, withLabels(in, s.Labels)...)
				continue
			}
		case *And:
			var all []Step
			for _, t := range s.Traversals {
				if in := inlineSteps(t); in != nil {
					all = append(all, in...)
				} else {
					all = append(all, &Filter{Meta: Meta{Name: "filter"}, Traversal: t})
				}
			}
			if len(all) > 0 {
				out = append(out, withLabels(all, s.Labels)...)
				continue
			}
		case *Not:
			if h := asHasNot(s); h != nil {
				out = append(out, h)
				continue
			}
		}
		out = append(out, s)
	}
	return out
}

// withLabels adds labels to the last step.
func withLabels(steps []Step, labels []string) []Step {
	if len(labels) > 0 {
		end := steps[len(steps)-1].Info()
		end.Labels = append(end.Labels, labels...)
	}
	return steps
}

// inlineSteps returns the filters of which a traversal consists, or nil if it has other steps.
func inlineSteps(t *Traversal) []Step {
	if h := asHas(t); h != nil {
		return []Step{h}
	}
	for _, s := range t.Steps {
		if len(s.Info().Labels) > 0 {
			return nil
		}
		switch s.(type) {
		case *Has, *HasNot, *Is, *Filter, *Not, *And, *Or:
		default:
			return nil
		}
	}
	return t.Steps
}

// asHas returns the has step that tests the same: has(k, p) for values(k).is(p), has(k)
// for values(k) or properties(k), and has(label, p) for label().is(p). It returns nil for
// other traversals.
func asHas(t *Traversal) *Has {
	if len(t.Steps) == 0 || len(t.Steps) > 2 || len(t.Steps[0].Info().Labels) > 0 {
		return nil
	}
	c := Cond{}
	switch s := t.Steps[0].(type) {
	case *Properties:
		if len(s.Keys) != 1 || s.Filter != nil || !s.Values && len(t.Steps) > 1 {
			return nil
		}
		c.Key = s.Keys[0]
	case *ElementPart:
		if s.Part != PartLabel || len(t.Steps) == 1 {
			return nil
		}
		c.Part = PartLabel
	default:
		return nil
	}
	if len(t.Steps) == 2 {
		is, ok := t.Steps[1].(*Is)
		if !ok || len(is.Labels) > 0 {
			return nil
		}
		c.Pred = is.Pred
	}
	return &Has{Meta: Meta{Name: "has"}, Conds: []Cond{c}}
}

// asHasNot returns hasNot(k) for not(values(k)), and nil for other steps.
func asHasNot(s *Not) *HasNot {
	if h := asHas(s.Traversal); h != nil && h.Conds[0].Pred == nil && h.Conds[0].Part == PartProperty {
		return &HasNot{Meta: Meta{Name: "hasNot", Labels: s.Labels}, Key: h.Conds[0].Key}
	}
	return nil
}

// mergeHas merges consecutive has steps.
func mergeHas(steps []Step) []Step {
	var out []Step
	for _, s := range steps {
		h, ok := s.(*Has)
		if ok && len(out) > 0 {
			if before, ok := out[len(out)-1].(*Has); ok && len(before.Labels) == 0 {
				before.Conds = slices.Concat(before.Conds, h.Conds)
				before.Labels = h.Labels
				continue
			}
		}
		if ok {
			c := *h // a copy, because the next has step may be merged into it
			s = &c
		}
		out = append(out, s)
	}
	for _, s := range out {
		if h, ok := s.(*Has); ok {
			slices.SortStableFunc(h.Conds, func(a, b Cond) int { return cmp.Compare(condCost(a), condCost(b)) })
		}
	}
	return out
}

// condCost ranks conditions: cheap and selective ones come first.
func condCost(c Cond) int {
	switch c.Part {
	case PartID:
		return 1
	case PartLabel:
		return 2
	}
	if c.Pred == nil {
		return 20
	}
	switch c.Pred.Op {
	case Eq:
		return 10
	case Within:
		return 11
	case Lt, Lte, Gt, Gte:
		return 15
	case Neq, Without, TypeOf:
		return 18
	case StartingWith, EndingWith:
		return 30
	case Containing:
		return 40
	case Regex:
		return 60
	}
	return 50
}

// rankFilters orders consecutive filters by cost. A filter with side effects keeps its place, and
// no other passes it: it must run for the same objects.
func rankFilters(steps []Step) []Step {
	out := slices.Clone(steps)
	for i := 0; i < len(out); {
		j := i
		for j < len(out) && filterCost(out[j]) > 0 && len(out[j].Info().Labels) == 0 && !childrenHaveSideEffects(out[j]) {
			j++
		}
		if j-i > 1 {
			slices.SortStableFunc(out[i:j], func(a, b Step) int { return cmp.Compare(filterCost(a), filterCost(b)) })
		}
		i = max(j, i+1)
	}
	return out
}

// filterCost estimates the cost of a filter. It returns zero for steps that must not be moved.
func filterCost(s Step) int {
	switch s := s.(type) {
	case *Has, *HasNot, *Is:
		return 1
	case *WherePred:
		return 10
	case *Filter:
		return 20 + traversalCost(s.Traversal)
	case *Not:
		return 20 + traversalCost(s.Traversal)
	case *And:
		return 20 + traversalsCost(s.Traversals)
	case *Or:
		return 20 + traversalsCost(s.Traversals)
	}
	return 0
}

func traversalsCost(ts []*Traversal) int {
	n := 0
	for _, t := range ts {
		n += traversalCost(t)
	}
	return n
}

// traversalCost estimates the cost of a traversal for one object: each move multiplies it.
func traversalCost(t *Traversal) int {
	n := 1
	for _, s := range t.Steps {
		switch s.(type) {
		case *Move, *Graph:
			n *= 8
		case *Repeat, *Match:
			n *= 100
		default:
			n += max(1, filterCost(s)/2)
		}
		n = min(n, 1<<20)
	}
	return n
}

// pullHas moves the conditions of has steps into a preceding V() or E(), which
// can use them to find elements.
func pullHas(steps []Step) []Step {
	var out []Step
	for _, s := range steps {
		h, ok := s.(*Has)
		if ok && len(out) > 0 {
			if g, ok := out[len(out)-1].(*Graph); ok && len(g.Labels) == 0 {
				c := *g
				c.Conds = append(slices.Clone(g.Conds), h.Conds...)
				c.Labels = h.Labels
				out[len(out)-1] = &c
				continue
			}
		}
		out = append(out, s)
	}
	return out
}
