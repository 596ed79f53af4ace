package graph_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vigil/graph"
)

// dump describes everything in a graph in terms of ids, so that graphs with
// different handles can be compared. It omits generated ids.
func dump(t require, g *graph.Graph) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	add("%d vertices, %d edges, %d hidden", g.NumVertices(), g.NumEdges(), g.HiddenEdges())
	byLabel := map[string]int{}
	for _, v := range g.Vertices() {
		id := g.VertexID(v)
		if w, ok := g.VertexByID(id); !ok || w != v {
			t.Fatalf("vertex %v is not found by its id", id)
		}
		label := g.VertexLabels()[g.VertexLabel(v)]
		byLabel[label]++
		l, row := g.VertexRow(v)
		if g.VertexRows(l)[row] != v {
			t.Fatalf("vertex %v is not in its row", id)
		}
		add("%v: label %s", id, label)
		for _, k := range g.VertexKeysOf(l) {
			dumpCell(t, g, v, k, add)
		}
		for _, d := range []graph.Direction{graph.Out, graph.In} {
			dumpEdges(t, g, v, d, add)
		}
	}
	for l, name := range g.VertexLabels() {
		if got := len(g.VerticesOf(graph.Label(l))); got != byLabel[name] {
			t.Fatalf("%d vertices of label %s, want %d", got, name, byLabel[name])
		}
	}
	checkFilled(t, g)
	dumpEdgeLists(t, g, add)
	slices.Sort(lines)
	return lines
}

// require is what the helpers need of *testing.T, testing.TB and *rapid.T.
type require interface {
	Fatalf(format string, args ...any)
}

func checkFilled(t require, g *graph.Graph) {
	for l := range g.VertexLabels() {
		for _, k := range g.VertexKeysOf(graph.Label(l)) {
			n := 0
			for _, v := range g.VerticesOf(graph.Label(l)) {
				if _, ok := g.VertexValue(v, k); ok {
					n++
				}
			}
			if c := g.VertexColumn(graph.Label(l), k); c.Filled() != n {
				t.Fatalf("column of %s reports %d values, want %d", g.Keys()[k], c.Filled(), n)
			}
		}
	}
}

func dumpCell(t require, g *graph.Graph, v graph.Handle, k graph.Key, add func(string, ...any)) {
	id, key := g.VertexID(v), g.Keys()[k]
	if reason, ok := g.VertexUnknown(v, k); ok {
		if _, has := g.VertexValue(v, k); has || !g.HasUnknown(k) {
			t.Fatalf("%v.%s is unknown and has a value, or HasUnknown is false", id, key)
		}
		add("%v.%s unknown: %s", id, key, reason)
	}
	l, _ := g.VertexRow(v)
	for i := range g.VertexPropertyCount(v, k) {
		w := g.VertexPropertyValue(v, k, i)
		var meta []string
		for _, m := range g.MetaProperties(v, k, i) {
			meta = append(meta, fmt.Sprintf("%s=%v", g.Keys()[m.Key], m.Value))
		}
		add("%v.%s[%d] = %v %v %v", id, key, i, w.Kind(), w, meta)
		if !slices.Contains(g.VertexIndex(l, k).Equal(w), v) || !slices.Contains(g.VerticesWith(nil, l, k, w), v) {
			t.Fatalf("%v is not found by %s = %v", id, key, w)
		}
	}
	for i := range g.VertexIndex(l, k).Distinct() {
		w, vs := g.VertexIndex(l, k).At(i)
		for _, u := range vs {
			if !g.HasVertex(u) {
				t.Fatalf("index of %s = %v lists a missing vertex", key, w)
			}
		}
	}
}

