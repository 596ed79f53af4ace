package azure_test

import (
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"vigil/graph"
	"vigil/gremlin"
	"vigil/internal/posture"
	"vigil/internal/posture/partition"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
	"vigil/rules"

	simazure "vigil/internal/sim/azure"
)

// TestTheProductsRulesFindTheWorldsFaults runs the rules that come with the
// product over what was read, and compares with what the world says.
func TestTheProductsRulesFindTheWorldsFaults(t *testing.T) {
	t.Parallel()
	queries := azureQueries(t)
	for seed := range world.Seed(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			productFindings(t, queries, simazure.Options{Seed: seed + 1, Size: 150, Shares: half, Page: 50, Government: int(seed % 2)})
		})
	}
}

func productFindings(t *testing.T, queries map[string]string, o simazure.Options) {
	t.Helper()
	r := newRig(t, o)
	b := graph.NewBuilder(graph.Limits{})
	for _, e := range everything(t, r.open(t, r.access(0))) {
		if err := b.Add(partition.Record(&e.Entity)); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[world.Finding]bool{}, map[world.Finding]bool{}
	for f := range r.Findings(r.Subscriptions()[0].ID) {
		want[f] = true
	}
	known := knownRules(t)
	for f := range want {
		known[f.Rule] = true
	}
	for id, query := range queries {
		if !known[id] {
			continue
		}
		plan, err := gremlin.Compile(query, gremlin.CompileOptions{})
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		result, err := plan.Run(t.Context(), g, gremlin.RunOptions{Budget: gremlin.RuleBudget, Now: today})
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		for v := range result.Values() {
			got[world.Finding{Rule: id, Entity: posture.EntityID(g.VertexID(v.Handle()).Str())}] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-world +rules):\n%s", diff)
	}
}

// knownRules returns the rules that the simulated world can break. Those that
// follow paths through the graph have cases of their own beside their queries.
func knownRules(t *testing.T) map[string]bool {
	t.Helper()
	all := simazure.New(simazure.Options{Seed: 1, Size: 150, Shares: world.Shares{Default: 1}}, gateway.NewFaults())
	known := map[string]bool{}
	for f := range all.Findings(all.Subscriptions()[0].ID) {
		known[f.Rule] = true
	}
	if len(known) < 30 {
		t.Fatalf("the world breaks only %d rules", len(known))
	}
	return known
}

// azureQueries returns the queries of the product's rules for Azure.
func azureQueries(t *testing.T) map[string]string {
	t.Helper()
	queries := map[string]string{}
	files, err := fs.Glob(rules.Files, "azure/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := fs.ReadFile(rules.Files, name)
		if err != nil {
			t.Fatal(err)
		}
		var rule struct{ ID, Query string }
		if err := yaml.Unmarshal(text, &rule); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		queries[rule.ID] = rule.Query
	}
	if len(queries) == 0 {
		t.Skip("the product has no rules for Azure yet")
	}
	return queries
}
