package accountgen_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/bench/gremlin/accountgen"
	"vigil/graph"
)

func build(t *testing.T, n int) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(graph.Limits{})
	if err := accountgen.Generate(n, 1, b.Add); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestEveryEdgeHasBothEnds(t *testing.T) {
	t.Parallel()
	g := build(t, 5000)
	if g.HiddenEdges() != 0 {
		t.Errorf("%d edges have a missing end", g.HiddenEdges())
	}
	if v, e := g.NumVertices(), g.NumEdges(); v < 4900 || v > 5100 || e < 2*v {
		t.Errorf("%d vertices and %d edges, want about 5000 vertices and twice as many edges", v, e)
	}
}

func TestSameSeedSameAccount(t *testing.T) {
	t.Parallel()
	collect := func() []string {
		var lines []string
		err := accountgen.Generate(300, 1, func(r graph.Record) error {
			line := r.ID.Str()
			for _, p := range r.Properties {
				line += " " + p.Key + "=" + p.Value.String()
			}
			for _, e := range r.Out {
				line += " " + e.Label + ">" + e.To.Str()
			}
			lines = append(lines, line)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	if diff := cmp.Diff(collect(), collect()); diff != "" {
		t.Error(diff)
	}
}
