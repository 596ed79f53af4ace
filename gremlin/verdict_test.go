package gremlin_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vigil/graph"
	"vigil/gremlin"
)

// TestVerdictHoldsForAllValues replaces the unknown values of random graphs by random
// values, or by none: a query finds the vertices that its verdict called certain, and does
// not find those that the verdict excluded.
func TestVerdictHoldsForAllValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, requireSoundVerdict)
}

// FuzzVerdictHoldsForAllValues is the same test for the fuzzer.
func FuzzVerdictHoldsForAllValues(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(requireSoundVerdict))
}

func requireSoundVerdict(t *rapid.T) {
	text := "g.V()"
	for range rapid.IntRange(1, 4).Draw(t, "steps") {
		text += drawVerdictStep(t)
	}
	p, err := gremlin.Compile(text, gremlin.CompileOptions{Budget: gremlin.Unlimited})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	model := map[string]graph.Record{}
	for range rapid.IntRange(1, 5).Draw(t, "vertices") {
		r := drawRecord(t)
		model[r.ID.Str()] = r
	}
	g := build(t, model)
	v := verdict(t, p, g, nil)
	budget := gremlin.Unlimited
	budget.Traversers, budget.Repeat = 200_000, 8
	for range 4 {
		known := build(t, drawKnown(t, model))
		res, err := p.Run(t.Context(), known, gremlin.RunOptions{Budget: budget})
		if err != nil {
			t.Skipf("%s: %v", p, err)
		}
		found := slices.Collect(res.Values())
		for _, h := range g.Vertices() {
			k, _ := known.VertexByID(g.VertexID(h))
			isFound := slices.ContainsFunc(found, graph.VertexOf(k).Equal)
			if got := v.Of(h); got == gremlin.Yes && !isFound || got == gremlin.No && isFound {
				t.Fatalf("%s: the verdict about %v is %s, but found is %v for some values", text, g.VertexID(h), got, isFound)
			}
		}
	}
}

// drawKnown draws a value for each unknown property, or removes the property.
func drawKnown(t *rapid.T, model map[string]graph.Record) map[string]graph.Record {
	out := map[string]graph.Record{}
	for _, id := range slices.Sorted(maps.Keys(model)) {
		r := model[id]
		var known []graph.PropertyRecord
		for _, p := range r.Properties {
			if !p.Unknown {
				known = append(known, p)
			} else if n := rapid.IntRange(-1, 3).Draw(t, "known"); n >= 0 {
				known = append(known, graph.PropertyRecord{Key: p.Key, VertexProperty: graph.VertexProperty{Value: graph.Int(int32(n))}})
			}
		}
		r.Properties = known
		out[id] = r
	}
	return out
}

// drawVerdictStep draws steps from vertices to vertices. The results of some of them depend
// on several traversers.
func drawVerdictStep(t *rapid.T) string {
	counted := func() string {
		var b strings.Builder
		for range rapid.IntRange(0, 1).Draw(t, "moves") {
			b.WriteString(drawMove(t))
		}
		return fmt.Sprintf("%s%s.count().is(%d)", b.String(), drawHas(t), rapid.IntRange(0, 2).Draw(t, "count"))
	}
	steps := []func() string{
		func() string { return drawHas(t) },
		func() string { return drawHas(t) },
		func() string { return drawMove(t) },
		func() string { return drawAnyStep(t) },
		func() string { return ".where(__" + counted() + ")" },
		func() string { return ".not(__" + counted() + ")" },
		func() string { return counted() + ".V()" },
		func() string { return ".as('z').local(__" + counted() + ").select('z')" },
		func() string { return ".as('z').flatMap(__" + counted() + ").select('z')" },
		func() string { return ".as('z').union(__" + counted() + ", __" + counted() + ").V()" },
		func() string { return ".match(__.as('p')" + counted() + ".as('q')).select('p')" },
		func() string {
			return ".match(__.as('p')" + drawMove(t) + ".as('q'), __.not(__.as('q')" + drawHas(t) + ")).select('q')"
		},
		func() string {
			return ".match(__.as('p')" + drawMove(t) + ".as('q'), __.not(__.and(__.as('q')" + drawHas(t) + ", __.as('p')" + drawHas(t) + "))).select('q')"
		},
		func() string {
			return ".match(__.as('p')" + drawMove(t) + ".as('q'), __.not(where(__.as('q')" + drawHas(t) + "))).select('p')"
		},
		func() string {
			return ".match(__.as('p')" + drawMove(t) + ".as('q'), __.not(not(__.as('q')" + drawHas(t) + "))).select('p')"
		},
		func() string { return ".choose(__" + drawHas(t) + ", __" + counted() + ", __.count()).is(0).V()" },
		func() string { return ".groupCount().unfold().where(select(values).is(1)).select(keys)" },
		func() string { return ".group().unfold().where(select(values).count(local).is(1)).select(keys)" },
		func() string { return ".as('z')" + drawMove(t) + ".dedup().select('z')" },
		func() string { return ".repeat(__" + drawMove(t) + ".limit(1)).times(1)" },
	}
	return rapid.SampledFrom(steps).Draw(t, "step")()
}
