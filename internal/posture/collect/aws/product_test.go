package aws_test

import (
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"vigil/graph"
	"vigil/gremlin"
	"vigil/internal/posture"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/partition"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/world"
	"vigil/rules"
)

// TestTheProductsRulesFindTheWorldsFlaws runs the rules that come with the
// product over what was read, and compares with what the world says.
func TestTheProductsRulesFindTheWorldsFlaws(t *testing.T) {
	t.Parallel()
	queries := productQueries(t)
	const accounts = 3
	c := start(t, simaws.Options{Seed: 31, Accounts: accounts, Size: 300, Shares: world.Shares{Default: 0.4}})
	for i := range accounts {
		var want []world.Finding
		for _, f := range c.Findings(c.Account(i).ID) {
			if _, ok := queries[f.Rule]; ok {
				want = append(want, f)
			}
		}
		sortFindings(want)
		got := productFindings(t, queries, collectAll(t, aws.New(c.options), c.access(i)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("account %d: findings (-world +rules):\n%s", i, diff)
		}
	}
}

func productFindings(t *testing.T, queries map[string]string, got read) []world.Finding {
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
		if violates[id] == nil {
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
	var list []world.Finding
	for f := range found {
		list = append(list, f)
	}
	sortFindings(list)
	return list
}

// productQueries returns the queries of the product's rules for AWS.
func productQueries(t *testing.T) map[string]string {
	t.Helper()
	queries := map[string]string{}
	files, err := fs.Glob(rules.Files, "aws/*/*.yaml")
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
		t.Skip("the product has no rules for AWS yet")
	}
	return queries
}
