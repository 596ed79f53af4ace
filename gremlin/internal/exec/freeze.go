package exec

import (
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/value"
)

// A side effect can grow after a step has returned it: a bulk set or a tree is returned by
// reference and shows later additions. A side effect that is added to itself would be
// infinite. Therefore freeze copies the growing parts of a value before the value is
// added to a side effect.

// freeze returns v with all growing parts replaced by copies. The caller must
// have checked the size of v.
func freeze(v graph.Value) graph.Value {
	if !isComposite(v) || !isGrowing(v) {
		return v
	}
	switch v.Kind() {
	case graph.KindList:
		return graph.List(freezeAll(v.Elems())...)
	case graph.KindSet:
		return graph.Set(freezeAll(v.Elems())...)
	case graph.KindMap:
		es := slices.Clone(v.Entries())
		for i := range es {
			es[i] = freezeEntry(es[i])
		}
		return graph.Map(es...)
	case graph.KindEntry:
		return graph.EntryOf(freezeEntry(v.Entry()))
	}
	switch o := v.Opaque().(type) {
	case *value.Path:
		return graph.Opaque(&value.Path{Objects: freezeAll(o.Objects), Labels: o.Labels})
	case *value.BulkSet:
		return graph.Opaque(o.Copy())
	case *value.Tree:
		return graph.Opaque(o.Copy())
	}
	return v
}

func freezeAll(vs []graph.Value) []graph.Value {
	out := make([]graph.Value, len(vs))
	for i, v := range vs {
		out[i] = freeze(v)
	}
	return out
}

func freezeEntry(e graph.Entry) graph.Entry {
	return graph.Entry{Key: freeze(e.Key), Value: freeze(e.Value)}
}

// isGrowing reports whether v contains a growing side effect.
func isGrowing(v graph.Value) bool {
	switch v.Kind() {
	case graph.KindList, graph.KindSet:
		return slices.ContainsFunc(v.Elems(), isGrowing)
	case graph.KindMap:
		return slices.ContainsFunc(v.Entries(), func(e graph.Entry) bool { return isGrowing(e.Key) || isGrowing(e.Value) })
	case graph.KindEntry:
		return isGrowing(v.Entry().Key) || isGrowing(v.Entry().Value)
	case graph.KindOpaque:
		switch o := v.Opaque().(type) {
		case *value.Path:
			return slices.ContainsFunc(o.Objects, isGrowing)
		case *value.BulkSet, *value.Tree:
			return true
		}
	}
	return false
}
