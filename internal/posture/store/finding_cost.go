package store

import (
	"context"
	"slices"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// FindingAggregationCost implements [posture.FindingStore]. It multiplies the number of
// passes over findings by the number of findings that match the conditions on counted
// fields: a pass reads at most these.
func (s *Store) FindingAggregationCost(ctx context.Context, org posture.OrgID, f posture.FindingFilter, aggregations map[string]posture.Aggregation, now time.Time) (rows int, err error) {
	fields, err := checkAggregations(aggregations)
	if err != nil || len(f.IDs)+len(f.Objects) > 0 { // an index finds the few findings that are listed
		return 0, err
	}
	counted := posture.FindingFilter{
		Services: f.Services, Levels: f.Levels, Accounts: f.Accounts, Providers: f.Providers, Regions: f.Regions, Statuses: f.Statuses, Rules: f.Rules,
	}
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		_, _, dims := findingWhere(tx, org, f, now)
		if f.Suppressed != nil && !*f.Suppressed {
			dims = without(dims, "aside_till") // counted as all minus the suppressed ones, which are few
		}
		passes := 0
		if len(f.Tags) > 0 || !isCounted(dims) {
			passes++ // counts the total
		}
		for _, a := range aggregations {
			passes += uncountedLevels(a, dims, fields, len(f.Tags) > 0)
		}
		if passes == 0 {
			return nil
		}
		n, err := countFindings(tx, org, counted, now)
		rows = n * passes
		return err
	})
	return rows, err
}

// uncountedLevels returns how many levels of an aggregation are not answered from the
// tables of sums. above are the columns of the filter and of the levels above; tags says
// that the filter selects by tags.
func uncountedLevels(a posture.Aggregation, above []string, fields map[string]string, tags bool) int {
	n := 0
	columns := append(slices.Clone(above), fields[fieldName(a.Of)])
	if tags || !isCounted(columns) {
		n++
	}
	for _, sub := range a.Sub {
		n += uncountedLevels(sub, columns, fields, tags)
	}
	return n
}
