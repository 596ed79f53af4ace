package catalog_test

import (
	"slices"
	"strings"
	"sync"
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
	"vigil/internal/posture/graphcache"
	"vigil/rules"
)

// loadProduct reads the rules that come with Vigil, once for all tests.
var loadProduct = sync.OnceValues(func() (*catalog.Catalog, error) { return catalog.LoadWithCases(rules.Files, frameworks.Files) })

func product(t *testing.T) *catalog.Catalog {
	t.Helper()
	c, err := loadProduct()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func declarations() []collect.Declaration {
	return slices.Concat(aws.Declarations(builtin.Catalog()), azure.New(azure.Options{}).Declarations(), gcp.New(gcp.Options{}).Declarations())
}

// TestRulesAskOnlyForWhatCollectorsRead checks that queries and cases use only types,
// properties and edges that collectors declare.
func TestRulesAskOnlyForWhatCollectorsRead(t *testing.T) {
	t.Parallel()
	schema := catalog.Schema(declarations())
	for _, e := range product(t).Rules {
		for _, what := range e.Undeclared(schema) {
			t.Errorf("%s: %s", e.File, what)
		}
	}
}

// A bench evaluates rules for the entities of cases, as for an account that was just
// collected.
type bench struct {
	*evaluate.Evaluator
	schema *evaluate.Schema
	kinds  []posture.EntityType
	global map[posture.EntityType]bool
}

func newBench() *bench {
	all := declarations()
	b := &bench{schema: catalog.Schema(all), global: map[posture.EntityType]bool{}}
	b.Evaluator = evaluate.New(b.schema, nil, func() time.Time { return catalog.CaseTime })
	for _, d := range all {
		b.kinds = append(b.kinds, d.Type)
		b.global[d.Type] = d.Scope == collect.PerAccount
	}
	return b
}

// evaluatorOf returns an evaluator with the clock of a case.
func (b *bench) evaluatorOf(c catalog.Case) *evaluate.Evaluator {
	if c.At.IsZero() {
		return b.Evaluator
	}
	return evaluate.New(b.schema, nil, func() time.Time { return c.At })
}

// judge evaluates a rule for the entities of a case.
func (b *bench) judge(t *testing.T, e catalog.Entry, c catalog.Case, found []posture.Entity) posture.RuleJudgement {
	t.Helper()
	judged, bad, err := b.evaluatorOf(c).Judge(t.Context(), evaluate.Account{
		Org: "o", ID: catalog.Account(e.Provider), Provider: e.Provider, Graph: build(t, found),
		Coverage: c.Coverage(b.kinds, func(k posture.EntityType) bool { return b.global[k] }),
	}, []posture.Rule{e.With(c.Parameters)})
	if err != nil || len(bad) > 0 {
		t.Fatalf("case %q: %v %v", c.Name, err, bad)
	}
	return judged.Rules[0]
}

// outside returns the keys of the entities of a case that a rule does not apply to.
func (b *bench) outside(t *testing.T, e catalog.Entry, c catalog.Case, found []posture.Entity, ids map[string]posture.EntityID) []string {
	t.Helper()
	answers, err := b.evaluatorOf(c).Try(t.Context(), evaluate.Account{
		Org: "o", ID: catalog.Account(e.Provider), Provider: e.Provider, Graph: build(t, found),
		Coverage: c.Coverage(b.kinds, func(k posture.EntityType) bool { return b.global[k] }),
	}, e.With(c.Parameters))
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, f := range found {
		if f.Type == e.Type && answers[0].Outside(f.ID) {
			for key, id := range ids {
				if id == f.ID && !slices.ContainsFunc(keys, func(k string) bool { return ids[k] == id }) {
					keys = append(keys, key)
				}
			}
		}
	}
	slices.Sort(keys)
	return keys
}

func TestRulesDoWhatTheirCasesShow(t *testing.T) {
	t.Parallel()
	b := newBench()
	for _, e := range product(t).Rules {
		t.Run(string(e.ID), func(t *testing.T) {
			t.Parallel()
			for _, c := range e.Cases {
				c, found, ids := b.build(t, e, c)
				check(t, c, b.judge(t, e, c, found), ids)
				if got := b.outside(t, e, c, found, ids); !slices.Equal(got, c.NotApplicable) {
					t.Errorf("case %q is not applicable to %q; want %q", c.Name, got, c.NotApplicable)
				}
				for _, key := range c.Violates {
					shows(t, e, c, build(t, found), ids[key])
				}
			}
		})
	}
}

// check compares a judgement with the expected verdicts of a case.
func check(t *testing.T, c catalog.Case, got posture.RuleJudgement, ids map[string]posture.EntityID) {
	t.Helper()
	keys := func(entityIDs []posture.EntityID) []string {
		names := []string{}
		for key, id := range ids {
			if slices.Contains(entityIDs, id) {
				names = append(names, key)
			}
		}
		slices.Sort(names)
		return names
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

// shows checks that the visualization of a violation contains the entity.
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
			t.Fatalf("the visualization of case %q returns %v, not paths", c.Name, v)
		}
		for _, o := range path.Objects {
			if o.Kind() == graph.KindVertex && g.VertexID(o.Handle()).Str() == string(id) {
				return
			}
		}
	}
	t.Errorf("case %q: the visualization does not contain %s", c.Name, id)
}

func build(t *testing.T, es []posture.Entity) *graph.Graph {
	t.Helper()
	b := graph.NewBuilder(graph.Limits{})
	for _, e := range es {
		if err := b.Add(graphcache.Record(&e)); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestRulesThatAreAboutSomeResourcesShowOthers checks that each rule that applies only to
// some resources has a case with a resource to which it does not apply.
func TestRulesThatAreAboutSomeResourcesShowOthers(t *testing.T) {
	t.Parallel()
	n := 0
	for _, e := range product(t).Rules {
		if !strings.Contains(e.Query.Text, ".as('about')") {
			continue
		}
		n++
		if !slices.ContainsFunc(e.Cases, func(c catalog.Case) bool { return len(c.NotApplicable) > 0 }) && !strings.Contains(e.Query.Text, "').not(out('") {
			t.Errorf("%s: no case has a resource to which the rule does not apply", e.ID)
		}
	}
	if n < 80 {
		t.Errorf("%d rules restrict the resources that they apply to", n)
	}
}
