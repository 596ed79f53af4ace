package entitydb

import (
	"context"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// AggregationCost implements [posture.EntityStore]. The cost is an upper bound: it counts
// all entities in the accounts, types and regions of the filter, also those that the other
// conditions of the filter exclude.
func (s *Store) AggregationCost(ctx context.Context, org posture.OrgID, f posture.EntityFilter, aggregations map[string]posture.Aggregation) (rows int, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		sel, err := s.selectEntities(tx, org, f)
		if err != nil || sel.empty {
			return err
		}
		passes := 0 // over the selected entities; counts of whole cells need none
		for _, a := range aggregations {
			if sel.plan != nil || !usesOnlyCells(a) {
				passes++
			}
		}
		if sel.plan != nil {
			passes = max(passes, 1) // the total needs one
		}
		if passes == 0 {
			return nil
		}
		sel.plan = nil // so that count adds up the counts of whole cells
		n, err := sel.count()
		rows = n * passes
		return err
	})
	return rows, err
}