func dumpEdges(t require, g *graph.Graph, v graph.Handle, d graph.Direction, add func(string, ...any)) {
	edges, to := g.Incident(v, d)
	if len(edges) != g.Degree(v, d) || !slices.Equal(to, g.Neighbours(v, d)) {
		t.Fatalf("degree or neighbours of %v disagree", g.VertexID(v))
	}
	hop := g.HopAll(d)
	hop.To(v / 2) // caches the block of that vertex's label; Edges(v) must not use it for another label
	if he, ht := hop.Edges(v); !slices.Equal(he, edges) || !slices.Equal(ht, to) || hop.Degree(v) != len(to) {
		t.Fatalf("a hop from %v disagrees", g.VertexID(v))
	}
	var all []graph.Handle
	for l := range g.EdgeLabels() {
		es, vs := g.IncidentBy(v, d, graph.Label(l))
		if len(es) != g.DegreeBy(v, d, graph.Label(l)) || !slices.Equal(vs, g.NeighboursBy(v, d, graph.Label(l))) {
			t.Fatalf("degree or neighbours of %v by label disagree", g.VertexID(v))
		}
		all = append(all, es...)
		for _, e := range es {
			if g.EdgeLabel(e) != graph.Label(l) {
				t.Fatalf("edge of %v has another label", g.VertexID(v))
			}
		}
		if g.NumVertices() > 100 && v%16 != 0 {
			continue // too slow
		}
		hop := g.HopBy(d, graph.Label(l))
		hop.To(v / 2)
		if he, ht := hop.Edges(v); !slices.Equal(he, es) || !slices.Equal(ht, vs) || !slices.Equal(ht, hop.To(v)) || hop.Degree(v) != len(vs) {
			t.Fatalf("a hop from %v by label disagrees", g.VertexID(v))
		}
	}
	if !slices.Equal(all, edges) {
		t.Fatalf("edges of %v by label are not its edges", g.VertexID(v))
	}
	for i, e := range edges {
		from, other := g.Source(e), g.Target(e)
		if d == graph.In {
			from, other = other, from
		}
		if from != v || other != to[i] || !g.HasEdge(e) {
			t.Fatalf("edge of %v has other ends", g.VertexID(v))
		}
		add("%v %d %s %v %s", g.VertexID(v), d, g.EdgeLabels()[g.EdgeLabel(e)], g.VertexID(to[i]), edgeProperties(g, e))
	}
}

func edgeProperties(g *graph.Graph, e graph.Handle) string {
	var ps []string
	for _, k := range g.EdgeKeysOf(g.EdgeLabel(e)) {
		if v, ok := g.EdgeValue(e, k); ok {
			ps = append(ps, fmt.Sprintf("%s=%v %v", g.Keys()[k], v.Kind(), v))
		}
	}
	slices.Sort(ps)
	return strings.Join(ps, ",")
}

func dumpEdgeLists(t require, g *graph.Graph, add func(string, ...any)) {
	if len(g.Edges()) != g.NumEdges() {
		t.Fatalf("%d edges listed, want %d", len(g.Edges()), g.NumEdges())
	}
	n := 0
	for l := range g.EdgeLabels() {
		for _, e := range g.EdgesOf(graph.Label(l)) {
			if !g.HasEdge(e) || g.EdgeLabel(e) != graph.Label(l) {
				t.Fatalf("list of edges by label holds another edge")
			}
			n++
		}
	}
	degrees := [2]int{}
	for _, v := range g.Vertices() {
		degrees[0] += g.Degree(v, graph.Out)
		degrees[1] += g.Degree(v, graph.In)
	}
	if degrees != [2]int{g.NumEdges(), g.NumEdges()} {
		t.Fatalf("degrees sum up to %v, want %d", degrees, g.NumEdges())
	}
	if n != g.NumEdges() {
		t.Fatalf("%d edges listed by label, want %d", n, g.NumEdges())
	}
	for _, e := range g.Edges() {
		if f, ok := g.EdgeByID(g.EdgeID(e)); !ok || e != f {
			t.Fatalf("edge %v is not found by its id", g.EdgeID(e))
		}
	}
}

