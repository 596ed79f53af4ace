package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"vigil/internal/posture"
	"vigil/internal/posture/entitydb"
	"vigil/internal/sqldb"
)

// Pulse returns version tokens that change with an organisation's data. It reads only a
// few index entries and per-account rows.
func (s *Store) Pulse(ctx context.Context, org posture.OrgID) (p posture.Pulse, err error) {
	last := int64(0)
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		for _, each := range []struct {
			target *string
			times  bool // whether the first number is a time
			text   string
		}{
			{&p.Findings, true, `SELECT updated, 0 FROM finding WHERE org = $1 ORDER BY updated DESC LIMIT 1`},
			{&p.Entities, false, `SELECT CAST(coalesce(sum(generation), 0) AS BIGINT), count(*) FROM ` + entitydb.GenerationTable(tx) + ` WHERE org = $1`},
			{&p.Rules, false, `SELECT generation, 0 FROM rule_generation WHERE org = $1`},
			// The CASE returns the latest of the three times.
			{&p.Accounts, true, `
				SELECT coalesce(max(CASE WHEN updated > status_since AND updated > stream_since THEN updated
					WHEN status_since > stream_since THEN status_since ELSE stream_since END), 0), count(*)
				FROM account WHERE org = $1`},
			{&p.Collections, true, `SELECT coalesce(max(updated), 0), count(*) FROM run WHERE org = $1`},
		} {
			numbers, err := sqldb.Query(tx, func(row sqldb.Row) (n [2]int64, err error) {
				err = row.Scan(&n[0], &n[1])
				return n, err
			}, each.text, org)
			if err != nil {
				return fmt.Errorf("read the pulse: %w", err)
			}
			var mark []string
			for _, n := range numbers {
				mark = append(mark, strconv.FormatInt(n[0], 36)+"."+strconv.FormatInt(n[1], 36))
				if each.times {
					last = max(last, n[0])
				}
			}
			*each.target = strings.Join(mark, ".")
		}
		return nil
	})
	if last > 0 {
		p.LastChange = sqldb.Time(last)
	}
	return p, err
}
