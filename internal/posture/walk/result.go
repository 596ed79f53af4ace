package walk

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"vigil/graph"
	"vigil/gremlin"
	"vigil/internal/posture"
)

// A resultBuilder converts the results of a query to a response within the memory budget of the
// query.
type resultBuilder struct {
	budget   *budget
	graph    *graph.Graph
	root     Node // its children are the top nodes of the response
	values   *Text
	nonEmpty bool                  // values has an element
	seen     map[graph.Handle]bool // all vertices in the response
}

// Estimated memory of the parts of a response, including map overhead.
const (
	seenBytes = 80  // an entry of seen
	nodeBytes = 144 // a node
	edgeBytes = 96  // an edge
	keyBytes  = 32  // an object key without its text
)

func newResultBuilder(g *graph.Graph, b *budget) *resultBuilder {
	return &resultBuilder{budget: b, graph: g, root: Node{Children: []*Node{}}, values: &Text{budget: b}, seen: map[graph.Handle]bool{}}
}

// A Node is a vertex of a response, with the vertices that were reached from it as children.
type Node struct {
	ID       posture.EntityID
	Children []*Node
	vertex   graph.Handle
	index    map[graph.Handle]*Node // index of the children when there are more than maxLinearSearch
}

// maxLinearSearch is the number of children up to which a linear search is used.
const maxLinearSearch = 8

// child returns the child of a node for a vertex. It adds the child if there is none.
func (t *resultBuilder) child(n *Node, v graph.Handle) *Node {
	t.markSeen(v)
	if n.index == nil {
		for _, c := range n.Children {
			if c.vertex == v {
				return c
			}
		}
	} else if c := n.index[v]; c != nil {
		return c
	}
	if !t.budget.take(nodeBytes) {
		return n // any node will do: the query fails
	}
	c := &Node{ID: t.id(v), Children: []*Node{}, vertex: v}
	n.Children = append(n.Children, c)
	switch {
	case n.index != nil:
		n.index[v] = c
	case len(n.Children) > maxLinearSearch:
		n.index = make(map[graph.Handle]*Node, 2*maxLinearSearch)
		for _, c := range n.Children {
			n.index[c.vertex] = c
		}
	}
	return c
}

// markSeen records a vertex that occurs in the response.
func (t *resultBuilder) markSeen(v graph.Handle) {
	if !t.seen[v] && t.budget.take(seenBytes) {
		t.seen[v] = true
	}
}

// ids returns the ids of the entities in the response.
func (t *resultBuilder) ids() []posture.EntityID {
	ids := make([]posture.EntityID, 0, len(t.seen))
	for v := range t.seen {
		ids = append(ids, t.id(v))
	}
	slices.Sort(ids)
	return ids
}

func (t *resultBuilder) id(v graph.Handle) posture.EntityID {
	id, _ := text(t.graph.VertexID(v))
	return posture.EntityID(id)
}

// text returns the string of a value, and whether it is a string.
func text(v graph.Value) (string, bool) {
	if v.Kind() != graph.KindString {
		return "", false
	}
	return v.Str(), true
}

// add adds a result that occurs bulk times. Vertices become nodes, as do paths and trees with
// vertices. An empty tree adds nothing. Everything else becomes bulk values.
func (t *resultBuilder) add(v graph.Value, bulk int64) {
	switch v.Kind() {
	case graph.KindVertex:
		t.child(&t.root, v.Handle())
		return
	case graph.KindOpaque:
		switch o := v.Opaque().(type) {
		case *gremlin.Path:
			if t.addPath(o) {
				return
			}
		case *gremlin.Tree:
			if t.addTree(&t.root, o) || o.Len() == 0 {
				return
			}
		}
	}
	for i := int64(0); i < bulk && t.budget.tick(); i++ {
		if t.nonEmpty {
			t.values.Raw(",")
		}
		t.nonEmpty = true
		t.value(t.values, v)
	}
}

