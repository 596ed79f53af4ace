package gremlin_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"vigil/graph"
	"vigil/gremlin"
)

// TestVerdictDependsOnReach changes random graphs and runs random queries again, on the
// whole graph and only on the dependents of the changed vertices. The answers about the
// dependents agree, and the answers about all other vertices are those from before the change.
func TestVerdictDependsOnReach(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { requireSameVerdict(t, drawFilters(t, drawAnyStep)) })
}

// FuzzVerdictDependsOnReach is the same test for the fuzzer.
func FuzzVerdictDependsOnReach(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { requireSameVerdict(t, drawFilters(t, drawAnyStep)) }))
}

// TestVerdictOfDependentsMatchesReference runs queries of the steps that the reference
// interpreter supports, and compares with its result on the changed graph.
func TestVerdictOfDependentsMatchesReference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawFilters(t, func(t *rapid.T) string { return drawStep(t, 2) })
		after, got := requireSameVerdict(t, text)
		for k := range after.Keys() {
			if after.HasUnknown(graph.Key(k)) {
				return // the reference does not know unknown values
			}
		}
		want, err := newReference(after).run(text)
		if errors.Is(err, errTooMuch) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		found := make([]string, 0, len(got))
		for _, h := range got {
			found = append(found, gremlin.Text(after, graph.VertexOf(h)))
		}
		slices.Sort(want)
		slices.Sort(found)
		if diff := cmp.Diff(want, found); diff != "" && len(want)+len(found) > 0 {
			t.Fatalf("%s (-reference +engine):\n%s", text, diff)
		}
	})
}

func TestReach(t *testing.T) {
	t.Parallel()
	const unlimited = -1
	for text, want := range map[string]*gremlin.Reach{
		"g.V().hasLabel('A').has('n', 1).dedup()":                            {},
		"g.V().where(out('a').has('n', 1))":                                  {Out: []string{"a"}, Moves: 1},
		"g.V().where(out('a').in('b')).not(both('c').out('d').out('a'))":     {Out: []string{"a", "c", "d"}, In: []string{"b", "c"}, Moves: 3},
		"g.V().where(outE('a').has('n', 1).inV().inE())":                     {Out: []string{"a"}, AllIn: true, Moves: 2},
		"g.V().as('x').where(out('a').as('y').select('x').out('b'))":         {Out: []string{"a", "b"}, Moves: 2},
		"g.V().where(union(out('a'), out('a').out('a')).in('b'))":            {Out: []string{"a"}, In: []string{"b"}, Moves: 3},
		"g.V().where(out('a').count().is(gt(2)))":                            {Out: []string{"a"}, Moves: 1},
		"g.V().where(out('a').out('b').dedup().limit(2).count().is(2))":      {Out: []string{"a", "b"}, Moves: 2},
		"g.V().where(out('a').values('n').dedup().count().is(2))":            {Out: []string{"a"}, Moves: 1, KnownKeys: []string{"n"}},
		"g.V().as('x').where(out('a').as('y').where('x', lte('y')).by('n'))": {Out: []string{"a"}, Moves: 1, KnownKeys: []string{"n"}},
		"g.V().as('x').where(out('a').where(eq('x')).by(out('b').count()))":  {Out: []string{"a", "b"}, Moves: 2},
		"g.V().where(repeat(out('a')).until(out('b')))":                      {Out: []string{"a", "b"}, Moves: unlimited},
		"g.V().where(repeat(out('a')).times(2).has('n', 1))":                 {Out: []string{"a"}, Moves: unlimited},

		// These queries have no reach: they do not only filter vertices, or their filters depend on more
		// than the moves reach, such as the order of edges.
		"g.V().out('a')":                                                       nil,
		"g.V().count()":                                                        nil,
		"g.V().limit(1)":                                                       nil,
		"g.V('v1').where(out('a'))":                                            nil,
		"g.E().where(outV())":                                                  nil,
		"g.V().where(__.V().has('n', 1))":                                      nil,
		"g.V().where(__.V().count().is(1))":                                    nil,
		"g.V().where(out('a').limit(1).has('n', 1))":                           nil,
		"g.V().where(out('a').dedup().by('m').has('n', 1))":                    nil,
		"g.V().where(out('a').limit(2).dedup().count().is(1))":                 nil,
		"g.V().where(out('a').dedup().by('n').dedup().by('m').count().is(1))":  nil,
		"g.V().where(out('a').order().by('n').limit(1).has('m', 1))":           nil,
		"g.V().aggregate('x').where(out('a').where(within('x')))":              nil,
		"g.V().where(out('a').aggregate('x').cap('x').unfold().has('n', 1))":   nil,
		"g.withSideEffect('x', 1).V().where(out('a').select('x').is(1))":       nil,
		"g.withSack(0).V().where(out('a').sack(sum).by('n').sack().is(gt(1)))": nil,
		"g.V().where(out('a').coin(0.5))":                                      nil,

		// by() and the like use the first result, which depends on the order of edges if there may be several.
		"g.V().where(out('b').dedup().by(__.in('a').label()).count().is(1))":                     nil,
		"g.V().as('x').where(out('c').select('x').by(__.in('a').label()).is('A'))":               nil,
		"g.V().where(math('_ + 0').by(__.in('a').values('n')).is(1.0))":                          nil,
		"g.V().as('x').where(out('c').where(eq('x')).by(__.in('a').label()))":                    nil,
		"g.V().where(label().concat(__.in('a').label()).is('AB'))":                               nil,
		"g.V().as('x').where(out('c').where(eq('x')).by(coalesce(__.in('a').label(), label())))": nil,
		"g.V().as('x').where(out('a').where(eq('x')).by(local(out('b').count())))":               {Out: []string{"a", "b"}, Moves: 2},
		"g.V().where(math('_ + 0').by(coalesce(values('n'), constant(0))).is(1.0))":              {KnownKeys: []string{"n"}},
	} {
		p, err := gremlin.Compile(text, gremlin.CompileOptions{})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got, ok := p.Reach(nil)
		if !ok {
			got = nil
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("reach of %s (-want +got):\n%s", text, diff)
		}
	}
}

