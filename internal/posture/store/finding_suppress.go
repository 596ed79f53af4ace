package store

import (
	"context"
	"slices"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// SuppressAll implements [posture.FindingStore].
func (s *Store) SuppressAll(ctx context.Context, org posture.OrgID, f posture.FindingFilter, sup *posture.Suppression, by string, now time.Time) (matched, changed int, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		found, err := matchingFindings(tx, org, f, now)
		if err != nil {
			return err
		}
		matched = len(found)
		rows, events := suppressionRows(org, found, sup, by, now)
		changed = len(rows)
		return saveSuppressions(tx, rows, events)
	})
	return matched, changed, err
}

// saveSuppressions writes the rows of suppressionRows.
func saveSuppressions(tx *sqldb.Tx, rows, events [][]any) error {
	if len(rows) == 0 {
		return nil
	}
	if _, err := tx.ExecEach(`UPDATE finding SET put_aside = $2, aside_till = $3, mute_rule = $5, updated = $4 WHERE n = $1`, slices.Values(rows)); err != nil {
		return err
	}
	_, err := tx.Load("finding_event", []string{"org", "n", "at", "what", "who"}, slices.Values(events))
	return err
}

// matchingFindings reads and locks the findings that a filter selects.
func matchingFindings(tx *sqldb.Tx, org posture.OrgID, f posture.FindingFilter, now time.Time) ([]storedFinding, error) {
	where, args, _ := findingWhere(tx, org, f, now)
	var found []storedFinding
	for k, err := range sqldb.Each(tx, scanStored, `SELECT `+findingColumns+`, n FROM finding WHERE `+where+` ORDER BY n`+tx.ForUpdate(), args...) {
		if err != nil {
			return nil, err
		}
		if !hasTags(k.finding.Tags, f.Tags) {
			continue
		}
		if len(found) == posture.MaxSuppress {
			return nil, fault.New(fault.Invalid, "more than %d findings match; narrow the filters", posture.MaxSuppress)
		}
		found = append(found, k)
	}
	return found, nil
}

// suppressionRows returns the changes of findings and their history events. A finding
// that is not suppressed is not released.
func suppressionRows(org posture.OrgID, found []storedFinding, sup *posture.Suppression, by string, now time.Time) (rows, events [][]any) {
	what := "released"
	var (
		suppression any
		until       int64
		mute        posture.MuteRuleID
	)
	if sup != nil {
		suppression, until, what, mute = toJSON(sup), suppressedUntil(*sup), "suppressed", sup.MuteRule
	}
	for _, k := range found {
		if sup == nil && k.finding.Suppression == nil {
			continue
		}
		rows = append(rows, []any{k.n, suppression, until, sqldb.Millis(now), string(mute)})
		events = append(events, []any{string(org), k.n, sqldb.Millis(now), what, by})
	}
	return rows, events
}
