package catalog_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"vigil/frameworks"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/catalog/rulecases"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/aws"
	"vigil/internal/posture/collect/azure"
	builtin "vigil/internal/posture/collect/declared"
	"vigil/internal/posture/collect/gcp"
	"vigil/internal/posture/evaluate"
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
	*rulecases.Runner
	schema *evaluate.Schema
}

// sharedBench returns the bench of all tests, so that the query of a rule is compiled once.
var sharedBench = sync.OnceValue(func() *bench {
	all := declarations()
	return &bench{rulecases.New(builtin.Catalog(), all), catalog.Schema(all)}
})

// build returns the entities of a case and their ids by key.
func (b *bench) build(t *testing.T, e catalog.Entry, c catalog.Case) (catalog.Case, []posture.Entity, map[string]posture.EntityID) {
	t.Helper()
	c, found, ids, err := b.Build(t.Context(), e, c)
	if err != nil {
		t.Fatal(err)
	}
	return c, found, ids
}

// judge evaluates a rule for the entities of a case.
func (b *bench) judge(t *testing.T, e catalog.Entry, c catalog.Case, found []posture.Entity) posture.RuleJudgement {
	t.Helper()
	account, err := b.Account(e, c, found)
	if err != nil {
		t.Fatal(err)
	}
	judged, err := b.Judge(t.Context(), account, e, c)
	if err != nil {
		t.Fatal(err)
	}
	return judged
}

func TestRulesDoWhatTheirCasesShow(t *testing.T) {
	t.Parallel()
	b := sharedBench()
	for _, e := range product(t).Rules {
		t.Run(string(e.ID), func(t *testing.T) {
			t.Parallel()
			for _, c := range e.Cases {
				if err := b.Check(t.Context(), e, c); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestKeysOfAnswersMayNameTheRegion reads two subnets of one name, in two regions, from the
// answers of a case. The keys in violates and notApplicable must then name the region too.
func TestKeysOfAnswersMayNameTheRegion(t *testing.T) {
	t.Parallel()
	b := sharedBench()
	rules := product(t).Rules
	e := rules[slices.IndexFunc(rules, func(e catalog.Entry) bool { return e.ID == "gcp-subnet-private-google-access" })]
	subnet := func(region, purpose string) map[string]any {
		link := "https://www.googleapis.com/compute/v1/projects/acme-prod/regions/" + region + "/subnetworks/one"
		return map[string]any{"subnetworks": []any{map[string]any{"name": "one", "selfLink": link, "purpose": purpose}}}
	}
	both := []string{"europe-west1 one", "us-central1 one"}
	for name, tt := range map[string]struct {
		first, second string // the purposes of the subnets; the rule applies to private ones, not to those of proxies
		keys          catalog.Case
		want          string // in the error
	}{
		"violating":          {"PRIVATE", "PRIVATE", catalog.Case{Violates: both}, ""},
		"not applicable":     {"REGIONAL_MANAGED_PROXY", "REGIONAL_MANAGED_PROXY", catalog.Case{NotApplicable: both}, ""},
		"one of each":        {"PRIVATE", "REGIONAL_MANAGED_PROXY", catalog.Case{Violates: both[:1], NotApplicable: both[1:]}, ""},
		"without the region": {"REGIONAL_MANAGED_PROXY", "REGIONAL_MANAGED_PROXY", catalog.Case{NotApplicable: []string{"one"}}, "use region and name"},
		"another region":     {"PRIVATE", "REGIONAL_MANAGED_PROXY", catalog.Case{Violates: both[:1], NotApplicable: []string{both[1], "asia-east1 one"}}, `there is no GCP.Compute.Subnetwork "asia-east1 one"`},
	} {
		c := tt.keys
		c.Name = name
		c.Answers = map[string]any{"compute/v1/projects/$project/aggregated/subnetworks": map[string]any{"items": map[string]any{
			"regions/europe-west1": subnet("europe-west1", tt.first), "regions/us-central1": subnet("us-central1", tt.second),
		}}}
		if err := b.Check(t.Context(), e, c); tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func objects(raised []posture.Raised) []posture.EntityID {
	var ids []posture.EntityID
	for _, r := range raised {
		ids = append(ids, r.Finding.Object)
	}
	return ids
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
		if !slices.ContainsFunc(e.Cases, func(c catalog.Case) bool { return len(c.NotApplicable) > 0 }) {
			t.Errorf("%s: no case has a resource to which the rule does not apply", e.ID)
		}
	}
	if n < 80 {
		t.Errorf("%d rules restrict the resources that they apply to, want at least 80", n)
	}
}
