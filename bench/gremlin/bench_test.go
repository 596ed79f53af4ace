package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/bench/gremlin/accountgen"
	"vigil/graph"
	"vigil/gremlin"
)

func account(t *testing.T, n int) ([]graph.Record, *graph.Graph) {
	t.Helper()
	var records []graph.Record
	if err := accountgen.Generate(n, 1, func(r graph.Record) error { records = append(records, r); return nil }); err != nil {
		t.Fatal(err)
	}
	g, err := buildGraph(records)
	if err != nil {
		t.Fatal(err)
	}
	return records, g
}

// results runs a query and computes the checksum of its results.
func results(ctx context.Context, t *testing.T, g *graph.Graph, text string) (checksum, *gremlin.Result) {
	t.Helper()
	p, err := gremlin.Compile(text, gremlin.CompileOptions{Budget: gremlin.Unlimited})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	res, err := p.Run(ctx, g, gremlin.RunOptions{Budget: gremlin.Unlimited})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var sum checksum
	for _, it := range res.Items {
		sum.add(g, it.Value, it.Bulk)
	}
	return sum, res
}

func TestEveryQueryFindsSomething(t *testing.T) {
	t.Parallel()
	_, g := account(t, 5000)
	names := map[string]bool{}
	for _, q := range securityQueries {
		sum, res := results(t.Context(), t, g, q.text)
		if sum.count == 0 || res.Items[0].Value.IsInteger() && res.Items[0].Value.Int() == 0 {
			t.Errorf("%s finds nothing, so it measures little", q.name)
		}
		if names[q.name] {
			t.Errorf("two queries are named %s", q.name)
		}
		names[q.name] = true
	}
	if len(securityQueries) != 40 || len(gratefulQueries) != 7 {
		t.Errorf("%d and %d queries, want 40 and 7", len(securityQueries), len(gratefulQueries))
	}
}

func TestHandwrittenLoopsMatchQueries(t *testing.T) {
	t.Parallel()
	_, g := account(t, 5000)
	n := 0
	for _, q := range securityQueries {
		f := loops[q.loop]
		if f == nil {
			continue
		}
		n++
		_, res := results(t.Context(), t, g, q.text)
		want := int64(0)
		switch v := res.Items[0].Value; v.Kind() {
		case graph.KindMap:
			for _, e := range v.Entries() {
				want += e.Value.Int()
			}
		default:
			want = v.Int()
		}
		if got := f(g); got != want {
			t.Errorf("%s: the loop gives %d, the query %d", q.name, got, want)
		}
	}
	if n != 5 {
		t.Errorf("%d queries have a loop, want 5", n)
	}
}

func TestEdgeWithoutItsVertexIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "graph.tsv")
	if err := os.WriteFile(path, []byte("V\ti1\tsong\nE\tfollows\ti2\ti1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if records, err := readExchange(path); err == nil {
		t.Errorf("the edge was added: %v", records)
	}
}

func TestExchangeFileRoundTrip(t *testing.T) {
	t.Parallel()
	records, g := account(t, 500)
	records[3].Properties[0].Value = graph.String("tab\tand\nline \\n")
	path := filepath.Join(t.TempDir(), "graph.tsv")
	if err := writeExchange(path, records); err != nil {
		t.Fatal(err)
	}
	back, err := readExchange(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(records, back); diff != "" {
		t.Errorf("graph differs (-before +after):\n%s", diff)
	}
	if h, err := buildGraph(back); err != nil || h.NumEdges() != g.NumEdges() {
		t.Errorf("%d edges, want %d: %v", h.NumEdges(), g.NumEdges(), err)
	}
}
