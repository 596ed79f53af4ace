package catalog_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/frameworks"
	"vigil/graph"
	"vigil/gremlin"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/azure"
	builtin "vigil/internal/posture/collect/declared"
	"vigil/internal/posture/collect/gcp"
	"vigil/internal/posture/evaluate"
	"vigil/internal/posture/partition"
	"vigil/rules"
)

func product(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Load(rules.Files, frameworks.Files)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func declared() []collect.Declaration {
	return slices.Concat(aws.Declarations(builtin.Catalog()), azure.New(azure.Options{}).Declarations(), (*gcp.Source)(nil).Declarations())
}

// TestRulesAskOnlyForWhatCollectorsRead holds queries and cases against the
// declarations of all collectors.
func TestRulesAskOnlyForWhatCollectorsRead(t *testing.T) {
	t.Parallel()
	schema := catalog.Schema(declared())
	for _, e := range product(t).Rules {
		for _, what := range e.Strange(schema) {
			t.Errorf("%s: %s", e.File, what)
		}
	}
}

// A bench judges the entities of cases as those of an account that was just
// collected.
type bench struct {
	*evaluate.Evaluator
	schema *evaluate.Schema
	kinds  []posture.EntityType
	global map[posture.EntityType]bool
}

func newBench() *bench {
	all := declared()
	b := &bench{schema: catalog.Schema(all), global: map[posture.EntityType]bool{}}
	b.Evaluator = evaluate.New(b.schema, nil, func() time.Time { return catalog.CaseTime })
	for _, d := range all {
		b.kinds = append(b.kinds, d.Type)
		b.global[d.Type] = d.Scope == collect.PerAccount
	}
	return b
}

// judge holds a rule against what a case has.
func (b *bench) judge(t *testing.T, e catalog.Entry, c catalog.Case, found []posture.Entity) posture.RuleJudgement {
	t.Helper()
	judged, bad, err := b.Judge(t.Context(), evaluate.Account{
		Org: "o", ID: catalog.Account(e.Provider), Provider: e.Provider, Graph: build(t, found),
		Coverage: c.Coverage(b.kinds, func(k posture.EntityType) bool { return b.global[k] }),
	}, []posture.Rule{e.Rule})
	if err != nil || len(bad) > 0 {
		t.Fatalf("case %q: %v %v", c.Name, err, bad)
	}
	return judged.Rules[0]
}

func TestRulesDoWhatTheirCasesShow(t *testing.T) {
	t.Parallel()
	b := newBench()
	for _, e := range product(t).Rules {
		t.Run(string(e.ID), func(t *testing.T) {
			t.Parallel()
			for _, c := range e.Cases {
				found, ids, err := c.Build()
				if err != nil {
					t.Error(err)
					continue
				}
				check(t, c, b.judge(t, e, c, found), ids)
				for _, key := range c.Violates {
					shows(t, e, c, build(t, found), ids[key])
				}
			}
		})
	}
}

// check compares a judgement with what a case shows.
func check(t *testing.T, c catalog.Case, got posture.RuleJudgement, ids map[string]posture.EntityID) {
	t.Helper()
	keys := func(of []posture.EntityID) []string {
		named := []string{}
		for key, id := range ids {
			if slices.Contains(of, id) {
				named = append(named, key)
			}
		}
		slices.Sort(named)
		return named
	}
	violating := objects(got.Violating)
	if diff := cmp.Diff(slices.Sorted(slices.Values(append([]string{}, c.Violates...))), keys(violating)); diff != "" && len(c.Violates)+len(violating) > 0 {
		t.Errorf("case %q violates (-want +got):\n%s", c.Name, diff)
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(append([]string{}, c.Unknown...))), keys(got.Unknown)); diff != "" && len(c.Unknown)+len(got.Unknown) > 0 {
		t.Errorf("case %q is unknown for (-want +got):\n%s", c.Name, diff)
	}
}

func objects(raised []posture.Raised) []posture.EntityID {
	var ids []posture.EntityID
	for _, r := range raised {
		ids = append(ids, r.Finding.Object)
	}
	return ids
}

// shows makes sure that the picture of a violation has the entity in it.
func shows(t *testing.T, e catalog.Entry, c catalog.Case, g *graph.Graph, id posture.EntityID) {
	t.Helper()
	text := strings.ReplaceAll(e.Visualization.Text, posture.EntityClause, "hasId('"+string(id)+"')")
	plan, err := gremlin.Compile(text, gremlin.CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := plan.Run(t.Context(), g, gremlin.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for v := range result.Values() {
		path, ok := v.Opaque().(*gremlin.Path)
		if !ok {
			t.Fatalf("case %q shows %v, not paths", c.Name, v)
		}
		for _, o := range path.Objects {
			if o.Kind() == graph.KindVertex && g.VertexID(o.Handle()).Str() == string(id) {
				return
			}
		}
	}
	t.Errorf("case %q: %s is not in its picture", c.Name, id)
}

func build(t *testing.T, es []posture.Entity) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(graph.Limits{})
	for _, e := range es {
		if err := b.Add(partition.Record(&e)); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}
