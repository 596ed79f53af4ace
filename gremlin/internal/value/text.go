package value

import (
	"fmt"
	"strings"
	"time"

	"vigil/graph"
)

// Elements provides what the text form of an element needs.
type Elements interface {
	Space
	// Label returns the label of a vertex or edge.
	Label(graph.Value) string
	// Ends returns the ids of the vertices an edge leads from and to.
	Ends(graph.Value) (out, in graph.Value)
	// VertexProperty returns key and value of a vertex property.
	VertexProperty(graph.Value) (key string, value graph.Value)
}

// Text formats v like asString(): [a, b], {k=v}, v[1], e[7][1-knows->2].
func Text(e Elements, v graph.Value) string {
	var b strings.Builder
	writeText(&b, e, v)
	return b.String()
}

func writeText(b *strings.Builder, e Elements, v graph.Value) {
	switch v.Kind() {
	case graph.KindFloat, graph.KindDouble:
		b.WriteString(FormatFloat(v))
	case graph.KindBigDecimal:
		b.WriteString(formatDecimal(v))
	case graph.KindDateTime:
		b.WriteString(FormatTime(v.Time()))
	case graph.KindVertex, graph.KindEdge, graph.KindVertexProperty, graph.KindProperty:
		writeElement(b, e, v)
	case graph.KindEntry:
		writeEntry(b, e, v.Entry())
	case graph.KindList, graph.KindSet, graph.KindMap, graph.KindOpaque:
		writeCollection(b, e, v)
	default:
		b.WriteString(v.String())
	}
}

func writeElement(b *strings.Builder, e Elements, v graph.Value) {
	switch v.Kind() {
	case graph.KindVertex:
		b.WriteString("v[")
		writeText(b, e, e.ID(v))
	case graph.KindEdge:
		out, in := e.Ends(v)
		b.WriteString("e[")
		writeText(b, e, e.ID(v))
		b.WriteString("][")
		writeText(b, e, out)
		b.WriteString("-" + e.Label(v) + "->")
		writeText(b, e, in)
	case graph.KindVertexProperty:
		key, val := e.VertexProperty(v)
		b.WriteString("vp[" + key + "->" + abbreviate(Text(e, val)))
	default:
		key, val := e.Property(v)
		b.WriteString("p[" + key + "->" + abbreviate(Text(e, val)))
	}
	b.WriteString("]")
}

// abbreviate truncates a property's value to twenty characters.
func abbreviate(s string) string {
	r := []rune(s)
	if len(r) <= 20 {
		return s
	}
	return string(r[:17]) + "..."
}

func writeCollection(b *strings.Builder, e Elements, v graph.Value) {
	if es, ok := Entries(v); ok {
		b.WriteString("{")
		for i, entry := range es {
			if i > 0 {
				b.WriteString(", ")
			}
			writeEntry(b, e, entry)
		}
		b.WriteString("}")
		return
	}
	if s, ok := As[*BulkSet](v); ok {
		writeBulks(b, e, s)
		return
	}
	vs, ok := Elems(v)
	if !ok {
		writeOpaque(b, v.Opaque())
		return
	}
	open := "["
	if _, isPath := As[*Path](v); isPath {
		open = "path["
	}
	b.WriteString(open)
	for i, x := range vs {
		if i > 0 {
			b.WriteString(", ")
		}
		writeText(b, e, x)
	}
	b.WriteString("]")
}

// writeBulks formats a bulk set as a map of counts.
func writeBulks(b *strings.Builder, e Elements, s *BulkSet) {
	b.WriteString("{")
	for i := range s.Len() {
		if i > 0 {
			b.WriteString(", ")
		}
		v, n := s.At(i)
		writeEntry(b, e, graph.Entry{Key: v, Value: graph.Long(n)})
	}
	b.WriteString("}")
}

func writeOpaque(b *strings.Builder, o any) {
	switch x := o.(type) {
	case Token:
		b.WriteString(string(x))
	case *Subgraph:
		fmt.Fprintf(b, "tinkergraph[vertices:%d edges:%d]", len(x.Vertices), len(x.Edges))
	}
}

func writeEntry(b *strings.Builder, e Elements, entry graph.Entry) {
	writeText(b, e, entry.Key)
	b.WriteString("=")
	writeText(b, e, entry.Value)
}

// FormatTime formats a date in ISO 8601, without seconds if they are zero.
func FormatTime(t time.Time) string {
	layout := "2006-01-02T15:04"
	switch {
	case t.Nanosecond() != 0:
		layout += ":05.000000000"
	case t.Second() != 0:
		layout += ":05"
	}
	s := t.Format(layout)
	if t.Year() > 9999 {
		s = "+" + s
	}
	if t.Nanosecond() != 0 {
		// Java formats fractions in groups of three digits.
		for strings.HasSuffix(s, "000") {
			s = s[:len(s)-3]
		}
	}
	return s + t.Format("Z07:00")
}

// formatDecimal formats a big decimal like Java's toString: with an exponent if
// the scale is negative or the number is very small.
func formatDecimal(v graph.Value) string {
	u, scale := v.BigDecimal()
	digits := u.String()
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	exponent := int64(len(digits)-1) - int64(scale)
	if scale >= 0 && exponent >= -6 {
		if scale == 0 {
			return sign + digits
		}
		if pad := int(scale) + 1 - len(digits); pad > 0 {
			digits = strings.Repeat("0", pad) + digits
		}
		cut := len(digits) - int(scale)
		return sign + digits[:cut] + "." + digits[cut:]
	}
	s := sign + digits[:1]
	if len(digits) > 1 {
		s += "." + digits[1:]
	}
	plus := ""
	if exponent > 0 {
		plus = "+"
	}
	return s + "E" + plus + graph.Long(exponent).String()
}