// requireSameVerdict draws a graph and changes of it, and compares the incremental evaluation
// of the query with the one on the whole changed graph. It returns the changed graph and the
// vertices that the query certainly finds in it.
func requireSameVerdict(t *rapid.T, text string) (*graph.Graph, []graph.Handle) {
	p, err := gremlin.Compile(text, gremlin.CompileOptions{Budget: gremlin.Unlimited})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	reach, ok := p.Reach(nil)
	if !ok {
		t.Skipf("%s is not about each vertex", text)
	}
	model := map[string]graph.Record{}
	for range rapid.IntRange(0, 7).Draw(t, "vertices") {
		r := drawRecord(t)
		model[r.ID.Str()] = r
	}
	before := build(t, model)
	var changes []graph.Change
	for range rapid.IntRange(1, 3).Draw(t, "changes") {
		c := graph.Change{Record: drawRecord(t), Remove: rapid.IntRange(0, 2).Draw(t, "remove") == 0}
		changes = append(changes, c)
		delete(model, c.ID.Str())
		if !c.Remove {
			model[c.ID.Str()] = c.Record
		}
	}
	after, err := before.Patch(changes)
	if err != nil {
		t.Fatal(err)
	}
	if rapid.Bool().Draw(t, "rebuild") {
		after = build(t, model)
	}
	from := map[graph.Handle]bool{} // vertices of the changed graph whose answer may have changed
	for _, g := range []*graph.Graph{before, after} {
		var changed []graph.Handle
		for _, c := range changes {
			if h, ok := g.VertexByID(c.ID); ok && !slices.Contains(changed, h) {
				changed = append(changed, h)
			}
		}
		dependents, ok := reach.Dependents(g, changed, 1000)
		if !ok && len(reach.KnownKeys) == 0 {
			t.Fatal("more dependents than vertices")
		}
		if !ok { // the answer about every vertex may be unknown
			dependents = g.Vertices()
		}
		for _, h := range dependents {
			if same, ok := after.VertexByID(g.VertexID(h)); ok {
				from[same] = true
			}
		}
	}
	old, whole := verdict(t, p, before, nil), verdict(t, p, after, nil)
	part := verdict(t, p, after, slices.AppendSeq([]graph.Handle{}, maps.Keys(from))) // never nil, which means all vertices
	var yes []graph.Handle
	for _, h := range after.Vertices() {
		got := part.Of(h)
		if !from[h] {
			got = gremlin.No
			if same, ok := before.VertexByID(after.VertexID(h)); ok {
				got = old.Of(same)
			}
		}
		if want := whole.Of(h); got != want {
			t.Fatalf("%s finds %v: %s, want %s (dependent %v, reach %+v)", text, after.VertexID(h), got, want, from[h], *reach)
		}
		if got == gremlin.Yes {
			yes = append(yes, h)
		}
	}
	return after, yes
}

func verdict(t *rapid.T, p *gremlin.Plan, g *graph.Graph, from []graph.Handle) *gremlin.Verdict {
	budget := gremlin.Unlimited
	budget.Traversers, budget.Repeat = 200_000, 8
	v, err := p.Verdict(t.Context(), g, gremlin.RunOptions{Budget: budget, From: from})
	if err != nil {
		t.Skipf("%s: %v", p, err) // a repeat() without an end, for one
	}
	return v
}