var scalars = []graph.Value{
	graph.Int(1), graph.Int(2), graph.Long(1), graph.Double(1.5), graph.Float(2.5), graph.Bool(true), graph.Bool(false),
	graph.Long(1 << 53), graph.Double(1 << 53), graph.Long(1<<53 + 1), // a double rounds the last one to the others
	graph.String(""), graph.String("red"), graph.String("green"), graph.String("a longer text"), graph.Null,
	graph.List(graph.Int(1), graph.String("x")), graph.Map(graph.Entry{Key: graph.String("k"), Value: graph.Int(7)}),
}

// values draws a value, mostly an int or a string, so that many columns have values of one kind.
func values() *rapid.Generator[graph.Value] {
	return rapid.OneOf(
		rapid.Map(rapid.Int32Range(0, 5), graph.Int),
		rapid.Map(rapid.SampledFrom([]string{"red", "green", "blue"}), graph.String),
		rapid.Map(rapid.StringN(0, 3, 8), graph.String),
		rapid.SampledFrom(scalars),
	)
}

func ids() *rapid.Generator[graph.Value] {
	return rapid.Map(rapid.IntRange(0, 11), func(i int) graph.Value { return graph.String(fmt.Sprintf("v%d", i)) })
}

func properties() *rapid.Generator[graph.PropertyRecord] {
	return rapid.Custom(func(t *rapid.T) graph.PropertyRecord {
		p := graph.PropertyRecord{Key: rapid.SampledFrom([]string{"p", "q", "r"}).Draw(t, "key")}
		switch rapid.IntRange(0, 9).Draw(t, "form") {
		case 0:
			p.Unknown, p.Reason = true, rapid.SampledFrom([]string{"denied", "timeout"}).Draw(t, "reason")
		case 1:
			p.Value = values().Draw(t, "value")
			p.Meta = []graph.Meta{{Key: "since", Value: values().Draw(t, "meta")}}
		default:
			p.Value = values().Draw(t, "value")
		}
		return p
	})
}

func edges() *rapid.Generator[graph.EdgeRecord] {
	return rapid.Custom(func(t *rapid.T) graph.EdgeRecord {
		e := graph.EdgeRecord{Label: rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "label"), To: ids().Draw(t, "to")}
		if rapid.IntRange(0, 3).Draw(t, "weighted") == 0 {
			e.Properties = []graph.Meta{{Key: "w", Value: values().Draw(t, "weight")}}
		}
		return e
	})
}

func changes() *rapid.Generator[graph.Change] {
	return rapid.Custom(func(t *rapid.T) graph.Change {
		c := graph.Change{Record: graph.Record{ID: ids().Draw(t, "id")}}
		c.Remove = rapid.IntRange(0, 3).Draw(t, "remove") == 0
		if c.Remove {
			return c
		}
		c.Label = rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "label")
		c.Properties = rapid.SliceOfN(properties(), 0, 4).Draw(t, "properties")
		c.Out = rapid.SliceOfN(edges(), 0, 4).Draw(t, "edges")
		return c
	})
}

