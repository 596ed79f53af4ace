package gcp_test

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
	simgcp "vigil/internal/sim/gcp"
	"vigil/internal/sim/world"
	"vigil/rules"
)

// TestTheProductsRulesFindTheWorldsFlaws runs the rules that come with the
// product over what was read, and compares with what the world says.
func TestTheProductsRulesFindTheWorldsFlaws(t *testing.T) {
	t.Parallel()
	queries := gcpQueries(t)
	for seed := range world.Seed(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			c := start(t, simgcp.Options{Seed: seed + 1, Size: 150, Shares: world.Shares{Default: 0.4}, Projects: 2})
			for i, p := range c.Projects() {
				want := map[world.Finding]bool{}
				for f := range c.Findings(p.ID) {
					if _, ok := queries[f.Rule]; ok {
						want[f] = true
					}
				}
				if diff := cmp.Diff(want, productFindings(t, queries, collectAll(t, c.source(), c.access(i)))); diff != "" {
					t.Errorf("findings (-world +rules):\n%s", diff)
				}
			}
		})
	}
}

func productFindings(t *testing.T, queries map[string]string, got read) map[world.Finding]bool {
	t.Helper()
	b := graph.NewBuilder(graph.Limits{})
	for _, e := range got.entities {
		if err := b.Add(partition.Record(&e)); err != nil {
			t.Fatal(err)
		}
	}
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	found := map[world.Finding]bool{}
	for id, query := range queries {
		if _, known := judgements[id]; !known {
			continue // the world does not say what it ought to find
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
			found[world.Finding{Rule: id, Entity: posture.EntityID(g.VertexID(v.Handle()).Str())}] = true
		}
	}
	return found
}

// gcpQueries returns the queries of the product's rules for Google Cloud.
func gcpQueries(t *testing.T) map[string]string {
	t.Helper()
	queries := map[string]string{}
	files, err := fs.Glob(rules.Files, "gcp/*/*.yaml")
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
		t.Skip("the product has no rules for Google Cloud yet")
	}
	return queries
}
