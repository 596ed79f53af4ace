package graph_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/graph"
)

func TestBuilderRejectsDuplicates(t *testing.T) {
	t.Parallel()
	b := graph.NewBuilder(graph.Limits{})
	if _, err := b.AddVertex(graph.Int(1), "A"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.AddVertex(graph.Long(1), "B"); !errors.Is(err, graph.ErrDuplicate) {
		t.Errorf("second vertex 1: %v", err)
	}
	if _, err := b.AddEdge(graph.String("e"), "x", graph.Int(1), graph.Int(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.AddEdge(graph.String("e"), "x", graph.Int(1), graph.Int(1)); !errors.Is(err, graph.ErrDuplicate) {
		t.Errorf("second edge e: %v", err)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if g.NumVertices() != 1 || g.NumEdges() != 1 {
		t.Errorf("%d vertices, %d edges, want 1 and 1", g.NumVertices(), g.NumEdges())
	}
	if _, err := b.Build(); err == nil {
		t.Error("Build succeeded twice")
	}
}

func TestBuilderLimits(t *testing.T) {
	t.Parallel()
	b := graph.NewBuilder(graph.Limits{Vertices: 2, Edges: 1, Bytes: 200})
	v, _ := b.AddVertex(graph.Int(1), "A")
	// Vertex 2 was not added, but it counts because an edge refers to it.
	if _, err := b.AddEdge(graph.Null, "x", graph.Int(1), graph.Int(2)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.AddVertex(graph.Int(3), "A"); !errors.Is(err, graph.ErrTooLarge) {
		t.Errorf("third vertex: %v", err)
	}
	if _, err := b.AddEdge(graph.Null, "x", graph.Int(1), graph.Int(2)); !errors.Is(err, graph.ErrTooLarge) {
		t.Errorf("second edge: %v", err)
	}
	var err error
	for i := 0; err == nil && i < 100; i++ {
		err = b.SetProperty(v, fmt.Sprintf("p%d", i), graph.String(fmt.Sprintf("text %d", i)))
	}
	if !errors.Is(err, graph.ErrTooLarge) {
		t.Errorf("a hundred properties: %v", err)
	}
}

// TestMetaPropertyLimit gives a value as many meta-properties as a reference can address, and one more.
func TestMetaPropertyLimit(t *testing.T) {
	t.Parallel()
	const most = 1 << 15
	withMeta := func(n int) graph.VertexProperty {
		p := graph.VertexProperty{Value: graph.Int(1)}
		for i := range n {
			p.Meta = append(p.Meta, graph.Meta{Key: "m", Value: graph.Int(int32(i))})
		}
		return p
	}
	b := graph.NewBuilder(graph.Limits{})
	v, err := b.AddVertex(graph.Int(1), "A")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.AddProperty(v, "p", withMeta(most+1)); !errors.Is(err, graph.ErrTooLarge) {
		t.Errorf("a value with %d meta-properties: %v", most+1, err)
	}
	if err := b.AddProperty(v, "p", withMeta(most)); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if last := graph.MetaPropertyOf(v, 0, 0, most-1).Property(); last.Meta != most-1 || last.Edge {
		t.Errorf("the last meta-property is %+v", last)
	}
	record := graph.Record{ID: graph.Int(1), Label: "A", Properties: []graph.PropertyRecord{{Key: "p", VertexProperty: withMeta(most + 1)}}}
	if _, err := g.Patch([]graph.Change{{Record: record}}); !errors.Is(err, graph.ErrTooLarge) {
		t.Errorf("a patch with %d meta-properties: %v", most+1, err)
	}
}

func TestEdgeToMissingVertexIsHidden(t *testing.T) {
	t.Parallel()
	a, b := graph.String("a"), graph.String("b")
	bl := graph.NewBuilder(graph.Limits{})
	if err := bl.Add(graph.Record{ID: a, Label: "A", Out: []graph.EdgeRecord{{Label: "x", To: b}}}); err != nil {
		t.Fatal(err)
	}
	g, err := bl.Build()
	if err != nil {
		t.Fatal(err)
	}
	v, _ := g.VertexByID(a)
	if _, ok := g.VertexByID(b); ok || g.NumEdges() != 0 || g.HiddenEdges() != 1 || g.Degree(v, graph.Out) != 0 || len(g.Edges()) != 0 {
		t.Fatal("edge to a missing vertex can be seen")
	}
	if _, ok := g.EdgeByID(graph.Long(0)); ok {
		t.Error("hidden edge is found by id")
	}
	with, err := g.Patch([]graph.Change{{Record: graph.Record{ID: b, Label: "B"}}})
	if err != nil {
		t.Fatal(err)
	}
	w, ok := with.VertexByID(b)
	if !ok || with.NumEdges() != 1 || !cmp.Equal(with.Neighbours(w, graph.In), []graph.Handle{v}) {
		t.Error("edge did not appear with its target")
	}
	without, err := with.Patch([]graph.Change{{Record: graph.Record{ID: b}, Remove: true}})
	if err != nil {
		t.Fatal(err)
	}
	if without.NumEdges() != 0 || without.HiddenEdges() != 1 {
		t.Error("edge did not hide with its target")
	}
}

func TestUnnamedElementsGetIDs(t *testing.T) {
	t.Parallel()
	b := graph.NewBuilder(graph.Limits{})
	for _, id := range []graph.Value{graph.Null, graph.Long(1), graph.Null, graph.Null} {
		if _, err := b.AddVertex(id, "A"); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []graph.Value{graph.Null, graph.String("named"), graph.Null} {
		if _, err := b.AddEdge(id, "x", graph.Long(0), graph.Long(1)); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, v := range g.Vertices() {
		seen[g.VertexID(v).String()] = true
	}
	for _, e := range g.Edges() {
		seen["edge "+g.EdgeID(e).String()] = true
	}
	if len(seen) != 7 {
		t.Errorf("ids are not distinct: %v", seen)
	}
}

func TestLargeNumbersOfAnyKindAreOneID(t *testing.T) {
	t.Parallel()
	b := graph.NewBuilder(graph.Limits{})
	if _, err := b.AddVertex(graph.Long(1<<62), "A"); err != nil {
		t.Fatal(err)
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []graph.Value{graph.Double(1 << 62), graph.BigInt(big.NewInt(1 << 62)), graph.BigDecimal(big.NewInt(1<<62), 0)} {
		if _, ok := g.VertexByID(id); !ok {
			t.Errorf("%s (%s) is not found", id, id.Kind())
		}
	}
	for _, id := range []graph.Value{graph.Double(1 << 63), graph.Double(-1 << 63), graph.Double(1 << 61)} {
		if _, ok := g.VertexByID(id); ok {
			t.Errorf("%s (%s) is found", id, id.Kind())
		}
	}
}

// TestHugeNumbersAndFractionsAreOneID looks up ids that are not whole numbers of 64 bits.
func TestHugeNumbersAndFractionsAreOneID(t *testing.T) {
	t.Parallel()
	power := func(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }
	ids := []graph.Value{
		graph.BigInt(power(21)), graph.Double(1e21), graph.Float(1e21), graph.BigDecimal(big.NewInt(1), -21), graph.BigDecimal(power(30), 9),
		graph.BigInt(new(big.Int).Neg(power(21))), graph.Double(-1e21), graph.Float(-1e21), graph.BigDecimal(big.NewInt(-1), -21),
		graph.Double(0.5), graph.Float(0.5), graph.BigDecimal(big.NewInt(5), 1), graph.BigDecimal(power(20_000).Mul(power(20_000), big.NewInt(5)), 20_001),
		graph.Double(0.1), graph.Float(0.1), graph.Double(float64(float32(0.1))), graph.BigDecimal(big.NewInt(1), 1),
		graph.Double(7.038531e-26), graph.Float(7.038531e-26), graph.BigDecimal(big.NewInt(7038531), 32), // rounding twice returns another float
		graph.BigInt(power(400)), graph.BigDecimal(big.NewInt(1), -400), // too large for a double
		graph.BigDecimal(big.NewInt(1), math.MaxInt32-1), graph.BigDecimal(big.NewInt(10), math.MaxInt32), // too small for a double
	}
	for i, stored := range ids {
		b := graph.NewBuilder(graph.Limits{})
		if _, err := b.AddVertex(stored, "A"); err != nil {
			t.Fatal(err)
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		for j, id := range ids {
			if _, ok := g.VertexByID(id); ok != graph.Eq(stored, id) {
				t.Errorf("ids[%d] (%s) is found as ids[%d] (%s): %v, want %v", i, stored.Kind(), j, id.Kind(), ok, !ok)
			}
		}
	}
}

// TestNumbersOfAnyKindAreOneID looks up ids of vertices and edges by equal numbers of other kinds.
func TestNumbersOfAnyKindAreOneID(t *testing.T) {
	t.Parallel()
	// build returns a graph with 12 vertices and 12 edges. A given id of the last edge makes the builder store the ids of all edges.
	build := func(lastEdgeID graph.Value) *graph.Graph {
		b := graph.NewBuilder(graph.Limits{})
		for range 12 {
			if _, err := b.AddVertex(graph.Null, "A"); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 12 {
			id := graph.Null
			if i == 11 {
				id = lastEdgeID
			}
			if _, err := b.AddEdge(id, "x", graph.Long(0), graph.Long(1)); err != nil {
				t.Fatal(err)
			}
		}
		g, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	huge := new(big.Int).Lsh(big.NewInt(1), 70)
	graphs := map[string]*graph.Graph{"generated ids": build(graph.Null), "stored ids": build(graph.String("named"))}
	for name, g := range graphs {
		for _, id := range []graph.Value{
			graph.Byte(10), graph.Int(10), graph.Long(10), graph.Float(10), graph.Double(10), graph.BigInt(big.NewInt(10)),
			graph.BigDecimal(big.NewInt(10), 0), graph.BigDecimal(big.NewInt(1000), 2), graph.BigDecimal(big.NewInt(1), -1),
		} {
			if e, ok := g.EdgeByID(id); !ok || e != 10 {
				t.Errorf("%s: edge %s (%s) is not found: %v, %v", name, id, id.Kind(), e, ok)
			}
			if v, ok := g.VertexByID(id); !ok || v != 10 {
				t.Errorf("%s: vertex %s (%s) is not found: %v, %v", name, id, id.Kind(), v, ok)
			}
		}
		for _, id := range []graph.Value{ // none is an id; -0.0 does not equal 0
			graph.Double(0.5), graph.Double(-1), graph.Double(math.Copysign(0, -1)), graph.Double(math.NaN()), graph.Double(math.Inf(1)),
			graph.Double(1e300), graph.Double(1 << 62), graph.Float(10.5), graph.Long(-1), graph.Long(1 << 32), graph.Double(1 << 32),
			graph.BigInt(huge), graph.BigInt(new(big.Int).Neg(huge)), graph.BigDecimal(big.NewInt(5), 1), graph.BigDecimal(big.NewInt(1), math.MinInt32),
			graph.BigDecimal(big.NewInt(1), math.MaxInt32), graph.Null, graph.String("10"), graph.Bool(true),
		} {
			if e, ok := g.EdgeByID(id); ok {
				t.Errorf("%s: edge %s (%s) is %d", name, id, id.Kind(), e)
			}
			if v, ok := g.VertexByID(id); ok {
				t.Errorf("%s: vertex %s (%s) is %d", name, id, id.Kind(), v)
			}
		}
	}
}

func TestPropertiesInAnyOrder(t *testing.T) {
	t.Parallel()
	b := graph.NewBuilder(graph.Limits{})
	var vs []graph.Handle
	for range 5 {
		v, err := b.AddVertex(graph.Null, "A")
		if err != nil {
			t.Fatal(err)
		}
		vs = append(vs, v)
	}
	for i := range vs { // in descending row order, each set twice
		v := vs[len(vs)-1-i]
		for _, x := range []int32{100, int32(v)} {
			if err := b.SetProperty(v, "p", graph.Int(x)); err != nil {
				t.Fatal(err)
			}
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if got := g.VertexColumn(0, 0).Ints(); !cmp.Equal(got, []int32{0, 1, 2, 3, 4}) {
		t.Errorf("column is %v", got)
	}
}

func TestSparseColumnIsSmall(t *testing.T) {
	t.Parallel()
	b := graph.NewBuilder(graph.Limits{})
	for i := range 10_000 {
		v, err := b.AddVertex(graph.Null, "A")
		if err != nil {
			t.Fatal(err)
		}
		if err := b.SetProperty(v, fmt.Sprintf("tag%d", i%1000), graph.Bool(true)); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	if bytesPerVertex := g.Bytes() / 10_000; bytesPerVertex > 120 {
		t.Errorf("%d bytes per vertex", bytesPerVertex)
	}
}

func TestConcurrentReadersAndPatches(t *testing.T) {
	t.Parallel()
	g := account(t, 400)
	k, _ := g.KeyByName("name")
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			h := g
			for j := range 10 {
				rec := h.Record(graph.Handle((i*31 + j) % 400))
				rec.Properties[0].Value = graph.String(fmt.Sprintf("renamed %d %d", i, j))
				rec.Out = append(rec.Out, graph.EdgeRecord{Label: "new", To: graph.String(fmt.Sprintf("to %d", j))})
				next, err := h.Patch([]graph.Change{{Record: rec}, {Record: graph.Record{ID: graph.String(fmt.Sprintf("to %d", j)), Label: "New"}}})
				if err != nil {
					t.Errorf("patch: %v", err)
					return
				}
				h = next
				for l := range h.VertexLabels() {
					h.VerticesWith(nil, graph.Label(l), k, rec.Properties[0].Value)
					h.VertexIndex(graph.Label(l), k)
				}
				walk(h)
			}
			if h.NumVertices() != 410 {
				t.Errorf("%d vertices, want 410", h.NumVertices())
			}
		})
	}
	wg.Wait()
	if g.NumVertices() != 400 {
		t.Errorf("the first graph has %d vertices now", g.NumVertices())
	}
}
