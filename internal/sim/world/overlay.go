package world

import (
	"slices"
	"sync"

	"vigil/internal/posture"
)

// A Ref identifies a resource.
type Ref struct {
	Type  posture.EntityType
	Place Place
	Name  string
}

// A Change is a change of a resource. Exactly one of Patch, Make and Gone is
// set.
type Change struct {
	Ref   Ref
	Patch Object // merged into the resource
	Make  Object // the new resource
	Gone  bool   // the resource was deleted
}

// An Overlay contains the changes of a world. The zero value is empty. It is
// safe for concurrent use.
type Overlay struct {
	// Watch, if set before use, is called after every change. Simulated clouds send
	// their events from it.
	Watch func(Change)

	mu      sync.RWMutex
	changes map[Ref]changed
	created map[scope][]createdObject // in order of creation
}

type scope struct {
	kind  posture.EntityType
	place Place
}

type createdObject struct {
	name   string
	object Object
}

type changed struct {
	patch   Object // the patch, or the whole object when created
	created bool
	removed bool
}

// Apply applies a change.
func (o *Overlay) Apply(c Change) {
	o.record(c)
	if o.Watch != nil {
		o.Watch(c)
	}
}

// record stores a change. It replaces the slices in o.created and never changes them, because
// callers of addedObjects read them without the lock.
func (o *Overlay) record(c Change) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.changes == nil {
		o.changes, o.created = map[Ref]changed{}, map[scope][]createdObject{}
	}
	entry := o.changes[c.Ref]
	switch s := (scope{c.Ref.Type, c.Ref.Place}); {
	case c.Gone:
		entry.removed = true
		o.created[s] = slices.DeleteFunc(slices.Clone(o.created[s]), func(m createdObject) bool { return m.name == c.Ref.Name })
	case c.Make != nil:
		entry = changed{patch: c.Make, created: true}
		o.created[s] = append(slices.Clone(o.created[s]), createdObject{c.Ref.Name, c.Make})
	case entry.created:
		entry.patch = entry.patch.Merge(c.Patch)
		list := slices.Clone(o.created[s])
		for i := range list {
			if list[i].name == c.Ref.Name {
				list[i].object = entry.patch
			}
		}
		o.created[s] = list
	default:
		entry.patch = entry.patch.Merge(c.Patch)
	}
	o.changes[c.Ref] = entry
}

// Reset undoes all changes.
func (o *Overlay) Reset() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.changes, o.created = nil, nil
}

// changeOf returns the change of a resource.
func (o *Overlay) changeOf(r Ref) (changed, bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	c, ok := o.changes[r]
	return c, ok
}

// Created returns a created resource as it is now, or as it was when it was deleted.
// It returns false for generated resources.
func (o *Overlay) Created(r Ref) (Object, bool) {
	c, _ := o.changeOf(r)
	return c.patch, c.created
}

// addedObjects returns the created resources of a kind in a place.
func (o *Overlay) addedObjects(t posture.EntityType, p Place) []createdObject {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.created[scope{t, p}]
}
