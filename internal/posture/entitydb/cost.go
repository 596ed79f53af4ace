package entitydb

import (
	"context"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// AggregationCost implements [posture.EntityStore]. It does not estimate how many entities
// match conditions on names, properties and tags: the bound is what their accounts, types
// and regions have.
func (s *Store) AggregationCost(ctx context.Context, org posture.OrgID, f posture.EntityFilter, aggregations map[string]posture.Aggregation) (rows int, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		sel, err := s.selectEntities(tx, org, f)
		if err != nil || sel.empty {
			return err
		}
		passes := 0 // over the selected entities
		for _, a := range aggregations {
			if sel.plan != nil || !usesOnlyCells(a) {
				passes++
			}
		}
		if sel.plan != nil {
			passes = max(passes, 1) // the total
		}
		if passes == 0 {
			return nil
		}
		sel.plan = nil
		n, err := sel.count()
		rows = n * passes
		return err
	})
	return rows, err
}
