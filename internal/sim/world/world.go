// Package world generates the resources of the simulated clouds.
//
// A resource is a function of the seed, its account, place, kind and number: it
// needs no memory, can be read at any time, and is the same in every run.
// Changes during the simulation are stored in an overlay.
package world

import (
	"vigil/internal/posture"
)

// A Place is a region of an account.
type Place struct {
	Account string
	Region  string // as the cloud names it; "" for none
}

// A Kind is one kind of resource.
type Kind struct {
	Type posture.EntityType

	// Count returns how many there are before any change.
	Count func(p Place) int
	// Name returns the name of the i-th, the last part of its entity id.
	Name func(p Place, i int) string
	// Index is the inverse of Name. It need not check that i is in range.
	Index func(p Place, name string) (i int, ok bool)
	// Make returns the i-th in the cloud's format. Fields whose names begin with an
	// underscore are for calls other than the list, and are not encoded.
	Make func(p Place, i int) Object
}

// A Finding is a finding that a rule must report for an entity.
type Finding struct {
	Rule   string           `json:"ruleId"`
	Entity posture.EntityID `json:"entityId"`
}

// Shares are the fractions of resources that violate each rule.
type Shares struct {
	Default float64
	ByRule  map[string]float64
}

// Of returns the fraction of a rule.
func (s Shares) Of(rule string) float64 {
	if v, ok := s.ByRule[rule]; ok {
		return v
	}
	return s.Default
}

// World contains the generated resources with the changes applied.
type World struct {
	Changes Overlay
}

// List visits at most max resources of a kind in a place, or all if max is negative,
// starting at the given number. It returns the number to continue from, or -1 if there
// are no more resources or visit returned false, which stops the list.
func (w *World) List(k *Kind, p Place, from, max int, visit func(name string, o Object) bool) (next int) {
	count := k.Count(p)
	added := w.Changes.addedObjects(k.Type, p)
	for i := from; i < count+len(added); i++ {
		if max == 0 {
			return i
		}
		var name string
		var o Object
		if i < count {
			name = k.Name(p, i)
			changed, touched := w.Changes.changeOf(Ref{k.Type, p, name})
			if touched && (changed.removed || changed.created) {
				continue // if it was deleted and created again, it is in added
			}
			o = k.Make(p, i)
			if touched {
				o = o.Merge(changed.patch)
			}
		} else {
			name, o = added[i-count].name, added[i-count].object
		}
		max--
		if !visit(name, o) {
			return -1
		}
	}
	return -1
}

// Get returns the resource of a kind with a name. It returns false if there is
// none.
func (w *World) Get(k *Kind, p Place, name string) (Object, bool) {
	changed, touched := w.Changes.changeOf(Ref{k.Type, p, name})
	if touched && (changed.removed || changed.created) {
		return changed.patch, changed.created && !changed.removed
	}
	i, ok := k.Index(p, name)
	if !ok || i < 0 || i >= k.Count(p) || k.Name(p, i) != name {
		return nil, false
	}
	return k.Make(p, i).Merge(changed.patch), true
}
