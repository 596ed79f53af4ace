package walk

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"vigil/graph"
	"vigil/gremlin"
	"vigil/internal/posture"
)

// A teller turns the results of a query into an answer.
type teller struct {
	graph  *graph.Graph
	nodes  branch
	values []any
	seen   map[graph.Handle]bool // vertices that occur anywhere
}

func newTeller(g *graph.Graph) *teller {
	return &teller{graph: g, values: []any{}, seen: map[graph.Handle]bool{}}
}

// A branch is a list of nodes, each of which is there once.
type branch struct {
	order []*twig
	by    map[graph.Handle]*twig
}

// A twig is a node while a tree grows.
type twig struct {
	id    posture.EntityID
	below branch
}

// put returns the node of a vertex, which it adds if it is not there.
func (b *branch) put(v graph.Handle, id posture.EntityID) *twig {
	if b.by == nil {
		b.by = map[graph.Handle]*twig{}
	}
	t := b.by[v]
	if t == nil {
		t = &twig{id: id}
		b.by[v] = t
		b.order = append(b.order, t)
	}
	return t
}

func (b *branch) list() []*Node {
	nodes := make([]*Node, len(b.order))
	for i, t := range b.order {
		nodes[i] = &Node{ID: t.id, Children: t.below.list()}
	}
	return nodes
}

// ids returns the entities that occur in the answer.
func (t *teller) ids() []posture.EntityID {
	ids := make([]posture.EntityID, 0, len(t.seen))
	for v := range t.seen {
		ids = append(ids, t.id(v))
	}
	slices.Sort(ids)
	return ids
}

func (t *teller) id(v graph.Handle) posture.EntityID {
	id, _ := text(t.graph.VertexID(v))
	return posture.EntityID(id)
}

// text returns the string that a value is.
func text(v graph.Value) (string, bool) {
	if v.Kind() != graph.KindString {
		return "", false
	}
	return v.Str(), true
}

// put adds a vertex to a branch.
func (t *teller) put(b *branch, v graph.Handle) *branch {
	t.seen[v] = true
	return &b.put(v, t.id(v)).below
}

// tell adds one result: vertices, paths and trees are nodes, everything else is
// a value.
func (t *teller) tell(v graph.Value, bulk int64) {
	switch v.Kind() {
	case graph.KindVertex:
		t.put(&t.nodes, v.Handle())
		return
	case graph.KindOpaque:
		switch o := v.Opaque().(type) {
		case *gremlin.Path:
			if t.path(o) {
				return
			}
		case *gremlin.Tree:
			if t.tree(&t.nodes, o) || o.Len() == 0 {
				return
			}
		}
	}
	told := t.value(v)
	for range bulk {
		t.values = append(t.values, told)
	}
}

// path adds the vertices of a path, each below the one before. It reports
// whether there were any.
func (t *teller) path(p *gremlin.Path) bool {
	at := &t.nodes
	for _, o := range p.Objects {
		if o.Kind() == graph.KindVertex {
			at = t.put(at, o.Handle())
		}
	}
	return at != &t.nodes
}

// tree adds the vertices of a tree. What lies below something that is not a
// vertex lies below the vertex before it. It reports whether there were any.
func (t *teller) tree(at *branch, tree *gremlin.Tree) bool {
	found := false
	for i := range tree.Len() {
		below := at
		if key := tree.Key(i); key.Kind() == graph.KindVertex {
			below, found = t.put(at, key.Handle()), true
		}
		found = t.tree(below, tree.Sub(i)) || found
	}
	return found
}

