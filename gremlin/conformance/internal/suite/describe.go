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

func (parser cellParser) describeAll(vs []graph.Value) []string {
	texts := make([]string, len(vs))
	for i, v := range vs {
		texts[i] = parser.describe(v)
	}
	return texts
}

// describe formats a result as a cell, for error messages.
func (parser cellParser) describe(v graph.Value) string {
	if v.IsNumber() {
		return "d[" + value.Text(nil, v) + "]" + suffixes[v.Kind()]
	}
	switch v.Kind() {
	case graph.KindString:
		return v.Str()
	case graph.KindVertex:
		return "v[" + parser.name(v.Handle()) + "]"
	case graph.KindEdge:
		h := v.Handle()
		return "e[" + parser.name(parser.g.Source(h)) + "-" + parser.g.EdgeLabels()[parser.g.EdgeLabel(h)] + "->" + parser.name(parser.g.Target(h)) + "]"
	case graph.KindVertexProperty, graph.KindProperty:
		p := parser.property(v)
		return "prop[" + p.key + "," + parser.describe(p.value) + "]"
	case graph.KindList:
		return "l[" + strings.Join(parser.describeAll(v.Elems()), ",") + "]"
	case graph.KindSet:
		return "s[" + strings.Join(parser.describeAll(v.Elems()), ",") + "]"
	case graph.KindMap:
		return parser.describeMap(v.Entries())
	case graph.KindEntry:
		return parser.describeMap([]graph.Entry{v.Entry()})
	case graph.KindOpaque:
		return parser.describeOpaque(v.Opaque())
	}
	return v.Kind().String() + "[" + value.Text(nil, v) + "]"
}

func (parser cellParser) describeMap(entries []graph.Entry) string {
	parts := make([]string, len(entries))
	for i, e := range entries {
		parts[i] = parser.describe(e.Key) + ":" + parser.describe(e.Value)
	}
	return "m[{" + strings.Join(parts, ",") + "}]"
}

func (parser cellParser) describeOpaque(o any) string {
	switch o := o.(type) {
	case *value.Path:
		return "p[" + strings.Join(parser.describeAll(o.Objects), ",") + "]"
	case *value.BulkSet:
		return "bulkset[" + strings.Join(parser.describeAll(o.Elems()), ",") + "]"
	case value.Token:
		return "t[" + string(o) + "]"
	case *value.Tree:
		var parts []string
		for i := range o.Len() {
			parts = append(parts, parser.describe(o.Key(i))+parser.describeOpaque(o.Sub(i)))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case *value.Subgraph:
		return fmt.Sprintf("subgraph of %d vertices and %d edges", len(o.Vertices), len(o.Edges))
	case keyValue:
		return "prop[" + o.key + "," + parser.describe(o.value) + "]"
	}
	return fmt.Sprintf("%T", o)
}

// name returns the name of a vertex, or its id if it has none.
func (parser cellParser) name(h graph.Handle) string {
	if key, ok := parser.g.KeyByName("name"); ok {
		if v, ok := parser.g.VertexValue(h, key); ok {
			return value.Text(nil, v)
		}
	}
	return value.Text(nil, parser.g.VertexID(h))
}
