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
		if !slices.ContainsFunc(e.Cases, func(c catalog.Case) bool { return len(c.NotApplicable) > 0 }) && !strings.Contains(e.Query.Text, "').not(out('") {
			t.Errorf("%s: no case has a resource to which the rule does not apply", e.ID)
		}
	}
	if n < 80 {
		t.Errorf("%d rules restrict the resources that they apply to", n)
	}
}