// value returns a value as JSON knows it.
func (t *teller) value(v graph.Value) any {
	switch v.Kind() {
	case graph.KindNull:
		return nil
	case graph.KindBool:
		return v.Bool()
	case graph.KindByte, graph.KindShort, graph.KindInt, graph.KindLong:
		return v.Int()
	case graph.KindFloat, graph.KindDouble:
		return number(v)
	case graph.KindBigInt, graph.KindBigDecimal:
		return json.Number(v.String())
	case graph.KindDateTime:
		return v.Time().Format("2006-01-02T15:04:05.000Z07:00")
	case graph.KindVertex:
		t.seen[v.Handle()] = true
		return map[string]any{"id": t.id(v.Handle()), "type": "entity"}
	case graph.KindEdge:
		return t.edge(v.Handle())
	case graph.KindVertexProperty, graph.KindProperty:
		return t.property(v)
	case graph.KindList, graph.KindSet:
		return t.list(v.Elems())
	case graph.KindMap:
		return t.object(v.Entries())
	case graph.KindEntry:
		return t.object([]graph.Entry{v.Entry()})
	case graph.KindOpaque:
		return t.opaque(v)
	}
	if s, ok := text(v); ok {
		return s
	}
	return fmt.Sprint(v)
}

// number returns a float, or its name where JSON has no number for it.
func number(v graph.Value) any {
	f := v.Float()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	if v.Kind() == graph.KindFloat {
		return float32(f)
	}
	return f
}

func (t *teller) list(vs []graph.Value) []any {
	all := make([]any, len(vs))
	for i, v := range vs {
		all[i] = t.value(v)
	}
	return all
}

// object returns a map. Keys that are not texts are written as such.
func (t *teller) object(es []graph.Entry) map[string]any {
	all := make(map[string]any, len(es))
	for _, e := range es {
		all[t.key(e.Key)] = t.value(e.Value)
	}
	return all
}

func (t *teller) key(v graph.Value) string {
	if v.Kind() == graph.KindVertex {
		t.seen[v.Handle()] = true
		return string(t.id(v.Handle()))
	}
	switch told := t.value(v).(type) {
	case string:
		return told
	case map[string]any, []any:
		b, err := json.Marshal(told)
		if err != nil {
			return fmt.Sprint(told)
		}
		return string(b)
	default:
		return fmt.Sprint(told)
	}
}

// edge returns an edge with its ends and properties.
func (t *teller) edge(e graph.Handle) any {
	from, to := t.graph.Source(e), t.graph.Target(e)
	t.seen[from], t.seen[to] = true, true
	properties := map[string]any{}
	label := t.graph.EdgeLabel(e)
	for _, k := range t.graph.EdgeKeysOf(label) {
		if v, ok := t.graph.EdgeValue(e, k); ok {
			properties[t.graph.Keys()[k]] = t.value(v)
		}
	}
	return map[string]any{
		"label": t.graph.EdgeLabels()[label], "from": t.id(from), "to": t.id(to), "properties": properties,
	}
}

// property returns one property with its name.
func (t *teller) property(v graph.Value) any {
	ref := v.Property()
	key := t.graph.Keys()[ref.Key]
	switch {
	case ref.Edge:
		value, _ := t.graph.EdgeValue(ref.Owner, ref.Key)
		return map[string]any{key: t.value(value)}
	case ref.Meta >= 0:
		meta := t.graph.MetaProperties(ref.Owner, ref.Key, ref.Index)[ref.Meta]
		return map[string]any{t.graph.Keys()[meta.Key]: t.value(meta.Value)}
	}
	return map[string]any{key: t.value(t.graph.VertexPropertyValue(ref.Owner, ref.Key, ref.Index))}
}

// opaque returns what only the engine knows.
func (t *teller) opaque(v graph.Value) any {
	switch o := v.Opaque().(type) {
	case *gremlin.Path:
		return t.list(o.Objects)
	case *gremlin.BulkSet:
		return t.list(o.Elems())
	case *gremlin.Tree:
		all := make(map[string]any, o.Len())
		for i := range o.Len() {
			all[t.key(o.Key(i))] = t.opaque(graph.Opaque(o.Sub(i)))
		}
		return all
	case *gremlin.Subgraph:
		vertices, edges := make([]any, len(o.Vertices)), make([]any, len(o.Edges))
		for i, h := range o.Vertices {
			vertices[i] = t.value(graph.VertexOf(h))
		}
		for i, h := range o.Edges {
			edges[i] = t.edge(h)
		}
		return map[string]any{"vertices": vertices, "edges": edges}
	case gremlin.Token:
		return string(o)
	case time.Duration:
		return o.String()
	}
	return fmt.Sprint(v.Opaque())
}
