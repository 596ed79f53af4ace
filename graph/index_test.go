package graph_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vigil/graph"
)

// TestIndexAgreesWithScan compares every kind of lookup with a loop over all values.
func TestIndexAgreesWithScan(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := graph.NewBuilder(graph.Limits{})
		cell := rapid.SliceOfN(values(), 0, 2)
		if rapid.Bool().Draw(t, "at most one text") { // such a column is scanned by the codes of its texts
			cell = rapid.SliceOfN(rapid.Map(rapid.SampledFrom([]string{"", "red", "green", "blue"}), graph.String), 0, 1)
		}
		cells := rapid.SliceOfN(cell, 1, 20).Draw(t, "cells")
		for _, vs := range cells {
			h, err := b.AddVertex(graph.Null, "A")
			if err != nil {
				t.Fatalf("add vertex: %v", err)
			}
			for _, v := range vs {
				if err := b.AddProperty(h, "p", graph.VertexProperty{Value: v}); err != nil {
					t.Fatalf("add property: %v", err)
				}
			}
		}
		g, err := b.Build()
		if err != nil {
			t.Fatalf("build: %v", err)
		}
		if g.VertexColumn(0, 0) == nil {
			return // no vertex has the property
		}
		where := func(accept func(graph.Value) bool) []graph.Handle {
			var hs []graph.Handle
			for i, vs := range cells {
				if slices.ContainsFunc(vs, accept) {
					hs = append(hs, graph.Handle(i))
				}
			}
			return hs
		}
		check := func(name string, got, want []graph.Handle) {
			got = slices.Clone(got)
			slices.Sort(got)
			if diff := cmp.Diff(want, slices.Compact(got)); diff != "" && len(got)+len(want) > 0 {
				t.Fatalf("%s (-want +got):\n%s", name, diff)
			}
		}
		v, w := values().Draw(t, "v"), values().Draw(t, "w")
		equalsW := func(u graph.Value) bool { return graph.Eq(u, w) }
		check("scan", g.VerticesWith(nil, 0, 0, w), where(equalsW)) // the first call
		if g.VertexIndexReady(0, 0) {
			t.Fatal("the first call built an index")
		}
		check("index", g.VerticesWith(nil, 0, 0, w), where(equalsW))
		if !g.VertexIndexReady(0, 0) {
			t.Fatal("the second call built no index")
		}
		x := g.VertexIndex(0, 0)
		check("equal", x.Equal(v), where(func(u graph.Value) bool { return graph.Eq(u, v) }))
		check("prefix", x.Prefix("r"), where(func(u graph.Value) bool { return u.Kind() == graph.KindString && strings.HasPrefix(u.Str(), "r") }))
		checkRanges(x, v, w, where, check)
	})
}

func checkRanges(x *graph.Index, v, w graph.Value, where func(func(graph.Value) bool) []graph.Handle, check func(string, []graph.Handle, []graph.Handle)) {
	less := func(a, b graph.Value, orEqual bool) bool {
		c, ok := graph.Compare(a, b)
		return ok && (c < 0 || c == 0 && orEqual)
	}
	for _, within := range []bool{false, true} {
		from, to := graph.Bound{Value: v, Within: within, Set: true}, graph.Bound{Value: w, Within: within, Set: true}
		if got, ok := x.Range(from, graph.Bound{}); ok {
			check("above", got, where(func(u graph.Value) bool { return less(v, u, within) }))
		}
		if got, ok := x.Range(graph.Bound{}, to); ok {
			check("below", got, where(func(u graph.Value) bool { return less(u, w, within) }))
		}
		if got, ok := x.Range(from, to); ok {
			check("between", got, where(func(u graph.Value) bool { return less(v, u, within) && less(u, w, within) }))
		}
	}
}

// TestIndexOfLargeNumbersOfMixedKinds has two longs that a double rounds to the same number.
func TestIndexOfLargeNumbersOfMixedKinds(t *testing.T) {
	t.Parallel()
	b := graph.NewBuilder(graph.Limits{})
	cells := []graph.Value{graph.Long(1<<53 + 1), graph.Double(1 << 53), graph.Long(1 << 53)}
	for _, v := range cells {
		h, err := b.AddVertex(graph.Null, "A")
		if err == nil {
			err = b.SetProperty(h, "p", v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	x := g.VertexIndex(0, 0)
	for i, want := range [][]graph.Handle{{0}, {1, 2}, {1, 2}} {
		if diff := cmp.Diff(want, x.Equal(cells[i])); diff != "" {
			t.Errorf("elements with %s (-want +got):\n%s", cells[i], diff)
		}
	}
}
