package value

import (
	"cmp"
	"slices"

	"vigil/graph"
)

// A Space provides the ids and properties by which elements are ordered, and counts the work.
type Space interface {
	// ID returns the id of a vertex, edge or vertex property.
	ID(graph.Value) graph.Value
	// Property returns key and value of a property of an edge or of a vertex
	// property.
	Property(graph.Value) (key string, value graph.Value)
	// Tick counts work. It returns false when the budget is exceeded; the result of
	// the comparison is then irrelevant.
	Tick(n int) bool
}

// rank returns the position of a value's type in Gremlin's order of types: twice the kind,
// so that paths have a position between properties and sets.
func rank(v graph.Value) int {
	switch k := v.Kind(); {
	case v.IsNumber():
		return 2 * int(graph.KindByte)
	case k != graph.KindOpaque:
		return 2 * int(k)
	}
	switch v.Opaque().(type) {
	case *Path:
		return 2*int(graph.KindProperty) + 1
	case *BulkSet:
		return 2 * int(graph.KindSet)
	case *Tree:
		return 2 * int(graph.KindMap)
	}
	return 2 * int(graph.KindOpaque)
}

// Eq reports whether a and b are equal in the sense of Gremlin's eq. Edge
// properties and meta-properties are equal if key and value are.
func Eq(s Space, a, b graph.Value) bool {
	if isFlat(a) && isFlat(b) {
		if a.Kind() == graph.KindProperty && b.Kind() == graph.KindProperty && s != nil {
			ka, va := s.Property(a)
			kb, vb := s.Property(b)
			return ka == kb && Eq(s, va, vb)
		}
		return graph.Eq(a, b)
	}
	if rank(a) != rank(b) {
		return false
	}
	if isSet(a) {
		if setSize(a) != setSize(b) {
			return false
		}
		var by Space // without s, sortedRuns orders by handle anyway
		if s != nil {
			by = byHandle{s}
		}
		x, y := align(sortedRuns(s, by, a), sortedRuns(s, by, b))
		return slices.EqualFunc(x, y, func(v, w graph.Value) bool { return Eq(s, v, w) })
	}
	if x, ok := Elems(a); ok {
		y, _ := Elems(b)
		return slices.EqualFunc(x, y, func(v, w graph.Value) bool { return Eq(s, v, w) })
	}
	if x, ok := Entries(a); ok {
		y, _ := Entries(b)
		return len(x) == len(y) && eqEntries(s, x, y)
	}
	if a.Kind() == graph.KindEntry {
		x, y := a.Entry(), b.Entry()
		return Eq(s, x.Key, y.Key) && Eq(s, x.Value, y.Value)
	}
	return Equal(a, b)
}

// byHandle is a Space in which elements are ordered by handle: different vertex properties can have
// the same id. Properties are ordered by key and value, because equal ones can have different handles.
type byHandle struct{ Space }

func isSet(v graph.Value) bool {
	_, bulk := As[*BulkSet](v)
	return bulk || v.Kind() == graph.KindSet
}

// eqEntries compares maps of the same length. Most entries of equal maps are found at the same
// position or by the hash of the key. The others are searched linearly, because numbers of
// different width are the same key with different hashes. No pair of entries is compared twice:
// in nested maps, the comparisons would double at each level.
func eqEntries(s Space, x, y []graph.Entry) bool {
	var table *Keys
	for i, e := range x {
		eq := func(f graph.Entry) bool { return Eq(s, e.Key, f.Key) && Eq(s, e.Value, f.Value) }
		if eq(y[i]) {
			continue
		}
		hashed := i // index of the key in the hash table; i, which was compared above, if the table lacks the key
		if len(y) > 8 {
			if table == nil {
				table = keysOf(y)
			}
			if hashed = table.Find(e.Key); hashed >= 0 && hashed != i && eq(y[hashed]) {
				continue
			}
		}
		if s != nil && !s.Tick(len(y)) {
			return false
		}
		found := false
		for j := 0; j < len(y) && !found; j++ {
			found = j != i && j != hashed && eq(y[j])
		}
		if !found {
			return false
		}
	}
	return true
}

// keysOf returns the keys of a map, which are distinct.
func keysOf(es []graph.Entry) *Keys {
	var k Keys
	for _, e := range es {
		k.Put(e.Key)
	}
	return &k
}

// Compare orders two values of one type and returns false when they have no
// order. It is the order of lt, lte, gt and gte.
func Compare(s Space, a, b graph.Value) (int, bool) {
	// Two elements or properties of one kind are ordered below, by what contents returns.
	if k := a.Kind(); isFlat(a) && isFlat(b) && (k < graph.KindVertex || k != b.Kind()) {
		return graph.Compare(a, b)
	}
	if !isComparable(s, a, b) {
		return 0, false
	}
	return Order(s, a, b), true
}

func isComparable(s Space, a, b graph.Value) bool {
	if IsNaN(a) || IsNaN(b) || rank(a) != rank(b) {
		return false
	}
	x, y, ok := contents(s, a, b)
	if !ok {
		return true
	}
	for i := range min(len(x), len(y)) {
		if !isComparable(s, x[i], y[i]) {
			return false
		}
	}
	return true
}

// contents returns what to compare, item by item, to order two values of one type: the items of
// collections (see align for sets), the id of an element, key and value of a property or map
// entry. It returns false for other values, for elements if s is a byHandle, and for elements
// and properties if s is nil.
func contents(s Space, a, b graph.Value) (x, y []graph.Value, ok bool) {
	if isSet(a) {
		x, y = align(sortedRuns(s, s, a), sortedRuns(s, s, b))
		return x, y, true
	}
	if x, ok = Elems(a); ok {
		y, _ = Elems(b)
		return x, y, true
	}
	if ea, ok := Entries(a); ok {
		eb, _ := Entries(b)
		return sortedEntries(s, ea), sortedEntries(s, eb), true
	}
	switch a.Kind() {
	case graph.KindEntry:
		ea, eb := a.Entry(), b.Entry()
		return []graph.Value{ea.Key, ea.Value}, []graph.Value{eb.Key, eb.Value}, true
	case graph.KindVertex, graph.KindEdge, graph.KindVertexProperty:
		if _, ok := s.(byHandle); !ok && s != nil {
			return []graph.Value{s.ID(a)}, []graph.Value{s.ID(b)}, true
		}
	case graph.KindProperty:
		if s != nil {
			ka, va := s.Property(a)
			kb, vb := s.Property(b)
			return []graph.Value{graph.String(ka), va}, []graph.Value{graph.String(kb), vb}, true
		}
	}
	return nil, nil, false
}

// sortedEntries returns the entries of a map as values in the order of s.
func sortedEntries(s Space, es []graph.Entry) []graph.Value {
	out := make([]graph.Value, len(es))
	for i, e := range es {
		out[i] = graph.EntryOf(e)
	}
	sortBy(s, s, out, func(v graph.Value) graph.Value { return v })
	return out
}

// Order is a total order of all values, the order of the order step: null,
// booleans, numbers, dates, strings, UUIDs, elements, paths, sets, lists, maps.
func Order(s Space, a, b graph.Value) int {
	if a.Kind() < graph.KindVertex && b.Kind() < graph.KindVertex {
		return graph.Order(a, b)
	}
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	x, y, ok := contents(s, a, b)
	if !ok {
		if ta, isToken := As[Token](a); isToken {
			tb, _ := As[Token](b)
			return cmp.Compare(ta, tb)
		}
		return graph.Order(a, b)
	}
	return slices.CompareFunc(x, y, func(v, w graph.Value) int { return Order(s, v, w) })
}
