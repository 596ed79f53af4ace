package gremlin_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vigil/graph"
	"vigil/gremlin"
)

// TestEngineMatchesReference compares the engine with the reference
// implementation on random queries over random graphs.
func TestEngineMatchesReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, requireSameResults)
}

// FuzzEngineMatchesReference is the same test for the fuzzer.
func FuzzEngineMatchesReference(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(requireSameResults))
}

func requireSameResults(t *rapid.T) {
	g := drawGraph(t)
	text := drawQuery(t)
	want, err := newReference(g).run(text)
	if errors.Is(err, errTooMuch) {
		t.Skip(err) // only this random case: rapid draws another graph and query
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	p, err := gremlin.Compile(text, gremlin.CompileOptions{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	budget := gremlin.Unlimited
	budget.Traversers = 50_000_000
	res, err := p.Run(t.Context(), g, gremlin.RunOptions{Budget: budget})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	got := make([]string, 0, len(want))
	for v := range res.Values() {
		got = append(got, gremlin.Text(g, v))
	}
	slices.Sort(want)
	slices.Sort(got)
	// The reference may return nil where the engine returns an empty slice.
	if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
		t.Fatalf("%s (-reference +engine):\n%s\n%s", text, diff, p.Explain())
	}
}

// drawGraph draws a small graph with a few labels, loops and parallel edges.
func drawGraph(t *rapid.T) *graph.Graph {
	b := graph.NewBuilder(graph.Limits{})
	n := rapid.IntRange(1, 7).Draw(t, "vertices")
	for i := range n {
		h, err := b.AddVertex(graph.Int(int32(i)), rapid.SampledFrom([]string{"A", "B"}).Draw(t, "label"))
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"n", "m"} {
			switch rapid.IntRange(0, 4).Draw(t, key) {
			case 0: // no property with this key
			case 1:
				err = b.SetProperty(h, key, graph.String("x"))
			default:
				err = b.SetProperty(h, key, graph.Int(int32(rapid.IntRange(0, 3).Draw(t, "value"))))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for range rapid.IntRange(0, 10).Draw(t, "edges") {
		from, to := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")
		label := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "edge")
		if _, err := b.AddEdge(graph.Null, label, graph.Int(int32(from)), graph.Int(int32(to))); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// drawQuery draws a query. Only its last steps may yield anything else than vertices.
func drawQuery(t *rapid.T) string {
	steps := drawSteps(t, 5)
	ends := []string{"", "", ".count()", `.values("n")`, `.values("n").dedup()`, ".dedup()", ".dedup().count()"}
	if !strings.Contains(steps, "dedup") { // dedup may keep any of several paths
		ends = append(ends, ".path()")
	}
	return "g.V()" + steps + rapid.SampledFrom(ends).Draw(t, "end")
}

// drawSteps draws up to five steps that lead from vertices to vertices.
func drawSteps(t *rapid.T, depth int) string {
	var b strings.Builder
	n := rapid.IntRange(0, 5).Draw(t, "steps")
	for range n {
		b.WriteString(drawStep(t, depth))
	}
	return b.String()
}

// drawNested draws a nested traversal. It has at least one step.
func drawNested(t *rapid.T, depth int) string {
	steps := drawSteps(t, depth)
	if steps == "" {
		steps = drawMove(t)
	}
	return "__" + steps
}

func drawMove(t *rapid.T) string {
	dir := rapid.SampledFrom([]string{"out", "in", "both"}).Draw(t, "move")
	over := rapid.SampledFrom([]string{"", `"a"`, `"b"`, `"none"`}).Draw(t, "over")
	return fmt.Sprintf(".%s(%s)", dir, over)
}

func drawStep(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 9).Draw(t, "kind")
	inner := func() string { return drawNested(t, depth-2) }
	switch {
	case kind < 4 || depth <= 0 && kind > 6: // kinds above 6 contain a traversal
		return drawMove(t)
	case kind < 6:
		return drawHas(t)
	case kind == 6:
		return ".dedup()"
	case kind == 7:
		return fmt.Sprintf(".%s(%s)", rapid.SampledFrom([]string{"where", "not"}).Draw(t, "filter"), inner())
	case kind == 8:
		return fmt.Sprintf(".union(%s, %s)", inner(), inner())
	}
	times := rapid.IntRange(1, 3).Draw(t, "times")
	body := "__" + drawMove(t)
	if rapid.Bool().Draw(t, "tested") {
		body += drawHas(t)
	}
	return fmt.Sprintf(".repeat(%s).times(%d)", body, times)
}

func drawHas(t *rapid.T) string {
	key := rapid.SampledFrom([]string{"n", "m", "none"}).Draw(t, "key")
	n := rapid.IntRange(0, 3).Draw(t, "operand")
	return "." + rapid.SampledFrom([]string{
		fmt.Sprintf(`has(%q)`, key), fmt.Sprintf(`has(%q, %d)`, key, n), fmt.Sprintf(`has(%q, gt(%d))`, key, n),
		fmt.Sprintf(`has(%q, lt(%d))`, key, n), fmt.Sprintf(`has(%q, neq(%d))`, key, n),
	}).Draw(t, "has")
}

// TestColumnsCompareLikeValues compares has(), which reads columns and indexes, with is(),
// which compares values.
func TestColumnsCompareLikeValues(t *testing.T) {
	t.Parallel()
	numbers := map[string][]graph.Value{
		"int":    {graph.Int(-1), graph.Int(0), graph.Int(1), graph.Int(math.MaxInt32)},
		"long":   {graph.Long(-1), graph.Long(0), graph.Long(1), graph.Long(1<<53 + 1), graph.Long(math.MaxInt64)},
		"double": {graph.Double(-1), graph.Double(math.Copysign(0, -1)), graph.Double(0), graph.Double(1 << 53), graph.Double(math.NaN())},
	}
	b := graph.NewBuilder(graph.Limits{})
	for key, values := range numbers {
		for i, v := range values {
			h, err := b.AddVertex(graph.String(fmt.Sprint(key, i)), key)
			if err == nil {
				err = b.SetProperty(h, "n", v)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []string{"eq", "neq", "lt", "lte", "gt", "gte", "within", "without"} {
		for _, n := range []string{
			"0", "1", "9007199254740993L", "9223372036854775807L", "0.0d", "-0.0d", "0.0f", "-0.0f", "1.0d", "9007199254740992.0d", "0n", "0.0m", "NaN", "Infinity",
		} {
			want := columnResult(t, g, fmt.Sprintf(`g.V().as("a").values("n").is(%s(%s)).select("a")`, op, n))
			// With barrier(), has() is not a part of V(): it reads columns, never an index.
			for _, text := range []string{`g.V().has("n", %s(%s))`, `g.V().barrier().has("n", %s(%s))`} {
				if diff := cmp.Diff(want, columnResult(t, g, fmt.Sprintf(text, op, n))); diff != "" {
					t.Errorf("%s (-values +columns):\n%s", fmt.Sprintf(text, op, n), diff)
				}
			}
		}
	}
}

func columnResult(t *testing.T, g *graph.Graph, text string) []string {
	t.Helper()
	res, err := run(t.Context(), t, g, text, gremlin.DefaultBudget)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out := texts(g, res)
	slices.Sort(out)
	return out
}
