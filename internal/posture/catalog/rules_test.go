package catalog_test

import (
	"context"
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
	return slices.Concat((*aws.Source)(nil).Declarations(), (*azure.Source)(nil).Declarations(), (*gcp.Source)(nil).Declarations())
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

// entities looks up what a case has.
type entities map[posture.EntityID]posture.Entity

func (es entities) EntitiesOf(context.Context, posture.OrgID, posture.AccountID, []posture.EntityID) (map[posture.EntityID]posture.Entity, error) {
	return es, nil
}

// TestRulesDoWhatTheirCasesShow judges the entities of every case as those of an
// account that was just collected.
func TestRulesDoWhatTheirCasesShow(t *testing.T) {
	t.Parallel()
	all := declared()
	schema := catalog.Schema(all)
	kinds := make([]posture.EntityType, len(all))
	global := map[posture.EntityType]bool{}
	for i, d := range all {
		kinds[i], global[d.Type] = d.Type, d.Scope == collect.PerAccount
	}
	for _, e := range product(t).Rules {
		t.Run(string(e.ID), func(t *testing.T) {
			t.Parallel()
			for _, c := range e.Cases {
				found, ids, err := c.Build()
				if err != nil {
					t.Error(err)
					continue
				}
				judged, bad, err := evaluate.New(schema, entities(byID(found)), func() time.Time { return catalog.CaseTime }).Judge(t.Context(), evaluate.Account{
					Org: "o", ID: catalog.Account(e.Provider), Provider: e.Provider, Graph: build(t, found),
					Coverage: c.Coverage(kinds, func(k posture.EntityType) bool { return global[k] }),
				}, []posture.Rule{e.Rule})
				if err != nil || len(bad) > 0 {
					t.Errorf("case %q: %v %v", c.Name, err, bad)
					continue
				}
				check(t, c, judged.Rules[0], ids)
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
	var violating []posture.EntityID
	for _, v := range got.Violating {
		violating = append(violating, v.Finding.Object)
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(append([]string{}, c.Violates...))), keys(violating)); diff != "" && len(c.Violates)+len(violating) > 0 {
		t.Errorf("case %q violates (-want +got):\n%s", c.Name, diff)
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(append([]string{}, c.Unknown...))), keys(got.Unknown)); diff != "" && len(c.Unknown)+len(got.Unknown) > 0 {
		t.Errorf("case %q is unknown for (-want +got):\n%s", c.Name, diff)
	}
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

func byID(es []posture.Entity) map[posture.EntityID]posture.Entity {
	by := map[posture.EntityID]posture.Entity{}
	for _, e := range es {
		by[e.ID] = e
	}
	return by
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
