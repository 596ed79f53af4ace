package gcp_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/posture/collect/collecttest"
	simgcp "vigil/internal/sim/gcp"
	"vigil/internal/sim/world"
)

// TestProductRulesFindExpectedFlaws runs the rules of the product over the collected entities and
// compares the findings with the flaws of the simulation.
func TestProductRulesFindExpectedFlaws(t *testing.T) {
	t.Parallel()
	queries := collecttest.Queries(t, "gcp")
	maps.DeleteFunc(queries, func(id string, _ collecttest.Query) bool { // the simulation has no expected findings for these
		_, known := judgements[id]
		return !known
	})
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
				got := map[world.Finding]bool{}
				for rule, id := range collecttest.Findings(t, queries, maps.Values(collecttest.All(t, c.source(), c.access(i)).Entities), today) {
					got[world.Finding{Rule: rule, Entity: id}] = true
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("findings (-world +rules):\n%s", diff)
				}
			}
		})
	}
}
