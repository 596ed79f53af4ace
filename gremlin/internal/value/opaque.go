package value

import (
	"math"
	"slices"

	"vigil/graph"
)

// A Path is the history of a traverser: the objects it visited, each with the
// labels of its step. Labels is nil if there are none.
type Path struct {
	Objects []graph.Value
	Labels  [][]string
}

// LabelsAt returns the labels of the i-th object.
func (p *Path) LabelsAt(i int) []string {
	if p.Labels == nil {
		return nil
	}
	return p.Labels[i]
}

// A Token is a constant that can be a value, such as T.id as a map key.
type Token string

// The tokens that are keys of element maps.
const (
	TokenID    Token = "id"
	TokenLabel Token = "label"
	TokenKey   Token = "key"
	TokenValue Token = "value"
	TokenIn    Token = "IN"
	TokenOut   Token = "OUT"
	TokenBoth  Token = "BOTH"
)

// A Subgraph is the set of edges, with their end points, that subgraph()
// collected. Handles are those of the graph on which the query ran.
type Subgraph struct {
	Vertices []graph.Handle
	Edges    []graph.Handle
	seenV    map[graph.Handle]bool
	seenE    map[graph.Handle]bool
}

// AddVertex adds a vertex and reports whether it is new.
func (s *Subgraph) AddVertex(v graph.Handle) bool {
	if s.seenV[v] {
		return false
	}
	if s.seenV == nil {
		s.seenV = map[graph.Handle]bool{}
	}
	s.seenV[v] = true
	s.Vertices = append(s.Vertices, v)
	return true
}

// AddEdge adds an edge and reports whether it is new.
func (s *Subgraph) AddEdge(e graph.Handle) bool {
	if s.seenE[e] {
		return false
	}
	if s.seenE == nil {
		s.seenE = map[graph.Handle]bool{}
	}
	s.seenE[e] = true
	s.Edges = append(s.Edges, e)
	return true
}

// A Tree is a prefix tree of paths: each key is an object, and below it are the
// trees of the objects that followed.
type Tree struct {
	keys Keys
	subs []*Tree
}

// Len returns the number of keys at the top level.
func (t *Tree) Len() int { return t.keys.Len() }

// Key returns the i-th key at the top level.
func (t *Tree) Key(i int) graph.Value { return t.keys.At(i) }

// Sub returns the tree below the i-th key.
func (t *Tree) Sub(i int) *Tree { return t.subs[i] }

// Put returns the tree below key and adds the key if it is missing.
func (t *Tree) Put(key graph.Value) (sub *Tree, fresh bool) {
	i, fresh := t.keys.Put(key)
	if fresh {
		t.subs = append(t.subs, &Tree{})
	}
	return t.subs[i], fresh
}

// Copy returns an independent copy.
func (t *Tree) Copy() *Tree {
	out := &Tree{}
	for i := range t.Len() {
		out.keys.Put(t.Key(i))
		out.subs = append(out.subs, t.Sub(i).Copy())
	}
	return out
}

// A BulkSet is a multiset that stores equal values once with a count.
// aggregate() collects values in it.
type BulkSet struct {
	keys  Keys
	bulks []int64
	size  int64
}

// Add adds v n times and reports whether it is new. It fails if the size exceeds 64 bits.
func (s *BulkSet) Add(v graph.Value, n int64) (fresh bool, err error) {
	if n > math.MaxInt64-s.size {
		return false, Errorf("long overflow")
	}
	i, fresh := s.keys.Put(v)
	if fresh {
		s.bulks = append(s.bulks, 0)
	}
	s.bulks[i] += n
	s.size += n
	return fresh, nil
}

// Copy returns an independent copy.
func (s *BulkSet) Copy() *BulkSet {
	out := &BulkSet{bulks: slices.Clone(s.bulks), size: s.size}
	for _, v := range s.keys.All() {
		out.keys.Put(v)
	}
	return out
}

// Size returns the number of values, including repeated ones.
func (s *BulkSet) Size() int64 { return s.size }

// Len returns the number of distinct values.
func (s *BulkSet) Len() int { return s.keys.Len() }

// At returns the i-th distinct value and its count.
func (s *BulkSet) At(i int) (graph.Value, int64) { return s.keys.At(i), s.bulks[i] }

// Has reports whether v is in the set.
func (s *BulkSet) Has(v graph.Value) bool { return s.keys.Find(v) >= 0 }

// Elems returns all values of the set, including repeated ones.
func (s *BulkSet) Elems() []graph.Value {
	out := make([]graph.Value, 0, s.size)
	for i := range s.keys.Len() {
		for range s.bulks[i] {
			out = append(out, s.keys.At(i))
		}
	}
	return out
}

// As returns the content of an opaque value if it is a T.
func As[T any](v graph.Value) (T, bool) {
	if v.Kind() == graph.KindOpaque {
		t, ok := v.Opaque().(T)
		return t, ok
	}
	var zero T
	return zero, false
}

// Elems returns the items of a list, set, bulk set or path, and false for other values.
func Elems(v graph.Value) ([]graph.Value, bool) {
	switch v.Kind() {
	case graph.KindList, graph.KindSet:
		return v.Elems(), true
	case graph.KindOpaque:
		switch o := v.Opaque().(type) {
		case *Path:
			return o.Objects, true
		case *BulkSet:
			return o.Elems(), true
		}
	}
	return nil, false
}

// Entries returns the entries of a map or tree, and false for other values.
func Entries(v graph.Value) ([]graph.Entry, bool) {
	if v.Kind() == graph.KindMap {
		return v.Entries(), true
	}
	t, ok := As[*Tree](v)
	if !ok {
		return nil, false
	}
	out := make([]graph.Entry, t.Len())
	for i := range out {
		out[i] = graph.Entry{Key: t.Key(i), Value: graph.Opaque(t.Sub(i))}
	}
	return out, true
}
