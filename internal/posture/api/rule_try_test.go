package api

import (
	"context"
	"testing"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/rulebook"
)

// failingRules is a store whose rules cannot be read.
type failingRules struct{ rulebook.Store }

func (failingRules) RuleGeneration(context.Context, posture.OrgID) (int64, error) {
	return 0, fault.New(fault.Unavailable, "the database is not available")
}

// TestCheckRuleReportsFailures checks that a failure of the database is not reported as
// an error in the query.
func TestCheckRuleReportsFailures(t *testing.T) {
	t.Parallel()
	a := &API{
		Org:  func(context.Context) posture.OrgID { return "a" },
		Book: &rulebook.Book{Catalog: &catalog.Catalog{}, Store: failingRules{}},
	}
	if out, err := a.checkRule(t.Context(), boundQuery{Query: "g.V()", RuleID: "r"}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%+v, %v, want that the database is not available", out, err)
	}
}