// addPath adds the vertices of a path as a chain of nodes. It reports whether there were any.
func (t *resultBuilder) addPath(p *gremlin.Path) bool {
	node := &t.root
	for _, o := range p.Objects {
		if o.Kind() == graph.KindVertex {
			node = t.child(node, o.Handle())
		}
	}
	return node != &t.root
}

// addTree adds the vertices of a tree as nodes. Elements that are not vertices are skipped: their
// children become children of the nearest vertex above. It reports whether there were any vertices.
func (t *resultBuilder) addTree(parent *Node, tree *gremlin.Tree) bool {
	found := false
	for i := range tree.Len() {
		child := parent
		if key := tree.Key(i); key.Kind() == graph.KindVertex {
			child, found = t.child(parent, key.Handle()), true
		}
		found = t.addTree(child, tree.Sub(i)) || found
		if t.budget.err != nil {
			return true
		}
	}
	return found
}

// value writes a value as JSON. It always writes at least one byte, so that an excessive number of
// values exceeds the budget.
func (t *resultBuilder) value(w *Text, v graph.Value) {
	switch v.Kind() {
	case graph.KindNull:
		w.Raw("null")
	case graph.KindBool:
		w.marshal(v.Bool())
	case graph.KindByte, graph.KindShort, graph.KindInt, graph.KindLong:
		w.Int(v.Int())
	case graph.KindFloat, graph.KindDouble:
		w.float(v.Float(), v.Kind() == graph.KindFloat)
	case graph.KindBigInt, graph.KindBigDecimal:
		w.marshal(json.Number(v.String()))
	case graph.KindDateTime:
		w.String(v.Time().Format("2006-01-02T15:04:05.000Z07:00"))
	case graph.KindVertex:
		t.markSeen(v.Handle())
		w.Raw(`{"id":`)
		w.String(string(t.id(v.Handle())))
		w.Raw(`,"type":"entity"}`)
	case graph.KindEdge:
		t.edge(w, v.Handle())
	case graph.KindVertexProperty, graph.KindProperty:
		key, value := t.property(v)
		t.object(w, []graph.Entry{{Key: graph.String(key), Value: value}})
	case graph.KindList, graph.KindSet:
		t.list(w, v.Elems())
	case graph.KindMap:
		t.object(w, v.Entries())
	case graph.KindEntry:
		t.object(w, []graph.Entry{v.Entry()})
	case graph.KindOpaque:
		t.opaque(w, v.Opaque())
	case graph.KindString:
		w.String(v.Str())
	default:
		w.String(fmt.Sprint(v))
	}
}

func (t *resultBuilder) list(w *Text, vs []graph.Value) {
	w.Raw("[")
	for i, v := range vs {
		if t.budget.err != nil {
			return
		}
		if i > 0 {
			w.Raw(",")
		}
		t.value(w, v)
	}
	w.Raw("]")
}

// bulkSet writes each value of a set as often as its bulk says.
func (t *resultBuilder) bulkSet(w *Text, s *gremlin.BulkSet) {
	w.Raw("[")
	first := true
	for i := range s.Len() {
		v, bulk := s.At(i)
		for range bulk {
			if t.budget.err != nil {
				return
			}
			if !first {
				w.Raw(",")
			}
			first = false
			t.value(w, v)
		}
	}
	w.Raw("]")
}

// object writes a map.
func (t *resultBuilder) object(w *Text, es []graph.Entry) {
	t.members(w, len(es), func(i int) graph.Value { return es[i].Key }, func(i int) { t.value(w, es[i].Value) })
}