func buildGraph(t require, model map[string]graph.Record) *graph.Graph {
	b := graph.NewBuilder(graph.Limits{})
	for _, id := range slices.SortedFunc(maps.Keys(model), cmp.Compare[string]) {
		if err := b.Add(model[id]); err != nil {
			t.Fatalf("add %s: %v", id, err)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatalf("build: %v", err)
	}
	return g
}

// TestManyEdgeLabels uses so many edge labels that blocks are sparse: see block.
func TestManyEdgeLabels(t *testing.T) {
	t.Parallel()
	model := map[string]graph.Record{}
	name := func(i int) graph.Value { return graph.String(fmt.Sprintf("v%d", i)) }
	record := func(i, labels int) graph.Record {
		r := graph.Record{ID: name(i), Label: "A"}
		for j := range i % 5 {
			r.Out = append(r.Out, graph.EdgeRecord{Label: fmt.Sprintf("e%d", (i*7+j)%labels), To: name((i * 31) % 2000)})
		}
		return r
	}
	for i := range 1000 {
		model[name(i).Str()] = record(i, 100)
	}
	g := buildGraph(t, model)
	if size := g.Bytes(); size > 1_000_000 {
		t.Errorf("graph takes %d bytes", size)
	}
	for _, labels := range []int{100, 120, 3, 40} { // with few labels, the block is dense again
		var batch []graph.Change
		for i := range 1500 {
			model[name(i).Str()] = record(i, labels)
			batch = append(batch, graph.Change{Record: record(i, labels)})
		}
		var err error
		if g, err = g.Patch(batch); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(dump(t, buildGraph(t, model)), dump(t, g)); diff != "" {
			t.Fatalf("patched graph differs with %d labels (-rebuilt +patched):\n%s", labels, diff)
		}
	}
}

func TestPatchedGraphEqualsRebuiltOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		model := map[string]graph.Record{}
		for _, c := range rapid.SliceOfN(changes(), 0, 8).Draw(t, "start") {
			if !c.Remove {
				model[c.ID.Str()] = c.Record
			}
		}
		g := buildGraph(t, model)
		for range rapid.IntRange(1, 6).Draw(t, "patches") {
			before, beforeDump := g, dump(t, g)
			batch := rapid.SliceOfN(changes(), 1, 5).Draw(t, "patch")
			var err error
			if g, err = g.Patch(batch); err != nil {
				t.Fatalf("patch: %v", err)
			}
			for _, c := range batch {
				delete(model, c.ID.Str())
				if !c.Remove {
					model[c.ID.Str()] = c.Record
				}
			}
			want := dump(t, buildGraph(t, model))
			if diff := gocmp.Diff(want, dump(t, g)); diff != "" {
				t.Fatalf("patched graph differs (-rebuilt +patched):\n%s", diff)
			}
			if diff := gocmp.Diff(beforeDump, dump(t, before)); diff != "" {
				t.Fatalf("Patch changed the original graph:\n%s", diff)
			}
			if rapid.IntRange(0, 4).Draw(t, "compact") == 0 {
				if g, err = g.Compact(); err != nil {
					t.Fatalf("compact: %v", err)
				}
				if diff := gocmp.Diff(want, dump(t, g)); diff != "" {
					t.Fatalf("compacted graph differs (-rebuilt +compacted):\n%s", diff)
				}
			}
		}
	})
}

func TestPatchCompacts(t *testing.T) {
	t.Parallel()
	model := map[string]graph.Record{}
	name := func(i int) string { return fmt.Sprintf("v%d", i) }
	for i := range 8000 {
		r := graph.Record{ID: graph.String(name(i)), Label: "A", Out: []graph.EdgeRecord{{Label: "x", To: graph.String(name(i / 2))}}}
		r.Properties = []graph.PropertyRecord{{Key: "p", VertexProperty: graph.VertexProperty{Value: graph.String(name(i) + " has a text of its own")}}}
		model[name(i)] = r
	}
	g := buildGraph(t, model)
	var batch []graph.Change
	for i := range 7000 {
		delete(model, name(i))
		batch = append(batch, graph.Change{Record: graph.Record{ID: graph.String(name(i))}, Remove: true})
	}
	small, err := g.Patch(batch)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(dump(t, buildGraph(t, model)), dump(t, small)); diff != "" {
		t.Errorf("patched graph differs (-rebuilt +patched):\n%s", diff)
	}
	if small.Bytes() > g.Bytes()/3 {
		t.Errorf("%d of %d bytes remain after seven eighths of the graph were removed", small.Bytes(), g.Bytes())
	}
}

