package suite

import (
	"fmt"
	"strings"

	"vigil/graph"
	"vigil/gremlin/internal/value"
)

// suffixes mark the type of a number in a cell.
var suffixes = map[graph.Kind]string{
	graph.KindByte: ".b", graph.KindShort: ".s", graph.KindInt: ".i", graph.KindLong: ".l", graph.KindBigInt: ".n",
	graph.KindFloat: ".f", graph.KindDouble: ".d", graph.KindBigDecimal: ".m",
}

func (w cellParser) describeAll(vs []graph.Value) []string {
	texts := make([]string, len(vs))
	for i, v := range vs {
		texts[i] = w.describe(v)
	}
	return texts
}

// describe formats a result as a cell, for error messages.
func (w cellParser) describe(v graph.Value) string {
	if v.IsNumber() {
		return "d[" + value.Text(nil, v) + "]" + suffixes[v.Kind()]
	}
	switch v.Kind() {
	case graph.KindString:
		return v.Str()
	case graph.KindVertex:
		return "v[" + w.name(v.Handle()) + "]"
	case graph.KindEdge:
		h := v.Handle()
		return "e[" + w.name(w.g.Source(h)) + "-" + w.g.EdgeLabels()[w.g.EdgeLabel(h)] + "->" + w.name(w.g.Target(h)) + "]"
	case graph.KindVertexProperty, graph.KindProperty:
		p := w.property(v)
		return "prop[" + p.key + "," + w.describe(p.value) + "]"
	case graph.KindList:
		return "l[" + strings.Join(w.describeAll(v.Elems()), ",") + "]"
	case graph.KindSet:
		return "s[" + strings.Join(w.describeAll(v.Elems()), ",") + "]"
	case graph.KindMap:
		return w.describeMap(v.Entries())
	case graph.KindEntry:
		return w.describeMap([]graph.Entry{v.Entry()})
	case graph.KindOpaque:
		return w.describeOpaque(v.Opaque())
	}
	return v.Kind().String() + "[" + value.Text(nil, v) + "]"
}

func (w cellParser) describeMap(entries []graph.Entry) string {
	parts := make([]string, len(entries))
	for i, e := range entries {
		parts[i] = w.describe(e.Key) + ":" + w.describe(e.Value)
	}
	return "m[{" + strings.Join(parts, ",") + "}]"
}

func (w cellParser) describeOpaque(o any) string {
	switch o := o.(type) {
	case *value.Path:
		return "p[" + strings.Join(w.describeAll(o.Objects), ",") + "]"
	case *value.BulkSet:
		return "bulkset[" + strings.Join(w.describeAll(o.Elems()), ",") + "]"
	case value.Token:
		return "t[" + string(o) + "]"
	case *value.Tree:
		var parts []string
		for i := range o.Len() {
			parts = append(parts, w.describe(o.Key(i))+w.describeOpaque(o.Sub(i)))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case *value.Subgraph:
		return fmt.Sprintf("subgraph of %d vertices and %d edges", len(o.Vertices), len(o.Edges))
	case keyValue:
		return "prop[" + o.key + "," + w.describe(o.value) + "]"
	}
	return fmt.Sprintf("%T", o)
}

// name returns the name of a vertex, or its id if it has none.
func (w cellParser) name(h graph.Handle) string {
	if key, ok := w.g.KeyByName("name"); ok {
		if v, ok := w.g.VertexValue(h, key); ok {
			return value.Text(nil, v)
		}
	}
	return value.Text(nil, w.g.VertexID(h))
}
