package evaluate_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"vigil/graph"
	"vigil/gremlin"
	"vigil/internal/posture"
)

// TestTypesThatAreNotReadMakeNoDifference runs a query on an account, and again
// without the entities of types that the query does not read according to
// schema.Read: the results are the same. The types of the vertices found are among
// the Subjects of Read. Queries and accounts are random. A test of package gremlin
// compares the engine itself with the reference interpreter.
func TestTypesThatAreNotReadMakeNoDifference(t *testing.T) {
	t.Parallel()
	rapid.Check(t, readsSuffice)
}

// FuzzTypesThatAreNotReadMakeNoDifference is the same, for the fuzzer.
func FuzzTypesThatAreNotReadMakeNoDifference(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(readsSuffice))
}

func readsSuffice(t *rapid.T) {
	all := drawAccount(t)
	text := "g.V()" + drawNarrow(t) + drawVertexSteps(t, 3, 4)
	reads, err := schema.Read(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	want, found, err := runQuery(t, all, text)
	if err != nil {
		t.Skip(err) // some random queries are not permitted, such as fold() in repeat()
	}
	for _, kind := range found {
		if !slices.Contains(reads.Subjects, kind) {
			t.Fatalf("%s finds %s, not only %v", text, kind, reads.Subjects)
		}
	}
	var read []posture.Entity
	for _, e := range all {
		if slices.Contains(reads.Types, e.Type) {
			read = append(read, e)
		}
	}
	got, _, err := runQuery(t, read, text)
	if err != nil {
		t.Fatalf("%s without the types it does not read: %v", text, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s reads more than %v (-with +without the others):\n%s", text, reads.Types, diff)
	}
}

// runQuery returns the results of a query as sorted texts, and the types of the
// vertices among them.
func runQuery(t *rapid.T, es []posture.Entity, text string) (results []string, found []posture.EntityType, err error) {
	w := newWorld(es...)
	g := w.graph(t)
	p, err := gremlin.Compile(text, gremlin.CompileOptions{})
	if err != nil {
		return nil, nil, err
	}
	budget := gremlin.Unlimited
	budget.Traversers, budget.Time = 2_000_000, time.Minute
	res, err := p.Run(context.Background(), g, gremlin.RunOptions{Budget: budget})
	if err != nil {
		return nil, nil, err
	}
	for v := range res.Values() {
		results = append(results, gremlin.Text(g, v))
		if v.Kind() == graph.KindVertex {
			found = append(found, posture.EntityType(g.VertexLabels()[g.VertexLabel(v.Handle())]))
		}
	}
	slices.Sort(results)
	return results, found, nil
}

// edgesOf lists the edges of the schema: from, label and to.
var edgesOf = map[posture.EntityType]map[string][]posture.EntityType{
	groupType:  {"ALLOWS_INGRESS": {rangeType, groupType}},
	hostType:   {"MEMBER_OF": {groupType}, "HAS_ROLE": {roleType}},
	roleType:   {"READS": {bucketType}},
	bucketType: {"ENCRYPTED_BY": {keyType}},
}

var (
	everyType  = []posture.EntityType{groupType, rangeType, hostType, roleType, bucketType, keyType}
	everyLabel = []string{"ALLOWS_INGRESS", "MEMBER_OF", "HAS_ROLE", "READS", "ENCRYPTED_BY"}
	everyKey   = []string{"groupName", "isInternet", "state", "inlineAllowsAdmin", "public", "rotationEnabled"}
)

// drawAccount draws up to two entities of each type, with edges that the schema has.
func drawAccount(t *rapid.T) []posture.Entity {
	count := map[posture.EntityType]int{}
	for _, kind := range everyType {
		count[kind] = rapid.IntRange(0, 2).Draw(t, "count")
	}
	id := func(kind posture.EntityType, n int) posture.EntityID { return kind.ID(account, region, fmt.Sprint(n)) }
	var all []posture.Entity
	for _, kind := range everyType {
		for n := range count[kind] {
			parts := []any{}
			for _, key := range everyKey {
				if schema.HasProperty(kind, key) {
					parts = append(parts, posture.Flag(key, rapid.Bool().Draw(t, key)))
				}
			}
			for _, label := range slices.Sorted(maps.Keys(edgesOf[kind])) {
				for _, to := range edgesOf[kind][label] {
					for m := range count[to] {
						if rapid.Bool().Draw(t, label) {
							parts = append(parts, posture.Edge{Label: label, To: id(to, m)})
						}
					}
				}
			}
			all = append(all, entity(kind, region, fmt.Sprint(n), parts...))
		}
	}
	return all
}

func quote(s string) string { return "'" + s + "'" }

func drawLabel(t *rapid.T) string { return quote(rapid.SampledFrom(everyLabel).Draw(t, "label")) }

func drawType(t *rapid.T) string { return quote(string(rapid.SampledFrom(everyType).Draw(t, "type"))) }

func drawKey(t *rapid.T) string { return quote(rapid.SampledFrom(everyKey).Draw(t, "key")) }

func drawMark(t *rapid.T) string { return quote(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "mark")) }

func drawDirection(t *rapid.T) string {
	return rapid.SampledFrom([]string{"OUT", "IN", "BOTH"}).Draw(t, "direction")
}

// drawNarrow mostly draws a condition on the type. A query without one usually reads all
// types, so that no entity is removed.
func drawNarrow(t *rapid.T) string {
	if rapid.IntRange(0, 9).Draw(t, "narrow") == 0 {
		return ""
	}
	return ".hasLabel(" + drawType(t) + ")"
}

// drawVertexSteps draws up to n steps that begin and end at vertices. Traversals within
// them are nested at most depth levels deep.
func drawVertexSteps(t *rapid.T, depth, n int) string {
	var b strings.Builder
	for range rapid.IntRange(1, n).Draw(t, "steps") {
		b.WriteString(drawVertexStep(t, depth))
	}
	return b.String()
}

// drawSub draws a traversal within a step.
func drawSub(t *rapid.T, depth int) string { return "__" + drawVertexSteps(t, depth-1, 2) }

func drawVertexStep(t *rapid.T, depth int) string {
	flat := []func() string{
		func() string { return ".out(" + drawLabel(t) + ")" },
		func() string { return ".in(" + drawLabel(t) + ")" },
		func() string { return ".both(" + drawLabel(t) + ")" },
		func() string { return ".to(" + drawDirection(t) + "," + drawLabel(t) + ")" },
		func() string { return drawEdge(t) + drawEnd(t) },
		func() string { return ".hasLabel(" + drawType(t) + ")" },
		func() string { return ".has(" + drawKey(t) + ",true)" },
		func() string { return ".not(__" + drawEdge(t) + ")" },
		func() string { return ".where(__" + drawEdge(t) + ")" },
		func() string { return ".as(" + drawMark(t) + ")" },
		func() string { return ".select(" + drawMark(t) + ")" },
		func() string { return ".where('a',neq('b'))" },
		func() string { return ".aggregate('x')" },
		func() string { return ".where(without('x'))" },
		func() string { return ".dedup()" },
		func() string { return ".fold().unfold()" },
		func() string { return ".properties().element()" },
		func() string { return ".optional(__.out())" },
		func() string { return ".union(__" + drawEdge(t) + ",__" + drawEdge(t) + ")" + drawEnd(t) },
	}
	if depth == 0 {
		return rapid.SampledFrom(flat).Draw(t, "step")()
	}
	s := func() string { return drawSub(t, depth) }
	deep := []func() string{
		func() string { return ".where(" + s() + ")" },
		func() string { return ".where(__.as(" + drawMark(t) + ")" + drawVertexSteps(t, depth-1, 2) + ")" },
		func() string { return ".not(" + s() + ")" },
		func() string { return ".and(" + s() + "," + s() + ")" },
		func() string { return ".or(" + s() + "," + s() + ")" },
		func() string { return ".union(" + s() + "," + s() + ")" },
		func() string { return ".coalesce(" + s() + "," + s() + ")" },
		func() string { return ".optional(" + s() + ")" },
		func() string { return ".local(" + s() + ")" },
		func() string { return ".flatMap(" + s() + ")" },
		func() string { return ".map(" + s() + ")" },
		func() string { return ".sideEffect(" + s() + ")" },
		func() string { return ".choose(" + s() + "," + s() + ")" },
		func() string { return ".choose(" + s() + "," + s() + "," + s() + ")" },
		func() string { return ".choose(T.label).option(" + drawType(t) + "," + s() + ")" },
		func() string {
			return ".choose(" + s() + ".count()).option(0L," + s() + ").option(Pick.none," + s() + ")"
		},
		func() string {
			return ".branch(__.label()).option(" + drawType(t) + "," + s() + ").option(Pick.any," + s() + ")"
		},
		func() string { return ".repeat(" + s() + ").times(2)" },
		func() string { return ".repeat(" + s() + ").emit().times(2)" },
		func() string { return ".emit(" + s() + ").repeat(" + s() + ").times(2)" },
		func() string { return ".until(__.or(" + s() + ",__.loops().is(2))).repeat(" + s() + ")" },
		func() string { return ".dedup().by(" + s() + ".count())" },
		func() string { return ".where('a',eq('b')).by(" + s() + ".count())" },
		func() string { return ".filter(__.path().by(" + s() + ".count()).unfold().is(1L))" },
		func() string {
			return ".filter(__.select('a','b').by(" + s() + ".count()).select(values).unfold().is(1L))"
		},
		func() string { return ".filter(__.project('p').by(" + s() + ".fold()).select('p').unfold().out())" },
	}
	return rapid.SampledFrom(slices.Concat(flat, deep)).Draw(t, "step")()
}

// drawEdge goes from vertices to edges.
func drawEdge(t *rapid.T) string {
	switch rapid.IntRange(0, 3).Draw(t, "edge") {
	case 0:
		return ".outE(" + drawLabel(t) + ")"
	case 1:
		return ".inE(" + drawLabel(t) + ")"
	case 2:
		return ".bothE(" + drawLabel(t) + ")"
	}
	return ".toE(" + drawDirection(t) + "," + drawLabel(t) + ")"
}

// drawEnd goes from edges to vertices.
func drawEnd(t *rapid.T) string {
	switch rapid.IntRange(0, 4).Draw(t, "end") {
	case 0:
		return ".inV()"
	case 1:
		return ".outV()"
	case 2:
		return ".otherV()"
	case 3:
		return ".bothV()"
	}
	return ".toV(" + drawDirection(t) + ")"
}
