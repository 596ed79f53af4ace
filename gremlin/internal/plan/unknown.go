package plan

import (
	"maps"
	"slices"
)

// NonMonotonicKeys returns the keys that a plan uses non-monotonically: another value of such a
// key may replace results, instead of only adding or only removing some. They are the keys by
// which a step sorts or groups, those whose values a step returns, and those of conditions in a
// chain with a limit. all is true if the plan uses every key in this way. If one of the keys has
// unknown values, neither of the readings Certain and Possible (package exec) determines what
// the query would find.
func NonMonotonicKeys(r *Root) (keys []string, all bool) {
	u := unknownFinder{keys: map[string]bool{}}
	strict := r.Take >= 0 || r.Sack != nil && r.Sack.Merge != ""
	Walk(&r.Traversal, func(s Step) { strict = strict || writesSideEffect(s) })
	u.chain(r.Steps, strict)
	return slices.Sorted(maps.Keys(u.keys)), u.all
}

// OwnValues returns the keys of a traversal that only computes with property values of the
// element that it starts from, such as values('created').asDate().is(lt(datetime())). It
// returns nil for other traversals. A filter with such a traversal is a condition on the
// element: it is decided if all of the keys are known on the element, and unknown otherwise.
func OwnValues(t *Traversal) (keys []string) {
	if len(t.Steps) == 0 {
		return nil
	}
	switch s := t.Steps[0].(type) {
	case *Properties:
		keys = namedValues(s)
	case *Coalesce:
		for _, c := range s.Traversals {
			p, ok := c.Steps[0].(*Properties)
			if len(c.Steps) != 1 || !ok || namedValues(p) == nil {
				return nil
			}
			keys = append(keys, namedValues(p)...)
		}
	}
	for _, s := range t.Steps[1:] {
		switch s := s.(type) {
		case *Call:
			if len(s.Traversals) > 0 {
				return nil
			}
		case *Is, *Count:
		default:
			return nil
		}
	}
	return keys
}

// namedValues returns the keys of a step that reads the values of some keys.
func namedValues(p *Properties) []string {
	if !p.Values || !p.Some || p.Filter != nil {
		return nil
	}
	return p.Keys
}

// unknownFinder collects the result of NonMonotonicKeys. A step or chain is strict if its
// conditions are used non-monotonically.
type unknownFinder struct {
	keys map[string]bool
	all  bool
}

// chain records the keys of a chain, and those of its conditions if it is strict.
func (u *unknownFinder) chain(steps []Step, strict bool) {
	strict = strict || slices.ContainsFunc(steps, dependsOnOthers)
	for _, s := range steps {
		u.step(s, strict)
	}
}

// test records the keys of a traversal for which only the existence of a result matters. A
// compared count at its end does not make it strict, because exec tests the range of possible
// counts.
func (u *unknownFinder) test(t *Traversal, strict bool) {
	u.chain(withoutCount(t.Steps), strict)
}

// withoutCount removes a compared count, and a limit before it, from the end of a chain. The
// optimiser inserts such limits.
func withoutCount(steps []Step) []Step {
	n := len(steps)
	if n < 2 {
		return steps
	}
	_, isCount := steps[n-2].(*Count)
	_, isCompared := steps[n-1].(*Is)
	if !isCount || !isCompared {
		return steps
	}
	if n > 2 {
		if _, isLimited := steps[n-3].(*Range); isLimited {
			return steps[:n-3]
		}
	}
	return steps[:n-2]
}

// dependsOnOthers reports whether the result of a step for one traverser depends on other traversers.
func dependsOnOthers(s Step) bool {
	switch s := s.(type) {
	case *Range, *Tail, *Sample, *Coin:
		return true
	case *Barrier:
		return s.NormSack
	case *Dedup: // keeps the path of the first of equal objects
		return s.By != nil || len(s.Over) > 0 || !s.free
	case *Union, *Choose, *Repeat: // a step within them gets the traversers of the whole input
		return slices.ContainsFunc(appendTraversals(nil, s), func(t *Traversal) bool {
			return slices.ContainsFunc(t.Steps, dependsOnOthers)
		})
	}
	return isReducing(s)
}

func (u *unknownFinder) step(s Step, strict bool) {
	for _, by := range Bys(s) {
		if by.Kind == ByKey {
			u.keys[by.Key] = true
		}
		if by.Traversal != nil {
			u.chain(by.Traversal.Steps, true)
		}
	}
	switch s := s.(type) {
	case *Graph:
		u.conds(s.Conds, strict)
	case *Has:
		u.conds(s.Conds, strict)
	case *HasNot:
		if strict {
			u.keys[s.Key] = true
		}
	case *Count:
		if s.Of != nil {
			u.step(s.Of, strict)
		}
	case *Properties:
		u.read(s.Keys, s.Some)
		u.visibility(s.Filter)
	case *PropertyMap:
		u.read(s.Keys, s.Some)
		u.visibility(s.Filter)
	case *Format:
		u.read(FormatVariables(s.Template), true)
	case *Filter, *Not, *And, *Or:
		for _, c := range appendTraversals(nil, s) {
			if strict || OwnValues(c) == nil { // otherwise, the filter is a condition like has()
				u.test(c, strict)
			}
		}
	case *Union, *Local, *FlatMap, *Match:
		for _, c := range appendTraversals(nil, s) {
			u.chain(c.Steps, strict)
		}
	case *Repeat:
		strict = strict || s.Until != nil || s.Emit != nil
		u.chain(s.Body.Steps, strict)
		for _, c := range []*Traversal{s.Until, s.Emit} {
			if c != nil {
				u.test(c, strict)
			}
		}
	default:
		for _, c := range appendTraversals(nil, s) {
			u.chain(c.Steps, true)
		}
	}
}

// visibility records the keys of the filter that decides which properties are visible.
func (u *unknownFinder) visibility(filter *Traversal) {
	if filter != nil {
		u.chain(filter.Steps, true)
	}
}

func (u *unknownFinder) conds(conds []Cond, strict bool) {
	if !strict {
		return
	}
	for _, c := range conds {
		if c.Part == PartProperty {
			u.keys[c.Key] = true
		}
	}
}

func (u *unknownFinder) read(keys []string, onlyKeys bool) {
	u.all = u.all || !onlyKeys
	for _, k := range keys {
		u.keys[k] = true
	}
}
