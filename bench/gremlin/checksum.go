package main

import (
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"vigil/graph"
	"vigil/gremlin"
)

// checksum is an order-independent checksum of results, the same as in the Java program.
type checksum struct {
	count, value int64
}

// add adds a result that occurs a number of times.
func (c *checksum) add(g *graph.Graph, v graph.Value, times int64) {
	c.count += times
	c.value += times * int64(crc32.ChecksumIEEE([]byte(text(g, v))))
}

// text formats a result like the Java program.
func text(g *graph.Graph, v graph.Value) string {
	switch v.Kind() {
	case graph.KindFloat, graph.KindDouble:
		return fmt.Sprintf("%.6e", v.Float())
	case graph.KindVertex:
		return "v[" + text(g, g.VertexID(v.Handle())) + "]"
	case graph.KindEdge:
		e := v.Handle()
		return "e[" + text(g, g.VertexID(g.Source(e))) + "-" + g.EdgeLabels()[g.EdgeLabel(e)] + "->" + text(g, g.VertexID(g.Target(e))) + "]"
	case graph.KindVertexProperty:
		p := v.Property()
		return "vp[" + g.Keys()[p.Key] + "->" + text(g, g.VertexPropertyValue(p.Owner, p.Key, p.Index)) + "]"
	case graph.KindMap:
		var parts []string
		for _, e := range v.Entries() {
			parts = append(parts, text(g, e.Key)+":"+text(g, e.Value))
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}"
	case graph.KindList, graph.KindSet:
		return texts(g, v.Elems(), v.Kind() == graph.KindSet)
	case graph.KindOpaque:
		if p, ok := v.Opaque().(*gremlin.Path); ok {
			return texts(g, p.Objects, false)
		}
	}
	return v.String()
}

func texts(g *graph.Graph, vs []graph.Value, sort bool) string {
	parts := make([]string, len(vs))
	for i, v := range vs {
		parts[i] = text(g, v)
	}
	if sort {
		slices.Sort(parts)
	}
	return "[" + strings.Join(parts, ",") + "]"
}
