package suite

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/graph"
	"vigil/gremlin/internal/tinkerpop"
	"vigil/gremlin/internal/tinkerpop/tinkerpoptest"
	"vigil/gremlin/internal/value"
)

// marko is a small graph that cells refer to.
const marko = `g.addV("person").property("name", "marko").property("age", 29).as("a").
  addV("software").property("name", "lop").property(list, "tag", "x", "since", 1).property(list, "tag", "y").as("b").
  addE("created").from("a").to("b").property("weight", 0.4d)`

func markoParser(t *testing.T) cellParser {
	t.Helper()
	g, err := BuildGraph(marko)
	if err != nil {
		t.Fatal(err)
	}
	return cellParser{g}
}

func TestCellRoundTrip(t *testing.T) {
	t.Parallel()
	parser := markoParser(t)
	describedOtherwise := map[string]string{ // cells that describe prints in another notation
		`l[a,l[d[1].i,b],m[{"x":"y"}]]`: "l[a,l[d[1].i,b],m[{x:y}]]", "null": "null[null]", "true": "boolean[true]",
	}
	for _, text := range []string{
		"plain", "{name=[marko]}", "x[1]", "d[1].b", "d[-2].s", "d[3].i", "d[4].l", "d[5].n", "d[1.5].f", "d[0.4].d", "d[1.50].m", "d[NaN].d", "d[Infinity].d",
		"v[marko]", "e[marko-created->lop]", "l[]", "s[]", `l[a,l[d[1].i,b],m[{"x":"y"}]]`, "s[a,b]", "p[v[marko],e[marko-created->lop],v[lop]]",
		"t[id]", "m[{}]", "prop[age,d[29].i]", "prop[tag,y]", "prop[since,d[1].i]", "null", "true",
	} {
		v, err := parser.cell(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		want, ok := describedOtherwise[text]
		if !ok {
			want = text
		}
		if got := parser.describe(v); got != want {
			t.Errorf("%s is parsed as %s", text, got)
		}
		if strings.HasPrefix(text, "prop[") { // equals only properties of elements, not itself
			continue
		}
		if !parser.equalValue(v, v) {
			t.Errorf("%s does not equal itself", text)
		}
	}
}

func TestParseCell(t *testing.T) {
	t.Parallel()
	parser := markoParser(t)
	// Vertices, properties and edges have ids of one sequence: marko and its properties 0 to 2, lop
	// and its properties 3 to 6, the edge 7.
	for text, want := range map[string]string{
		"v[marko].id": "d[0].l", "v[marko].sid": "0", "e[marko-created->lop].id": "d[7].l", "e[marko-created->lop].sid": "7",
		"vp[marko-age->d[29].i]": "prop[age,d[29].i]", "str[v[1]]": "v[1]", "dt[2023-08-08T00:00:00Z]": "datetime[2023-08-08T00:00Z]",
		`m[{"d[1].i": {"a": [1, 2.5, null, true]}, "t[id]": "v[lop]"}]`: "m[{d[1].i:m[{a:l[d[1].i,d[2.5].d,null[null],boolean[true]]}],t[id]:v[lop]}]",
	} {
		v, err := parser.cell(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := parser.describe(v); got != want {
			t.Errorf("%s is parsed as %s, not %s", text, got, want)
		}
	}
	for _, text := range []string{"v[nobody]", "e[marko-knows->lop]", "e[x]", "d[x].i", "d[300].b", "d[1].q", "dt[x]", "uuid[x]", "vp[marko-age->d[1].i]", "m[{]"} {
		if v, err := parser.cell(text); err == nil {
			t.Errorf("%s is parsed as %s", text, parser.describe(v))
		}
	}
}

func TestTypesMatter(t *testing.T) {
	t.Parallel()
	parser := markoParser(t)
	prop := func(key string) graph.Value { // of marko, the vertex with handle 0
		k, _ := parser.g.KeyByName(key)
		return graph.VertexPropertyOf(0, k, 0)
	}
	bulk := &value.BulkSet{}
	bulk.Add(graph.Int(1), 2)
	for _, c := range []struct {
		cell  string
		got   graph.Value
		equal bool
	}{
		{"d[1].i", graph.Int(1), true},
		{"d[1].i", graph.Long(1), false},
		{"d[1].d", graph.Double(1 + 5e-16), true},
		{"d[1].d", graph.Double(1 + 5e-15), false},
		{"d[1].f", graph.Double(1), false},
		{"d[NaN]", graph.Double(math.NaN()), true},
		{"1", graph.Int(1), false},
		{"null", graph.Null, true},
		{"null", graph.String("null"), false},
		{"l[d[1].i,d[2].i]", graph.List(graph.Int(1), graph.Int(2)), true},
		{"l[d[1].i,d[2].i]", graph.List(graph.Int(2), graph.Int(1)), false},
		{"s[d[1].i,d[2].i]", graph.Set(graph.Int(2), graph.Int(1)), true},
		{"s[d[1].i]", graph.List(graph.Int(1)), false},
		{"l[d[1].i]", graph.Set(graph.Int(1)), false},
		{"s[d[1].i]", graph.Opaque(bulk), false},
		{`m[{"a":"d[1].i"}]`, graph.EntryOf(graph.Entry{Key: graph.String("a"), Value: graph.Int(1)}), true},
		{`m[{"a":"d[1].i"}]`, graph.Map(graph.Entry{Key: graph.String("a"), Value: graph.Long(1)}), false},
		{`m[{"a":"d[1].i"}]`, graph.Map(), false},
		{"p[d[1].i]", graph.Opaque(&value.Path{Objects: []graph.Value{graph.Int(1)}, Labels: [][]string{{"x"}}}), true},
		{"p[d[1].i]", graph.List(graph.Int(1)), false},
		{"t[id]", graph.Opaque(value.TokenID), true},
		{"id", graph.Opaque(value.TokenID), false},
		{"v[lop]", graph.VertexOf(1), true},
		{"v[lop]", graph.VertexOf(0), false},
		{"v[lop]", graph.EdgeOf(1), false},
		{"prop[age,d[29].i]", prop("age"), true},
		{"prop[age,d[28].i]", prop("age"), false},
		{"prop[name,d[29].i]", prop("age"), false},
		{"vp[marko-age->d[29].i]", prop("age"), true},
	} {
		want, err := parser.cell(c.cell)
		if err != nil {
			t.Fatal(err)
		}
		if got := parser.equalValue(want, c.got); got != c.equal {
			t.Errorf("equalValue(%s, %s) = %v", c.cell, parser.describe(c.got), got)
		}
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	fail := errors.New("line 1, column 2: It Breaks")
	one, two := graph.Int(1), graph.Int(2)
	tree := &value.Tree{}
	sub, _ := tree.Put(graph.String("a"))
	sub.Put(graph.String("b"))
	sg := &value.Subgraph{}
	sg.AddVertex(0)
	for _, c := range []struct {
		name   string
		expect tinkerpop.Expectation
		got    []graph.Value
		err    error
		passes bool
	}{
		{"unordered", tinkerpop.Expectation{Kind: "unordered", Values: []string{"d[2].i", "d[1].i"}}, []graph.Value{one, two}, nil, true},
		{"unordered with a surplus value", tinkerpop.Expectation{Kind: "unordered", Values: []string{"d[2].i", "d[1].i"}}, []graph.Value{one, two, two}, nil, false},
		{"ordered", tinkerpop.Expectation{Kind: "ordered", Values: []string{"d[2].i", "d[1].i"}}, []graph.Value{one, two}, nil, false},
		{"some of the values", tinkerpop.Expectation{Kind: "of", Values: []string{"d[2].i", "d[1].i"}}, []graph.Value{one, one}, nil, true},
		{"not one of the values", tinkerpop.Expectation{Kind: "of", Values: []string{"d[2].i"}}, []graph.Value{one}, nil, false},
		{"one of the values, with a wrong count", tinkerpop.Expectation{Kind: "of", Values: []string{"d[1].i"}, Also: []tinkerpop.Expectation{{Kind: "count", Count: 2}}}, []graph.Value{one}, nil, false},
		{"count", tinkerpop.Expectation{Kind: "count", Count: 1}, []graph.Value{one}, nil, true},
		{"empty", tinkerpop.Expectation{Kind: "empty"}, nil, nil, true},
		{"not empty", tinkerpop.Expectation{Kind: "empty"}, []graph.Value{one}, nil, false},
		{"empty by error", tinkerpop.Expectation{Kind: "empty"}, nil, fail, false},
		{"error", tinkerpop.Expectation{Kind: "error", Match: "containing", Message: "it breaks"}, nil, fail, true},
		{"any error", tinkerpop.Expectation{Kind: "error"}, nil, fail, true},
		{"other error", tinkerpop.Expectation{Kind: "error", Match: "containing", Message: "other"}, nil, fail, false},
		{"starting", tinkerpop.Expectation{Kind: "error", Match: "starting", Message: "it breaks"}, nil, fail, false},
		{"ending", tinkerpop.Expectation{Kind: "error", Match: "ending", Message: "it breaks"}, nil, fail, true},
		{"no error", tinkerpop.Expectation{Kind: "error"}, []graph.Value{one}, nil, false},
		{"tree", tinkerpop.Expectation{Kind: "tree", Values: []string{"|--a", "   |--b"}}, []graph.Value{graph.Opaque(tree)}, nil, true},
		{"flat tree", tinkerpop.Expectation{Kind: "tree", Values: []string{"|--a", "|--b"}}, []graph.Value{graph.Opaque(tree)}, nil, false},
		{"subgraph", tinkerpop.Expectation{Kind: "subgraph", Header: "edges", Also: []tinkerpop.Expectation{{Kind: "subgraph", Header: "vertices", Values: []string{"v[marko]"}}}},
			[]graph.Value{graph.Opaque(sg)}, nil, true},
		{"other subgraph", tinkerpop.Expectation{Kind: "subgraph", Header: "vertices", Values: []string{"v[lop]"}}, []graph.Value{graph.Opaque(sg)}, nil, false},
		{"unknown", tinkerpop.Expectation{Kind: "whatever"}, nil, nil, false},
	} {
		s := &Suite{Engine: func(context.Context, Query) ([]graph.Value, error) {
			return c.got, c.err
		}}
		o := s.Run(t.Context(), tinkerpop.Scenario{Graph: "empty", Setup: marko, When: tinkerpop.ToList, Expect: c.expect})
		if (o.Failure == "") != c.passes {
			t.Errorf("%s: failure is %q", c.name, o.Failure)
		}
	}
}

func TestNextComparesItemsOfFirstResult(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		got    []graph.Value
		values []string
	}{
		{[]graph.Value{graph.List(graph.Int(1), graph.Int(2)), graph.Int(3)}, []string{"d[1].i", "d[2].i"}},
		{[]graph.Value{graph.Int(3), graph.Int(4)}, []string{"d[3].i"}},
		{[]graph.Value{graph.Map(graph.Entry{Key: graph.String("a"), Value: graph.Int(1)})}, []string{`m[{"a":"d[1].i"}]`}},
		{[]graph.Value{graph.Opaque(&value.Path{Objects: []graph.Value{graph.Int(1)}})}, []string{"d[1].i"}},
	} {
		s := &Suite{Engine: func(context.Context, Query) ([]graph.Value, error) {
			return c.got, nil
		}}
		o := s.Run(t.Context(), tinkerpop.Scenario{Graph: "empty", When: tinkerpop.Next, Expect: tinkerpop.Expectation{Kind: "unordered", Values: c.values}})
		if o.Failure != "" {
			t.Errorf("%v: %s", c.values, o.Failure)
		}
	}
}

func TestQueryValuesAndPanics(t *testing.T) {
	t.Parallel()
	s := &Suite{Engine: func(_ context.Context, q Query) ([]graph.Value, error) {
		parser := cellParser{q.Graph}
		got := q.Text + " x=" + parser.describe(q.Params["x"]) + " a=" + parser.describe(q.SideEffects["a"])
		if want := "g.V().out() x=y a=s[d[1].l,b]"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		panic("boom")
	}}
	o := s.Run(t.Context(), tinkerpop.Scenario{
		Graph: "empty", When: tinkerpop.ToList, Gremlin: "g.V().out()", Params: [][2]string{{"x", "y"}},
		SideEffects: [][2]string{{"a", "s[d[1].l,b]"}}, Expect: tinkerpop.Expectation{Kind: "empty"},
	})
	if !strings.Contains(o.Failure, "boom") {
		t.Errorf("failure is %q", o.Failure)
	}
}

// TestEveryScenarioIsParsed checks that the graph, parameters and expectation of
// every scenario that expects a list of results can be parsed: an engine that
// returns the expected values passes.
func TestEveryScenarioIsParsed(t *testing.T) {
	t.Parallel()
	graphs, err := ReadGraphs(tinkerpoptest.Open(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, sc := range tinkerpoptest.Scenarios(t) {
		if LeftOut(sc) != "" {
			continue
		}
		if sc.Expect.Kind != "unordered" && sc.Expect.Kind != "ordered" {
			continue
		}
		// The engine below returns the expected values as separate results, never as items of one.
		sc.When = tinkerpop.ToList
		s := &Suite{Graphs: graphs, Engine: func(_ context.Context, q Query) (vs []graph.Value, err error) {
			for _, text := range sc.Expect.Values {
				v, err := cellParser{q.Graph}.cell(text)
				if err != nil {
					return nil, err
				}
				vs = append(vs, v)
			}
			return vs, nil
		}}
		if o := s.Run(t.Context(), sc); o.Failure != "" {
			t.Errorf("%s: %s (%v)", sc.ID, o.Failure, o.Err)
		}
	}
}

func TestBuildGraph(t *testing.T) {
	t.Parallel()
	parser := markoParser(t)
	got := []string{}
	for _, v := range parser.g.Vertices() {
		r := parser.g.Record(v)
		got = append(got, r.Label+" "+r.ID.String())
		for _, p := range r.Properties {
			got = append(got, "  "+p.Key+" "+parser.describe(p.Value))
		}
		for _, e := range r.Out {
			got = append(got, "  -"+e.Label+"-> "+e.To.String()+" "+e.Properties[0].Key)
		}
	}
	want := []string{"person 0", "  name marko", "  age d[29].i", "  -created-> 3 weight", "software 3", "  name lop", "  tag x", "  tag y"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, text := range []string{"g.V()", `g.addE("x")`, `g.addV().addE("x").to("nobody")`, `g.addV().property("a", __.out())`, `g.addV`} {
		if _, err := BuildGraph(text); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}
