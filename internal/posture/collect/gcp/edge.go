package gcp

import (
	"slices"
	"strings"

	"vigil/internal/posture"
)

// sortEdges puts edges that differ in their properties alone into an order that
// does not depend on the answer's, and leaves out those that are there twice.
func sortEdges(r *resource) {
	slices.SortStableFunc(r.Edges, compareEdges)
	r.Edges = slices.CompactFunc(r.Edges, func(a, b posture.Edge) bool { return compareEdges(a, b) == 0 })
}

func compareEdges(a, b posture.Edge) int {
	if c := strings.Compare(a.Label, b.Label); c != 0 {
		return c
	}
	if c := strings.Compare(string(a.To), string(b.To)); c != 0 {
		return c
	}
	return slices.CompareFunc(a.Properties, b.Properties, func(p, q posture.Property) int {
		if c := strings.Compare(p.Name+"\x00"+p.String, q.Name+"\x00"+q.String); c != 0 {
			return c
		}
		return int(p.Long - q.Long)
	})
}
