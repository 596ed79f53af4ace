package graph_test

import (
	"testing"

	"pgregory.net/rapid"

	"vigil/graph"
)

// TestSharedHandlesBelongToTheSameIDs patches random graphs of a growing set, so that
// graphs have several successors, and compares the ids of handles that graphs share.
func TestSharedHandlesBelongToTheSameIDs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := []*graph.Graph{buildGraph(t, map[string]graph.Record{})}
		for range rapid.IntRange(1, 8).Draw(t, "patches") {
			from := rapid.SampledFrom(all).Draw(t, "from")
			g, err := from.Patch(rapid.SliceOfN(changes(), 0, 4).Draw(t, "patch"))
			if err != nil {
				t.Fatal(err)
			}
			if g.VertexCap() == from.VertexCap() && !g.SharesHandles(from) {
				t.Fatal("a patch without new vertices changed the handles")
			}
			if rapid.IntRange(0, 4).Draw(t, "compact") == 0 {
				if g, err = g.Compact(); err != nil {
					t.Fatal(err)
				}
			}
			all = append(all, g)
		}
		for i, g := range all {
			for _, o := range all[:i] {
				if !g.SharesHandles(o) {
					continue
				}
				for h := range graph.Handle(min(g.VertexCap(), o.VertexCap())) {
					if !g.VertexID(h).Equal(o.VertexID(h)) {
						t.Fatalf("handle %d belongs to %v and to %v", h, g.VertexID(h), o.VertexID(h))
					}
				}
			}
		}
	})
}

func TestConsecutivePatchesShareHandles(t *testing.T) {
	t.Parallel()
	first := buildGraph(t, map[string]graph.Record{})
	last := first
	for _, name := range []string{"a", "b", "c"} {
		var err error
		if last, err = last.Patch([]graph.Change{{Record: graph.Record{ID: graph.String(name), Label: "A"}}}); err != nil {
			t.Fatal(err)
		}
	}
	if !last.SharesHandles(first) {
		t.Error("the handles of a graph are not those of the graph that it was patched from")
	}
	other, err := first.Patch([]graph.Change{{Record: graph.Record{ID: graph.String("other"), Label: "A"}}})
	if err != nil {
		t.Fatal(err)
	}
	if other.SharesHandles(last) {
		t.Error("two graphs that added different vertices share handles")
	}
}
