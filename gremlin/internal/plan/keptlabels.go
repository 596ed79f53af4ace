package plan

import (
	"maps"
	"slices"
)

// keptLabels returns the labels that TinkerPop keeps at each step that uses labels. At such
// a step, TinkerPop drops the labels that no later step of the same or of an enclosing chain
// mentions, even if a by() modulator uses them in the next iteration of a repeat. This affects
// results, so the engine drops the same labels. Steps that are not in the returned map drop
// no labels.
func keptLabels(r *Root) map[Step]map[string]bool {
	if r.FullPath {
		return nil
	}
	k := keeper{keep: map[Step]map[string]bool{}}
	usesPaths := false
	Walk(&r.Traversal, func(s Step) { usesPaths = usesPaths || ownNeed(s).full })
	if usesPaths {
		return nil
	}
	k.visit(&r.Traversal, nil)
	return k.keep
}

type labelSet = map[string]bool

type keeper struct {
	keep map[Step]labelSet
}

// frame is an enclosing step and its position.
type frame struct {
	t     *Traversal
	index int
}

func (f frame) step() Step { return f.t.Steps[f.index] }

// dropsLabels reports whether a step drops labels after using some.
func dropsLabels(s Step) bool {
	switch s := s.(type) {
	case *Select, *SelectBy, *WherePred, *Dedup, *Math, *Format, *Match:
		return true
	case *Filter:
		return len(needsOf(s.Traversal)) > 0
	}
	return false
}

// mentions returns the labels that a step itself uses.
func mentions(s Step) labelSet {
	if m, ok := s.(*Match); ok {
		return needLabels(m.Vars...).labels
	}
	if f, ok := s.(*Filter); ok {
		return needLabels(needsOf(f.Traversal)...).labels
	}
	return ownNeed(s).labels
}

// add adds the keys of from, whatever their values: those of need.labels can be false.
func add(to, from labelSet) {
	for l := range from {
		to[l] = true
	}
}

func (k *keeper) add(s Step, from labelSet) {
	if k.keep[s] == nil {
		k.keep[s] = labelSet{}
	}
	add(k.keep[s], from)
}

// addWithin makes every step of t that drops labels, including nested ones, keep the given ones.
func (k *keeper) addWithin(t *Traversal, from labelSet) {
	Walk(t, func(s Step) {
		if dropsLabels(s) {
			k.add(s, from)
		}
	})
}

// visit determines the labels that the steps of t and of nested traversals keep.
func (k *keeper) visit(t *Traversal, parents []frame) {
	needed := labelSet{}
	for i := len(t.Steps) - 1; i >= 0; i-- {
		s := t.Steps[i]
		later := maps.Clone(needed)
		add(needed, mentions(s))
		if dropsLabels(s) {
			k.add(s, later)
			if _, ok := s.(*Match); ok {
				k.add(s, mentions(s))
			}
		}
	}
	outer := labelSet{} // labels that the enclosing steps, or steps after them, mention
	loop := false       // t is within a repeat
	for _, p := range parents {
		_, repeat := p.step().(*Repeat)
		loop = loop || repeat
		k.parent(p, needed)
		for _, s := range p.t.Steps[p.index:] {
			add(outer, mentions(s))
		}
	}
	for i, s := range t.Steps {
		if dropsLabels(s) {
			k.add(s, outer)
			if loop { // the steps before s run again after it
				k.add(s, needed)
			}
		}
		for _, c := range Children(s) {
			k.visit(c, append(slices.Clip(parents), frame{t, i}))
		}
	}
}

// parent makes the steps before the enclosing step of a nested traversal keep the labels that
// the nested traversal uses. If the enclosing step has several nested traversals, the steps in
// all of them, including the nested traversal itself, keep these labels too.
func (k *keeper) parent(p frame, needed labelSet) {
	children := Children(p.step())
	count := len(children)
	if r, ok := p.step().(*Repeat); ok && (r.Times >= 0 || r.EmitAll) {
		count++ // in TinkerPop, times(n) and emit() are nested traversals, too
	}
	if count > 1 {
		for _, c := range children {
			k.addWithin(c, needed)
		}
	}
	for _, s := range p.t.Steps[:p.index] {
		if dropsLabels(s) {
			k.add(s, needed)
		}
		for _, c := range Children(s) {
			k.addWithin(c, needed)
		}
	}
}
