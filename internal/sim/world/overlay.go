package world

import (
	"slices"
	"sync"

	"vigil/internal/posture"
)

// A Ref names a resource.
type Ref struct {
	Type  posture.EntityType
	Place Place
	Name  string
}

// A Change is what was done to a resource. Exactly one of Patch, Make and Gone
// says what.
type Change struct {
	Ref   Ref
	Patch Object // merged into it
	Make  Object // it is new, and this
	Gone  bool   // it was removed
}

// An Overlay holds the changes made to a world. The zero value has none. It is
// safe for concurrent use.
type Overlay struct {
	// Watch, when set before use, is told of every change after it was made: a
	// simulated cloud sends its events from here.
	Watch func(Change)

	mu      sync.RWMutex
	changes map[Ref]changed
	made    map[scope][]made // in the order they were made
}

type scope struct {
	kind  posture.EntityType
	place Place
}

type made struct {
	name   string
	object Object
}

type changed struct {
	patch Object // or all of it, when made
	made  bool
	gone  bool
}

// Apply makes a change.
func (o *Overlay) Apply(c Change) {
	o.record(c)
	if o.Watch != nil {
		o.Watch(c)
	}
}

func (o *Overlay) record(c Change) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.changes == nil {
		o.changes, o.made = map[Ref]changed{}, map[scope][]made{}
	}
	now := o.changes[c.Ref]
	switch s := (scope{c.Ref.Type, c.Ref.Place}); {
	case c.Gone:
		now.gone = true
		o.made[s] = slices.DeleteFunc(slices.Clone(o.made[s]), func(m made) bool { return m.name == c.Ref.Name })
	case c.Make != nil:
		now = changed{patch: c.Make, made: true}
		o.made[s] = append(slices.Clone(o.made[s]), made{c.Ref.Name, c.Make})
	case now.made:
		now.patch = now.patch.Merge(c.Patch)
		list := slices.Clone(o.made[s])
		for i := range list {
			if list[i].name == c.Ref.Name {
				list[i].object = now.patch
			}
		}
		o.made[s] = list
	default:
		now.patch = now.patch.Merge(c.Patch)
	}
	o.changes[c.Ref] = now
}

// Reset undoes all changes.
func (o *Overlay) Reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.changes, o.made = nil, nil
}

// at returns what was done to a resource.
func (o *Overlay) at(r Ref) (changed, bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	c, ok := o.changes[r]
	return c, ok
}

// added returns what was made of a kind in a place.
func (o *Overlay) added(t posture.EntityType, p Place) []made {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.made[scope{t, p}]
}
