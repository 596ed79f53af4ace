package azure_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture"
	"vigil/internal/posture/collect/collecttest"
	simazure "vigil/internal/sim/azure"
	"vigil/internal/sim/gateway"
	"vigil/internal/sim/world"
)

// TestProductRulesFindExpectedFlaws runs the rules of the product over the collected
// entities and compares the findings with the flaws of the simulation.
func TestProductRulesFindExpectedFlaws(t *testing.T) {
	t.Parallel()
	queries := collecttest.Queries(t, "azure")
	for seed := range world.Seed(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			productFindings(t, queries, simazure.Options{Seed: seed + 1, Size: 150, Shares: half, Page: 50, Government: int(seed % 2)})
		})
	}
}

func productFindings(t *testing.T, queries map[string]collecttest.Query, o simazure.Options) {
	t.Helper()
	r := newFixture(t, o)
	want, known := map[world.Finding]bool{}, knownRules(t)
	for f := range r.Findings(r.Subscriptions()[0].ID) {
		want[f], known[f.Rule] = true, true
	}
	queries = maps.Clone(queries)
	maps.DeleteFunc(queries, func(id string, _ collecttest.Query) bool { return !known[id] })
	var entities []posture.Entity
	for _, e := range listAll(t, r.open(t, r.access(0))) {
		entities = append(entities, e.Entity)
	}
	got := map[world.Finding]bool{}
	for rule, id := range collecttest.Findings(t, queries, slices.Values(entities), today) {
		got[world.Finding{Rule: rule, Entity: id}] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-world +rules):\n%s", diff)
	}
}

// knownRules returns the rules that the simulation can violate. All other rules are tested by the
// cases next to their queries.
func knownRules(t *testing.T) map[string]bool {
	t.Helper()
	all := simazure.New(simazure.Options{Seed: 1, Size: 150, Shares: world.Shares{Default: 1}}, gateway.NewFaults())
	known := map[string]bool{}
	for f := range all.Findings(all.Subscriptions()[0].ID) {
		known[f.Rule] = true
	}
	if len(known) < 30 {
		t.Fatalf("the simulation violates only %d rules", len(known))
	}
	return known
}
