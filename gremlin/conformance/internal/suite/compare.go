package suite

import (
	"math"
	"slices"

	"vigil/graph"
	"vigil/gremlin/internal/value"
)

// tolerance is the maximum difference of two equal doubles.
const tolerance = 1e-15

// equalValue reports whether a result equals a cell in value and type.
func (parser cellParser) equalValue(want, got graph.Value) bool {
	if got.Kind() == graph.KindEntry { // a map entry is a one-entry map
		got = graph.Map(got.Entry())
	}
	if want.Kind() == graph.KindOpaque {
		return parser.sameOpaque(want.Opaque(), got)
	}
	// value.Elems also returns the items of bulk sets and paths.
	if items, ok := value.Elems(got); ok && want.Kind() == graph.KindSet && got.Kind() != graph.KindList {
		return parser.sameItems(want.Elems(), items)
	}
	if entries, ok := value.Entries(got); ok && want.Kind() == graph.KindMap {
		return parser.sameEntries(want.Entries(), entries)
	}
	if want.Kind() != got.Kind() {
		return false
	}
	switch want.Kind() {
	case graph.KindDouble:
		a, b := want.Float(), got.Float()
		return a == b || math.Abs(a-b) <= tolerance || math.IsNaN(a) && math.IsNaN(b)
	case graph.KindList:
		return slices.EqualFunc(want.Elems(), got.Elems(), parser.equalValue)
	}
	return want.Equal(got)
}

func (parser cellParser) sameOpaque(want any, got graph.Value) bool {
	switch want := want.(type) {
	case *value.Path:
		p, ok := value.As[*value.Path](got)
		return ok && slices.EqualFunc(want.Objects, p.Objects, parser.equalValue)
	case value.Token:
		t, ok := value.As[value.Token](got)
		return ok && t == want
	case keyValue:
		if got.Kind() != graph.KindProperty && got.Kind() != graph.KindVertexProperty {
			return false
		}
		p := parser.property(got)
		return p.key == want.key && parser.equalValue(want.value, p.value)
	}
	return false
}

// sameItems reports whether both have the same items in any order.
func (parser cellParser) sameItems(want, got []graph.Value) bool {
	missing, surplus := parser.differences(want, got)
	return len(missing) == 0 && len(surplus) == 0
}

// differences matches results with cells and returns the unmatched ones of both.
func (parser cellParser) differences(want, got []graph.Value) (missing, surplus []graph.Value) {
	surplus = slices.Clone(got)
	for _, v := range want {
		i := slices.IndexFunc(surplus, func(r graph.Value) bool { return parser.equalValue(v, r) })
		if i < 0 {
			missing = append(missing, v)
			continue
		}
		surplus = slices.Delete(surplus, i, i+1)
	}
	return missing, surplus
}

func (parser cellParser) sameEntries(want, got []graph.Entry) bool {
	if len(want) != len(got) {
		return false
	}
	for _, e := range want {
		if !slices.ContainsFunc(got, func(r graph.Entry) bool {
			return parser.equalValue(e.Key, r.Key) && parser.equalValue(e.Value, r.Value)
		}) {
			return false
		}
	}
	return true
}
