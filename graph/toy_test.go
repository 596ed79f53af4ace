package graph_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"vigil/graph"
)

// sharedFile returns the path of a file of the shared test data. It skips the
// test when there is none.
func sharedFile(tb testing.TB, name string) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	path := filepath.Join(dir, "..", "shared", name)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("no shared test data: %v", err)
	}
	return path
}

type jsonValue struct {
	T string          `json:"t"`
	V json.RawMessage `json:"v"`
}

func (j jsonValue) value(tb testing.TB) graph.Value {
	tb.Helper()
	var i int64
	var f float64
	var s string
	for _, dst := range []any{&i, &f, &s} {
		if json.Unmarshal(j.V, dst) == nil {
			break
		}
	}
	switch j.T {
	case "Int32":
		return graph.Int(int32(i))
	case "Int64":
		return graph.Long(i)
	case "Double":
		return graph.Double(f)
	case "String":
		return graph.String(s)
	}
	tb.Fatalf("cannot read value of type %s", j.T)
	return graph.Null
}

type jsonGraph struct {
	Vertices []struct {
		ID         jsonValue
		Label      string
		Properties map[string][]struct {
			ID         jsonValue
			Value      jsonValue
			Properties map[string]jsonValue
		}
	}
	Edges []struct {
		ID         jsonValue
		Label      string
		OutV, InV  jsonValue
		Properties map[string]jsonValue
	}
}

// toy loads one of the toy graphs of TinkerPop.
func toy(tb testing.TB, name string) *graph.Graph {
	tb.Helper()
	data, err := os.ReadFile(sharedFile(tb, filepath.Join("gremlin", "graphs", name+".json")))
	if err != nil {
		tb.Fatal(err)
	}
	var j jsonGraph
	if err := json.Unmarshal(data, &j); err != nil {
		tb.Fatal(err)
	}
	b := graph.NewBuilder(graph.Limits{})
	must := func(h graph.Handle, err error) graph.Handle {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return h
	}
	for _, v := range j.Vertices {
		h := must(b.AddVertex(v.ID.value(tb), v.Label))
		for k, ps := range v.Properties {
			for _, p := range ps {
				vp := graph.VertexProperty{ID: p.ID.value(tb), Value: p.Value.value(tb)}
				for mk, m := range p.Properties {
					vp.Meta = append(vp.Meta, graph.Meta{Key: mk, Value: m.value(tb)})
				}
				must(h, b.AddProperty(h, k, vp))
			}
		}
	}
	for _, e := range j.Edges {
		h := must(b.AddEdge(e.ID.value(tb), e.Label, e.OutV.value(tb), e.InV.value(tb)))
		for k, p := range e.Properties {
			must(h, b.SetEdgeProperty(h, k, p.value(tb)))
		}
	}
	g, err := b.Build()
	if err != nil {
		tb.Fatal(err)
	}
	return g
}

func TestModernGraph(t *testing.T) {
	t.Parallel()
	g := toy(t, "modern")
	if g.NumVertices() != 6 || g.NumEdges() != 6 {
		t.Fatalf("got %d vertices and %d edges, want 6 and 6", g.NumVertices(), g.NumEdges())
	}
	marko, ok := g.VertexByID(graph.Long(1))
	if !ok {
		t.Fatal("vertex 1 not found by long 1")
	}
	name, _ := g.KeyByName("name")
	age, _ := g.KeyByName("age")
	if v, ok := g.VertexValue(marko, name); !ok || v.Str() != "marko" {
		t.Errorf("name of 1 is %v, %t", v, ok)
	}
	if v, ok := g.VertexValue(marko, age); !ok || !v.Equal(graph.Int(29)) {
		t.Errorf("age of 1 is %v, %t", v, ok)
	}
	knows, _ := g.EdgeLabelByName("knows")
	created, _ := g.EdgeLabelByName("created")
	if n := g.Degree(marko, graph.Out); n != 3 {
		t.Errorf("marko has %d edges out, want 3", n)
	}
	if n := g.DegreeBy(marko, graph.Out, knows); n != 2 {
		t.Errorf("marko knows %d, want 2", n)
	}
	lop, _ := g.VertexByID(graph.Int(3))
	edges, from := g.IncidentBy(lop, graph.In, created)
	if len(edges) != 3 || len(from) != 3 {
		t.Fatalf("lop has %d creators, want 3", len(edges))
	}
	for i, e := range edges {
		if g.Target(e) != lop || g.Source(e) != from[i] {
			t.Errorf("edge %v does not join %v to lop", g.EdgeID(e), g.VertexID(from[i]))
		}
	}
	person, _ := g.VertexLabelByName("person")
	if vs := g.VerticesOf(person); len(vs) != 4 {
		t.Errorf("%d persons, want 4", len(vs))
	}
	if vs := g.VerticesWith(nil, person, name, graph.String("josh")); len(vs) != 1 || !g.VertexID(vs[0]).Equal(graph.Int(4)) {
		t.Errorf("josh is %v", vs)
	}
	older, ok := g.VertexIndex(person, age).Range(graph.Bound{Value: graph.Double(29), Set: true}, graph.Bound{})
	if !ok || len(older) != 2 {
		t.Errorf("older than 29: %v, %t", older, ok)
	}
}

func TestGratefulGraphPaths(t *testing.T) {
	t.Parallel()
	g := toy(t, "grateful")
	count := make([]uint64, g.VertexCap())
	for _, v := range g.Vertices() {
		count[v] = 1
	}
	for range 10 {
		next := make([]uint64, len(count))
		for v, n := range count {
			for _, w := range g.Neighbours(graph.Handle(v), graph.Out) {
				next[w] += n
			}
		}
		count = next
	}
	var total uint64
	for _, n := range count {
		total += n
	}
	if want := uint64(4_947_356_572_210_703_772); total != want {
		t.Errorf("repeat(out()).times(10).count() = %d, want %d", total, want)
	}
}

func TestCrewHasMultiAndMetaProperties(t *testing.T) {
	t.Parallel()
	g := toy(t, "crew")
	marko, _ := g.VertexByID(graph.Int(1))
	location, _ := g.KeyByName("location")
	if n := g.VertexPropertyCount(marko, location); n != 4 {
		t.Fatalf("marko has %d locations, want 4", n)
	}
	if id := g.VertexPropertyID(marko, location, 2); !id.Equal(graph.Long(8)) {
		t.Errorf("third location has id %v, want 8", id)
	}
	if v := g.VertexPropertyValue(marko, location, 3); v.Str() != "santa fe" {
		t.Errorf("fourth location is %v", v)
	}
	if m := g.MetaProperties(marko, location, 3); len(m) != 1 || !m[0].Value.Equal(graph.Int(2005)) {
		t.Errorf("meta-properties of the fourth location: %v", m)
	}
	person, _ := g.VertexLabelByName("person")
	if vs := g.VertexIndex(person, location).Equal(graph.String("brussels")); len(vs) != 1 || vs[0] != marko {
		t.Errorf("in brussels: %v", vs)
	}
}
