package store

import (
	"context"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// Figures are what an operator watches of all organisations together.
type Figures struct {
	Open       map[posture.FindingLevel]int // open findings, suppressed ones included
	Suppressed map[posture.FindingLevel]int // open findings that are suppressed
	Accounts   map[posture.Provider]int     // accounts that are collected
	Overdue    int                          // of them, those whose collection is late by more than OverdueAfter
	OldestRead time.Duration                // since the last completed collection of the account that waits longest for one; 0 when none was collected
}

// OverdueAfter is how late a collection may begin before its account is overdue.
const OverdueAfter = time.Hour

// Figures counts findings and accounts.
func (s *Store) Figures(ctx context.Context, now time.Time) (f Figures, err error) {
	f = Figures{Open: map[posture.FindingLevel]int{}, Suppressed: map[posture.FindingLevel]int{}, Accounts: map[posture.Provider]int{}}
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		if err := countInto(tx, f.Open, `SELECT level, sum(total) FROM finding_place WHERE status = 'Open' GROUP BY level`); err != nil {
			return err
		}
		if err := countInto(tx, f.Suppressed, `SELECT level, count(*) FROM finding WHERE aside_till <> 0 AND aside_till > $1 AND status = 'Open' GROUP BY level`, sqldb.Millis(now)); err != nil {
			return err
		}
		if err := countInto(tx, f.Accounts, `SELECT a.provider, count(*) FROM schedule s JOIN account a ON a.org = s.org AND a.id = s.account GROUP BY a.provider`); err != nil {
			return err
		}
		if f.Overdue, err = sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT count(*) FROM schedule WHERE due < $1`, sqldb.Millis(now.Add(-OverdueAfter))); err != nil {
			return err
		}
		oldest, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `
			SELECT coalesce(min(last), 0)
			FROM (
				SELECT max(r.ended) AS last
				FROM schedule s
				JOIN run r ON r.org = s.org AND r.account = s.account
				WHERE r.status IN ('Completed', 'CompletedWithErrors')
				GROUP BY s.org, s.account
			) newest`)
		if err == nil && oldest > 0 {
			f.OldestRead = now.Sub(sqldb.Time(oldest))
		}
		return err
	})
	return f, err
}

// countInto reads rows of a name and a count.
func countInto[T ~string](tx *sqldb.Tx, into map[T]int, text string, args ...any) error {
	type count struct {
		name T
		n    int
	}
	counts, err := sqldb.Query(tx, func(row sqldb.Row) (c count, err error) { return c, row.Scan(&c.name, &c.n) }, text, args...)
	for _, c := range counts {
		into[c.name] = c.n
	}
	return err
}