// members writes an object of n members. Keys that are not strings are written as strings. Among
// members with the same key, only the last is written.
func (t *resultBuilder) members(w *Text, n int, key func(int) graph.Value, value func(int)) {
	type member struct {
		name  string
		index int
	}
	bytes := int64(n) * keyBytes
	defer func() { t.budget.release(bytes) }()
	if !t.budget.take(bytes) {
		return
	}
	all := make([]member, n)
	for i := range all {
		name, more := t.key(key(i))
		bytes += more
		all[i] = member{name, i}
		if t.budget.err != nil {
			return
		}
	}
	slices.SortStableFunc(all, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	w.Raw("{")
	first := true
	for i, m := range all {
		if i+1 < n && all[i+1].name == m.name {
			continue
		}
		if !first {
			w.Raw(",")
		}
		first = false
		w.String(m.name)
		w.Raw(":")
		value(m.index)
		if t.budget.err != nil {
			return
		}
	}
	w.Raw("}")
}

// key returns a value as an object key, and the bytes that were reserved for it.
func (t *resultBuilder) key(v graph.Value) (name string, bytes int64) {
	if v.Kind() == graph.KindVertex {
		t.markSeen(v.Handle())
		return string(t.id(v.Handle())), 0
	}
	if s, ok := text(v); ok {
		return s, 0
	}
	written := &Text{budget: t.budget}
	t.value(written, v)
	defer written.free()
	bytes = written.Len()
	if !t.budget.take(bytes) {
		return "", bytes
	}
	data, _ := written.MarshalJSON()
	if data[0] == '"' && json.Unmarshal(data, &name) == nil {
		return name, bytes
	}
	return string(data), bytes
}

// edge writes an edge with its end points and properties.
func (t *resultBuilder) edge(w *Text, e graph.Handle) {
	from, to := t.graph.Source(e), t.graph.Target(e)
	t.markSeen(from)
	t.markSeen(to)
	label := t.graph.EdgeLabel(e)
	w.Raw(`{"from":`)
	w.String(string(t.id(from)))
	w.Raw(`,"label":`)
	w.String(t.graph.EdgeLabels()[label])
	w.Raw(`,"properties":`)
	var properties []graph.Entry
	for _, k := range t.graph.EdgeKeysOf(label) {
		if v, ok := t.graph.EdgeValue(e, k); ok {
			properties = append(properties, graph.Entry{Key: graph.String(t.graph.Keys()[k]), Value: v})
		}
	}
	t.object(w, properties)
	w.Raw(`,"to":`)
	w.String(string(t.id(to)))
	w.Raw("}")
}

// property returns the name and the value of a property.
func (t *resultBuilder) property(v graph.Value) (string, graph.Value) {
	ref := v.Property()
	key := t.graph.Keys()[ref.Key]
	switch {
	case ref.Edge:
		value, _ := t.graph.EdgeValue(ref.Owner, ref.Key)
		return key, value
	case ref.Meta >= 0: // a property of a vertex property
		meta := t.graph.MetaProperties(ref.Owner, ref.Key, ref.Index)[ref.Meta]
		return t.graph.Keys()[meta.Key], meta.Value
	}
	return key, t.graph.VertexPropertyValue(ref.Owner, ref.Key, ref.Index)
}

// opaque writes a value of a type that only the query engine defines.
func (t *resultBuilder) opaque(w *Text, o any) {
	switch o := o.(type) {
	case *gremlin.Path:
		t.list(w, o.Objects)
	case *gremlin.BulkSet:
		t.bulkSet(w, o)
	case *gremlin.Tree:
		t.members(w, o.Len(), o.Key, func(i int) { t.opaque(w, o.Sub(i)) })
	case *gremlin.Subgraph:
		w.Raw(`{"edges":[`)
		for i, h := range o.Edges {
			if i > 0 {
				w.Raw(",")
			}
			t.edge(w, h)
			if t.budget.err != nil {
				return
			}
		}
		w.Raw(`],"vertices":[`)
		for i, h := range o.Vertices {
			if i > 0 {
				w.Raw(",")
			}
			t.value(w, graph.VertexOf(h))
			if t.budget.err != nil {
				return
			}
		}
		w.Raw("]}")
	case gremlin.Token:
		w.String(string(o))
	case time.Duration:
		w.String(o.String())
	default:
		w.String(fmt.Sprint(o))
	}
}
