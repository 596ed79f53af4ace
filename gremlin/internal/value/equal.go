package value

import (
	"slices"

	"vigil/graph"
)

// isFlat reports whether v contains no other values, so that package graph can compare it. KindSet is the
// first of the kinds that contain values.
func isFlat(v graph.Value) bool { return v.Kind() < graph.KindSet }

// Equal reports whether a and b are the same value of the same kind. It is
// [graph.Value.Equal], except that paths, trees and bulk sets are compared by
// content.
func Equal(a, b graph.Value) bool {
	if isFlat(a) || a.Kind() != b.Kind() {
		return a.Equal(b)
	}
	switch a.Kind() {
	case graph.KindList:
		return slices.EqualFunc(a.Elems(), b.Elems(), Equal)
	case graph.KindSet:
		return sameMembers(a.Elems(), b.Elems())
	case graph.KindMap:
		return sameEntries(a.Entries(), b.Entries())
	case graph.KindEntry:
		return equalEntries(a.Entry(), b.Entry())
	}
	return equalOpaque(a.Opaque(), b.Opaque())
}

func equalEntries(a, b graph.Entry) bool { return Equal(a.Key, b.Key) && Equal(a.Value, b.Value) }

func sameMembers(a, b []graph.Value) bool {
	if len(a) != len(b) {
		return false
	}
	var k Keys
	for _, v := range b {
		k.Put(v)
	}
	return !slices.ContainsFunc(a, func(v graph.Value) bool { return k.Find(v) < 0 })
}

// sameEntries compares maps regardless of the order of their entries.
func sameEntries(a, b []graph.Entry) bool {
	if len(a) != len(b) {
		return false
	}
	var k Keys
	values := make([]graph.Value, 0, len(b)) // of b, by the index of their key in k
	for _, e := range b {
		if _, fresh := k.Put(e.Key); fresh {
			values = append(values, e.Value)
		}
	}
	for _, e := range a {
		if i := k.Find(e.Key); i < 0 || !Equal(e.Value, values[i]) {
			return false
		}
	}
	return true
}

func equalOpaque(a, b any) bool {
	switch x := a.(type) {
	case *Path:
		y, ok := b.(*Path)
		return ok && slices.EqualFunc(x.Objects, y.Objects, Equal) && sameLabels(x, y)
	case *BulkSet:
		y, ok := b.(*BulkSet)
		if !ok || x.Size() != y.Size() || x.Len() != y.Len() { // number of values, number of distinct values
			return false
		}
		for i := range x.Len() {
			j := y.keys.Find(x.keys.At(i))
			if j < 0 || x.bulks[i] != y.bulks[j] {
				return false
			}
		}
		return true
	case *Tree:
		y, ok := b.(*Tree)
		return ok && equalTrees(x, y)
	}
	return a == b
}

func sameLabels(x, y *Path) bool {
	if x.Labels == nil && y.Labels == nil {
		return true
	}
	for i := range x.Objects {
		if !slices.Equal(x.LabelsAt(i), y.LabelsAt(i)) {
			return false
		}
	}
	return true
}

func equalTrees(x, y *Tree) bool {
	if x.Len() != y.Len() {
		return false
	}
	for i := range x.Len() {
		j := y.keys.Find(x.Key(i))
		if j < 0 || !equalTrees(x.Sub(i), y.Sub(j)) {
			return false
		}
	}
	return true
}

// Hash returns a hash. Values that are [Equal] have the same hash.
func Hash(v graph.Value) uint64 {
	if isFlat(v) {
		return v.Hash()
	}
	h := uint64(v.Kind()) * 0x9e3779b97f4a7c15
	switch v.Kind() {
	case graph.KindList:
		return hashAll(h, v.Elems())
	case graph.KindSet:
		for _, e := range v.Elems() {
			h += Hash(e)
		}
	case graph.KindMap:
		for _, e := range v.Entries() {
			h += hashEntry(e)
		}
	case graph.KindEntry:
		return hashEntry(v.Entry())
	case graph.KindOpaque:
		return hashOpaque(h, v.Opaque())
	}
	return h
}

func hashOpaque(h uint64, o any) uint64 {
	switch x := o.(type) {
	case *Path:
		return hashAll(h, x.Objects)
	case *BulkSet:
		return h + uint64(x.size)
	case *Tree:
		return h + uint64(x.Len())
	case Token:
		return h ^ graph.String(string(x)).Hash()
	}
	return h
}

func hashEntry(e graph.Entry) uint64 { return hashAll(1, []graph.Value{e.Key, e.Value}) }

func hashAll(h uint64, vs []graph.Value) uint64 {
	for _, v := range vs {
		h = (h^Hash(v))*0x9e3779b97f4a7c15 + 1
	}
	return h
}
