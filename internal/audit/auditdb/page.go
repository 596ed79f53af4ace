package auditdb

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"vigil/internal/audit"
	"vigil/internal/sqldb"
)

// Page implements [audit.Store].
func (s *Store) Page(ctx context.Context, f audit.Filter) (page []audit.Record, err error) {
	where, args := conditions(f)
	args = append(args, f.Limit)
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		page, err = sqldb.Query(tx, scanRecord, `
			SELECT body
			FROM audit_record
			WHERE `+where+`
			ORDER BY number DESC
			LIMIT $`+fmt.Sprint(len(args)), args...)
		return err
	})
	return page, err
}

// conditions returns only the conditions that the filter needs, so that the
// query planner can use an index.
func conditions(f audit.Filter) (string, []any) {
	where, args := []string{"org_id = $1"}, []any{f.Org}
	add := func(enabled bool, condition string, value any) {
		if enabled {
			args = append(args, value)
			where = append(where, condition+" $"+fmt.Sprint(len(args)))
		}
	}
	add(f.Operation != "", "operation =", f.Operation)
	add(f.Actor != "", "actor =", f.Actor)
	if f.Target != "" {
		args = append(args, audit.SearchTarget(f.Target))
		where = append(where, fmt.Sprintf("number IN (SELECT number FROM audit_target WHERE org_id = $1 AND target = $%d)", len(args)))
	}
	add(f.Outcome != "", "outcome =", string(f.Outcome))
	add(!f.From.IsZero(), "at >=", sqldb.Millis(f.From))
	add(!f.To.IsZero(), "at <", sqldb.Millis(f.To))
	add(f.Before > 0, "number <", f.Before)
	return strings.Join(where, "\n			  AND "), args
}

func scanRecord(r sqldb.Row) (rec audit.Record, err error) {
	var body string
	if err := r.Scan(&body); err != nil {
		return rec, err
	}
	err = json.Unmarshal([]byte(body), &rec)
	return rec, err
}
