package plan

import "slices"

// earlyLimit moves a range before steps that have exactly one result per object.
func earlyLimit(steps []Step) []Step {
	out := slices.Clone(steps)
	for i, s := range out {
		r, ok := s.(*Range)
		if !ok || len(r.Labels) > 0 {
			continue
		}
		j := i
		for j > 0 && isOneToOne(out[j-1]) {
			out[j], out[j-1] = out[j-1], out[j]
			j--
		}
	}
	return out
}

// isOneToOne reports whether a step has exactly one result per object and cannot fail.
func isOneToOne(s Step) bool {
	switch s := s.(type) {
	case *PropertyMap:
		return s.By == nil
	case *ElementPart:
		return s.Part == PartID || s.Part == PartLabel
	case *Constant, *Project:
		return true
	case *PathOf:
		return len(s.Bys) == 0 && s.From == "" && s.To == ""
	}
	return false
}

// topOrder passes a following limit to a sort. A shuffle is excluded because it
// needs its whole input.
func topOrder(steps []Step) []Step {
	for i := 1; i < len(steps); i++ {
		r, ok := steps[i].(*Range)
		if !ok || r.High < 0 {
			continue
		}
		if s, ok := steps[i-1].(*Order); ok && !s.hasShuffle() {
			s.Limit = r.High
		}
	}
	return steps
}

// bareCount removes steps that do not affect a following count.
func bareCount(steps []Step) []Step {
	var out []Step
	for _, s := range steps {
		if _, ok := s.(*Count); ok {
			for len(out) > 1 && keepsCount(out[len(out)-1]) {
				out = out[:len(out)-1]
			}
		}
		out = append(out, s)
	}
	return out
}

// keepsCount reports whether a step does not change the number of traversers.
func keepsCount(s Step) bool {
	switch s := s.(type) {
	case *Order:
		return len(s.Bys) == 0
	case *Barrier:
		return !s.NormSack
	}
	return isOneToOne(s)
}

// bulk inserts steps that merge equal traversers after a move, before the next
// step for which merging pays. It does so only if paths are not used, and not
// before a limit that could end the query early.
func (o *optimiser) bulk(t *Traversal) {
	var out []Step
	for i, s := range t.Steps {
		switch s := s.(type) {
		case *Union:
			for _, c := range s.Traversals {
				o.bulk(c)
			}
		case *Repeat:
			o.bulk(s.Body)
		}
		if i > 0 && isWorthMerging(s) && hasMove(t.Steps[:i]) && t.Steps[i-1].Info().free && !hasLimit(t.Steps[i:]) {
			out = append(out, &Bulk{Meta{Name: "bulk"}})
		}
		out = append(out, s)
	}
	t.Steps = out
}

// hasMove reports whether the last steps lead to a vertex that other traversers may also reach.
func hasMove(steps []Step) bool {
	for i := len(steps) - 1; i >= 0; i-- {
		switch s := steps[i].(type) {
		case *Has, *HasNot:
			if len(s.Info().Labels) > 0 {
				return false
			}
		case *Move:
			return !s.ToEdge
		case *EdgeEnd, *OtherEnd:
			return true
		default:
			return false
		}
	}
	return false
}

// isWorthMerging reports whether a step costs more for two equal traversers than merging them.
func isWorthMerging(s Step) bool {
	switch s := s.(type) {
	case *Move, *Filter, *Not, *And, *Or, *Repeat, *Union, *Choose, *Coalesce, *Optional, *FlatMap, *MapTo, *Local, *Match:
		return true
	case *PropertyMap, *Project:
		return true
	case *Group:
		return s.SideEffect == ""
	}
	return false
}

// hasLimit reports whether a later step may need only a few results or is a local()
// with side effects.
func hasLimit(steps []Step) bool {
	for _, s := range steps {
		switch s := s.(type) {
		case *Range, *Coin, *TimeLimit:
			return true
		case *Order, *Count, *Reduce, *Fold, *Tail, *Sample, *Cap, *Aggregate, *Group, *GroupCount, *TreeOf:
			return false
		case *Local:
			if hasSideEffects(s.Traversal) {
				return true
			}
		}
	}
	return false
}

// order finds the branches whose results may have any order.
func (o *optimiser) order(t *Traversal) {
	for i, s := range t.Steps {
		if u, ok := s.(*Union); ok {
			u.AnyOrder = anyOrder(t.Steps[i+1:])
		}
	}
}

// anyOrder reports whether the result of steps does not depend on the order of their input.
func anyOrder(steps []Step) bool {
	for _, s := range steps {
		switch s.(type) {
		case *Count, *Reduce, *GroupCount, *Bulk:
			return true
		case *Has, *HasNot, *Is, *Move, *EdgeEnd, *Filter, *Not, *And, *Or, *Properties, *ElementPart:
		default:
			return false
		}
	}
	return false
}

// countUnseen moves a preceding move into a count, so that neighbours are
// counted by degree without visiting them.
func countUnseen(t *Traversal) {
	for i := 1; i < len(t.Steps); i++ {
		c, ok := t.Steps[i].(*Count)
		if !ok || c.Of != nil || len(t.Steps[i-1].Info().Labels) > 0 {
			continue
		}
		switch s := t.Steps[i-1].(type) {
		case *Move:
		case *Graph:
			if s.Mid || s.ByID {
				continue
			}
		default:
			continue
		}
		t.Steps[i] = &Count{Meta: c.Meta, Of: t.Steps[i-1]}
		t.Steps = slices.Delete(t.Steps, i-1, i)
		return
	}
}