func build(t *rapid.T, model map[string]graph.Record) *graph.Graph {
	b := graph.NewBuilder(graph.Limits{})
	for _, id := range slices.Sorted(maps.Keys(model)) {
		if err := b.Add(model[id]); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// drawRecord draws a record of one of seven vertices. Values may be unknown, and the targets of
// edges may not exist.
func drawRecord(t *rapid.T) graph.Record {
	name := func() graph.Value { return graph.String(fmt.Sprint("v", rapid.IntRange(0, 6).Draw(t, "id"))) }
	r := graph.Record{ID: name(), Label: rapid.SampledFrom([]string{"A", "B"}).Draw(t, "label")}
	for _, key := range []string{"n", "m"} {
		switch k := rapid.IntRange(0, 5).Draw(t, key); k {
		case 0: // no property
		case 1:
			r.Properties = append(r.Properties, graph.PropertyRecord{Key: key, Unknown: true, Reason: "denied"})
		default:
			r.Properties = append(r.Properties, graph.PropertyRecord{Key: key, VertexProperty: graph.VertexProperty{Value: graph.Int(int32(k - 2))}})
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "edges") {
		e := graph.EdgeRecord{Label: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "edge"), To: name()}
		if rapid.Bool().Draw(t, "edge property") {
			e.Properties = []graph.Meta{{Key: "n", Value: graph.Int(int32(rapid.IntRange(0, 3).Draw(t, "value")))}}
		}
		r.Out = append(r.Out, e)
	}
	return r
}

// drawFilters draws a query of filters whose nested traversals consist of steps that step draws.
func drawFilters(t *rapid.T, step func(*rapid.T) string) string {
	nested := func() string {
		var b strings.Builder
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			b.WriteString(step(t))
		}
		return "__" + b.String()
	}
	text := "g.V()"
	for range rapid.IntRange(1, 3).Draw(t, "filters") {
		if rapid.Bool().Draw(t, "has") {
			text += drawHas(t)
		}
		text += fmt.Sprintf(".%s(%s)", rapid.SampledFrom([]string{"where", "not"}).Draw(t, "filter"), nested())
	}
	return text
}

// drawAnyStep draws one or more steps that lead from vertices to vertices. Queries with some of
// them, such as limit(), have no reach and are skipped.
func drawAnyStep(t *rapid.T) string {
	steps := []func() string{
		func() string { return drawMove(t) },
		func() string { return drawHas(t) },
		func() string { return drawStep(t, 2) },
		func() string { return ".hasLabel('A')" },
		func() string { return ".hasNot('m')" },
		func() string { return ".outE('a')" + drawHas(t) + ".inV()" },
		func() string { return ".inE('b')" + drawHas(t) + ".outV()" },
		func() string { return ".bothE().otherV()" },
		func() string { return ".as('x')" + drawMove(t) + drawHas(t) + ".select('x')" },
		func() string { return ".as('x')" + drawMove(t) + ".as('y').where('x', lte('y')).by('n')" },
		func() string { return ".where(" + "__" + drawMove(t) + ".values('n').dedup().count().is(gt(1)))" },
		func() string { return ".as('x')" + drawMove(t) + ".where(neq('x'))" },
		func() string { return ".as('x')" + drawMove(t) + ".where(eq('x')).by('n')" },
		func() string { return ".as('x')" + drawMove(t) + ".where(neq('x')).by(__" + drawMove(t) + ".count())" },
		func() string { return ".as('x')" + drawMove(t) + ".where(eq('x')).by(__" + drawMove(t) + ".label())" },
		func() string { return ".as('x')" + drawMove(t) + ".where(__.as('x')" + drawMove(t) + drawHas(t) + ")" },
		func() string { return ".where(__" + drawMove(t) + ".count().is(gt(1)))" },
		func() string { return ".where(__" + drawMove(t) + drawMove(t) + ".dedup().limit(2).count().is(2))" },
		func() string { return ".where(__.values('n').is(gt(1)))" },
		func() string {
			return ".or(__" + drawMove(t) + drawHas(t) + ", __.and(__" + drawHas(t) + ", __" + drawMove(t) + "))"
		},
		func() string { return ".coalesce(__" + drawMove(t) + ", __" + drawMove(t) + ")" },
		func() string { return ".optional(__" + drawMove(t) + ")" },
		func() string { return ".flatMap(__" + drawMove(t) + ")" },
		func() string { return ".local(__" + drawMove(t) + ".dedup())" },
		func() string { return ".repeat(__" + drawMove(t) + ").until(__" + drawHas(t) + ")" },
		func() string {
			return ".emit(__" + drawHas(t) + ").repeat(__" + drawMove(t) + ".simplePath()).times(2)"
		},
		func() string { return ".limit(2)" },
		func() string { return ".V()" + drawHas(t) },
	}
	return rapid.SampledFrom(steps).Draw(t, "step")()
}
