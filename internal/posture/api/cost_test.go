package api

import (
	"context"
	"testing"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/walk"
)

// costly is an entity store for which every aggregation reads the given number of rows and
// counts 7 entities.
type costly struct {
	posture.EntityStore
	rows int
}

func (c costly) AggregationCost(context.Context, posture.OrgID, posture.EntityFilter, map[string]posture.Aggregation) (int, error) {
	return c.rows, nil
}

func (c costly) Aggregate(context.Context, posture.OrgID, posture.EntityFilter, map[string]posture.Aggregation) (int, map[string]posture.Buckets, error) {
	return 7, nil, nil
}

// TestExpensiveAggregationsAreLimited aggregates while another query holds the only slot of
// the organisation.
func TestExpensiveAggregationsAreLimited(t *testing.T) {
	t.Parallel()
	org := posture.OrgID("a")
	a := &API{
		Org:    func(context.Context) posture.OrgID { return org },
		Walker: walk.New(nil, nil, walk.Options{Admission: walk.Admission{Total: 8, Org: 1, Caller: 8, Wait: time.Millisecond}}),
	}
	leave, err := a.Walker.Admit(t.Context(), "a", "another token")
	if err != nil {
		t.Fatal(err)
	}
	count := func(rows int) error {
		a.Entities = costly{rows: rows}
		out, err := a.aggregateEntities(t.Context(), aggregationsIn{})
		if err == nil && out.TotalCount != 7 {
			t.Errorf("total %d, want 7", out.TotalCount)
		}
		return err
	}
	if err := count(expensiveRows - 1); err != nil {
		t.Errorf("a cheap aggregation: %v", err)
	}
	if err := count(expensiveRows); !fault.Is(err, fault.Limited) {
		t.Errorf("an expensive aggregation beside another query: %v, want that it is limited", err)
	}
	org = "b"
	if err := count(expensiveRows); err != nil {
		t.Errorf("an expensive aggregation of another organisation: %v", err)
	}
	org = "a"
	leave()
	if err := count(expensiveRows); err != nil {
		t.Errorf("an expensive aggregation after the other query: %v", err)
	}
}
