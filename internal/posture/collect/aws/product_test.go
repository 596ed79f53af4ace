package aws_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/collecttest"
	simaws "vigil/internal/sim/aws"
	"vigil/internal/sim/world"
)

// TestProductRulesFindExpectedFlaws runs the rules of the product over the
// collected entities and compares the findings with the flaws of the simulation.
func TestProductRulesFindExpectedFlaws(t *testing.T) {
	t.Parallel()
	queries := collecttest.Queries(t, "aws")
	maps.DeleteFunc(queries, func(id string, _ collecttest.Query) bool { return violates[id] == nil }) // the simulation has no expected findings for these
	const accounts = 3
	c := start(t, simaws.Options{Seed: 31, Accounts: accounts, Size: 300, Shares: world.Shares{Default: 0.4}})
	for i := range accounts {
		want := map[world.Finding]bool{}
		for _, f := range c.Findings(c.Account(i).ID) {
			if _, ok := queries[f.Rule]; ok {
				want[f] = true
			}
		}
		got := map[world.Finding]bool{}
		for rule, id := range collecttest.Findings(t, queries, maps.Values(collecttest.All(t, aws.New(c.options), c.access(i)).Entities), today) {
			got[world.Finding{Rule: rule, Entity: id}] = true
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("account %d: findings (-world +rules):\n%s", i, diff)
		}
	}
}
