package value

import "vigil/graph"

// A Path is the way a traverser came: the objects it visited, each with the
// labels of the step that led to it. Labels is nil if there are none at all.
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

// A Token is a constant that can be a value, such as T.id as the key of a map.
type Token string

// The tokens that maps of elements use as keys.
const (
	TokenID    Token = "id"
	TokenLabel Token = "label"
	TokenKey   Token = "key"
	TokenValue Token = "value"
	TokenIn    Token = "IN"
	TokenOut   Token = "OUT"
	TokenBoth  Token = "BOTH"
)

// A Subgraph is the set of edges, and of the vertices at their ends, that
// subgraph() collected. Handles are those of the graph the query ran on.
type Subgraph struct {
	Vertices []graph.Handle
	Edges    []graph.Handle
	seenV    map[graph.Handle]bool
	seenE    map[graph.Handle]bool
}

// AddVertex puts a vertex into the subgraph unless it is there.
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

// AddEdge puts an edge into the subgraph unless it is there.
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

// A Tree holds paths that share their beginnings once: each key is an object,
// and below it are the trees of what followed.
type Tree struct {
	keys Keys
	subs []*Tree
}

// Len returns the number of keys at the top.
func (t *Tree) Len() int { return t.keys.Len() }

// Key returns the i-th key at the top.
func (t *Tree) Key(i int) graph.Value { return t.keys.At(i) }

// Sub returns the tree below the i-th key.
func (t *Tree) Sub(i int) *Tree { return t.subs[i] }

// Put returns the tree below key, which it adds if it is not there.
func (t *Tree) Put(key graph.Value) (sub *Tree, fresh bool) {
	i, fresh := t.keys.Put(key)
	if fresh {
		t.subs = append(t.subs, &Tree{})
	}
	return t.subs[i], fresh
}

// Copy returns a tree of its own with the same content.
func (t *Tree) Copy() *Tree {
	out := &Tree{}
	for i := range t.Len() {
		out.keys.Put(t.Key(i))
		out.subs = append(out.subs, t.Sub(i).Copy())
	}
	return out
}

// A BulkSet counts equal values instead of repeating them. It is what
// aggregate() collects: a collection that may hold a value several times.
type BulkSet struct {
	keys  Keys
	bulks []int64
	size  int64
}

// Add puts n times v into the set.
func (s *BulkSet) Add(v graph.Value, n int64) (fresh bool) {
	i, fresh := s.keys.Put(v)
	if fresh {
		s.bulks = append(s.bulks, 0)
	}
	s.bulks[i] += n
	s.size += n
	return fresh
}

// Copy returns a bulk set of its own with the same content.
func (s *BulkSet) Copy() *BulkSet {
	out := &BulkSet{}
	for i := range s.Len() {
		out.Add(s.At(i))
	}
	return out
}

// Size returns how many values the set holds, repeated ones included.
func (s *BulkSet) Size() int64 { return s.size }

// Len returns how many different values the set holds.
func (s *BulkSet) Len() int { return s.keys.Len() }

// At returns the i-th different value and how often it is in the set.
func (s *BulkSet) At(i int) (graph.Value, int64) { return s.keys.At(i), s.bulks[i] }

// Has reports whether v is in the set.
func (s *BulkSet) Has(v graph.Value) bool { return s.keys.Find(v) >= 0 }

// Elems returns all values of the set, repeated ones included.
func (s *BulkSet) Elems() []graph.Value {
	out := make([]graph.Value, 0, s.size)
	for i := range s.keys.Len() {
		for range s.bulks[i] {
			out = append(out, s.keys.At(i))
		}
	}
	return out
}

// As returns what an opaque value carries if it is a T.
func As[T any](v graph.Value) (T, bool) {
	if v.Kind() == graph.KindOpaque {
		t, ok := v.Opaque().(T)
		return t, ok
	}
	var zero T
	return zero, false
}

// Elems returns the items of a list, set, bulk set or path, and false for
// anything else.
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

// Entries returns the entries of a map or tree, and false for anything else.
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