// TestPatchDropsUnusedValues changes one date again and again. Dates are in a dictionary of their column.
func TestPatchDropsUnusedValues(t *testing.T) {
	t.Parallel()
	record := func(id string, n int) graph.Record {
		date := graph.VertexProperty{Value: graph.DateTime(time.Unix(int64(n), 0))}
		return graph.Record{ID: graph.String(id), Label: "A", Properties: []graph.PropertyRecord{{Key: "seen", VertexProperty: date}}}
	}
	g := buildGraph(t, map[string]graph.Record{"changed": record("changed", 0), "kept": record("kept", -1)})
	before := g.Bytes()
	for n := range 1000 {
		var err error
		if g, err = g.Patch([]graph.Change{{Record: record("changed", n+1)}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := g.Bytes(); got > before+before/4 {
		t.Errorf("the graph grew from %d to %d bytes", before, got)
	}
	want := buildGraph(t, map[string]graph.Record{"changed": record("changed", 1000), "kept": record("kept", -1)})
	if diff := gocmp.Diff(dump(t, want), dump(t, g)); diff != "" {
		t.Errorf("patched graph differs (-rebuilt +patched):\n%s", diff)
	}
}

func TestPatchWithNamedEdges(t *testing.T) {
	t.Parallel()
	a, b := graph.String("a"), graph.String("b")
	aWithEdge := func(id, weight graph.Value) graph.Record {
		return graph.Record{ID: a, Label: "A", Out: []graph.EdgeRecord{{ID: id, Label: "x", To: b, Properties: []graph.Meta{{Key: "w", Value: weight}}}}}
	}
	g := buildGraph(t, map[string]graph.Record{"a": aWithEdge(graph.Null, graph.Int(1)), "b": {ID: b, Label: "B"}})
	for i, id := range []graph.Value{graph.String("first"), graph.String("first"), graph.Null, graph.Long(7)} {
		var err error
		if g, err = g.Patch([]graph.Change{{Record: aWithEdge(id, graph.Int(int32(i)))}}); err != nil {
			t.Fatal(err)
		}
		dump(t, g) // checks that the indexes agree with the graph
		if e, ok := g.EdgeByID(id); !id.IsNull() && (!ok || g.EdgeLabels()[g.EdgeLabel(e)] != "x") {
			t.Errorf("edge %v is not found", id)
		}
		if g.NumEdges() != 1 {
			t.Errorf("%d edges, want 1", g.NumEdges())
		}
	}
	duplicate := graph.Change{Record: graph.Record{ID: b, Label: "B", Out: []graph.EdgeRecord{{ID: graph.Long(7), Label: "x", To: a}}}}
	if _, err := g.Patch([]graph.Change{duplicate}); !errors.Is(err, graph.ErrDuplicate) {
		t.Errorf("second edge 7: %v", err)
	}
	if _, err := g.Patch([]graph.Change{{}}); err == nil {
		t.Error("a change without an id was accepted")
	}
}

// TestPatchRefusesDuplicatesOfRemovedEdge replaces an edge by two new ones with its id. When the
// second is added, the index of ids contains the removed edge and the first new one, in an order
// that depends on the id.
func TestPatchRefusesDuplicatesOfRemovedEdge(t *testing.T) {
	t.Parallel()
	a, b := graph.String("a"), graph.String("b")
	for i := range 50 {
		for _, id := range []graph.Value{graph.String(fmt.Sprint("e", i)), graph.Long(int64(i))} {
			edge := func(weight int32) graph.EdgeRecord {
				return graph.EdgeRecord{ID: id, Label: "x", To: b, Properties: []graph.Meta{{Key: "w", Value: graph.Int(weight)}}}
			}
			g := buildGraph(t, map[string]graph.Record{"a": {ID: a, Label: "A", Out: []graph.EdgeRecord{edge(0)}}, "b": {ID: b, Label: "B"}})
			two := graph.Record{ID: a, Label: "A", Out: []graph.EdgeRecord{edge(1), edge(2)}}
			if _, err := g.Patch([]graph.Change{{Record: two}}); !errors.Is(err, graph.ErrDuplicate) {
				t.Errorf("two edges %v: %v", id, err)
			}
		}
	}
}
