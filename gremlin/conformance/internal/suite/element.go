package suite

import (
	"fmt"
	"slices"
	"strings"

	"vigil/graph"
	"vigil/gremlin/internal/value"
)

// element parses v[name], e[a-label->b], their .id and .sid, vp[name-key->value]
// and prop[key,value].
func (parser cellParser) element(kind, inside, suffix string) (graph.Value, error) {
	switch kind + suffix {
	case "v", "v.id", "v.sid":
		h, ok := parser.vertex(inside)
		if !ok {
			return graph.Null, fmt.Errorf("no vertex has the name %q", inside)
		}
		return reference(graph.VertexOf(h), parser.g.VertexID(h), suffix), nil
	case "e", "e.id", "e.sid":
		h, err := parser.edge(inside)
		if err != nil {
			return graph.Null, err
		}
		return reference(graph.EdgeOf(h), parser.g.EdgeID(h), suffix), nil
	case "vp":
		return parser.vertexProperty(inside)
	case "prop":
		key, text, _ := strings.Cut(inside, ",")
		v, err := parser.cell(strings.TrimSpace(text))
		return graph.Opaque(keyValue{key, v}), err
	}
	return graph.Null, fmt.Errorf("cannot read cell %s[%s]%s", kind, inside, suffix)
}

// reference returns the element, its id, or its id as a string.
func reference(element, id graph.Value, suffix string) graph.Value {
	switch suffix {
	case ".id":
		return id
	case ".sid":
		return graph.String(value.Text(nil, id))
	}
	return element
}

// vertex finds the first vertex with the name.
func (parser cellParser) vertex(name string) (graph.Handle, bool) {
	for _, h := range parser.g.Vertices() {
		if parser.hasName(h, name) {
			return h, true
		}
	}
	return graph.NoHandle, false
}

func (parser cellParser) hasName(h graph.Handle, name string) bool {
	key, ok := parser.g.KeyByName("name")
	if !ok {
		return false
	}
	v, ok := parser.g.VertexValue(h, key)
	return ok && v.Kind() == graph.KindString && v.Str() == name
}

// edge finds the first edge a-label->b.
func (parser cellParser) edge(text string) (graph.Handle, error) {
	from, label, to, ok := triplet(text)
	l, known := parser.g.EdgeLabelByName(label)
	if ok && known {
		for _, h := range parser.g.EdgesOf(l) {
			if parser.hasName(parser.g.Source(h), from) && parser.hasName(parser.g.Target(h), to) {
				return h, nil
			}
		}
	}
	return graph.NoHandle, fmt.Errorf("no edge is %s", text)
}

// triplet splits a-label->b at its last arrow and the dash before it.
func triplet(text string) (a, label, b string, ok bool) {
	arrow := strings.LastIndex(text, "->")
	if arrow < 0 {
		return "", "", "", false
	}
	dash := strings.LastIndexByte(text[:arrow], '-')
	if dash < 0 {
		return "", "", "", false
	}
	return text[:dash], text[dash+1 : arrow], text[arrow+2:], true
}

// vertexProperty finds vp[name-key->value].
func (parser cellParser) vertexProperty(text string) (graph.Value, error) {
	name, key, cell, ok := triplet(text)
	v, found := parser.vertex(name)
	k, known := parser.g.KeyByName(key)
	if !ok || !found || !known {
		return graph.Null, fmt.Errorf("no vertex property is %s", text)
	}
	want, err := parser.cell(cell)
	if err != nil {
		return graph.Null, err
	}
	for i := range parser.g.VertexPropertyCount(v, k) {
		if parser.g.VertexPropertyValue(v, k, i).Equal(want) {
			return graph.VertexPropertyOf(v, k, i), nil
		}
	}
	return graph.Null, fmt.Errorf("no vertex property is %s", text)
}

// property returns the key and the value of a property.
func (parser cellParser) property(v graph.Value) keyValue {
	ref := v.Property()
	if ref.Edge {
		got, _ := parser.g.EdgeValue(ref.Owner, ref.Key)
		return keyValue{parser.g.Keys()[ref.Key], got}
	}
	if ref.Meta < 0 {
		return keyValue{parser.g.Keys()[ref.Key], parser.g.VertexPropertyValue(ref.Owner, ref.Key, ref.Index)}
	}
	m := parser.g.MetaProperties(ref.Owner, ref.Key, ref.Index)[ref.Meta]
	return keyValue{parser.g.Keys()[m.Key], m.Value}
}

// handles returns the handles of elements, sorted.
func handles(elements []graph.Value) []graph.Handle {
	hs := make([]graph.Handle, len(elements))
	for i, e := range elements {
		hs[i] = e.Handle()
	}
	slices.Sort(hs)
	return hs
}
