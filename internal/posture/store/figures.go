package store

import (
	"context"
	"time"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// Figures are metrics over all organisations.
type Figures struct {
	Open       map[posture.FindingLevel]int // open findings, including suppressed ones
	Suppressed map[posture.FindingLevel]int // open findings that are suppressed
	Accounts   map[AccountGroup]int         // accounts by cloud and state
	Overdue    int                          // accounts whose collection is late by more than OverdueAfter

	// OldestRead is the longest time since an account's last completed collection, 0 without
	// collections. An account whose stored runs all failed counts as collected posture.History
	// ago, unless it is younger.
	OldestRead time.Duration
}

// An AccountGroup identifies the accounts of a cloud that are in one state.
type AccountGroup struct {
	Provider posture.Provider
	State    AccountState
}

// An AccountState says whether collections of an account start by themselves.
type AccountState string

// States of accounts.
const (
	AccountScheduled AccountState = "scheduled"
	AccountPaused    AccountState = "paused" // by its settings or the plan of its organisation
	AccountUnlinked  AccountState = "draft"  // it has no credential, or was not validated yet
)

// AccountStates are all states.
var AccountStates = []AccountState{AccountScheduled, AccountPaused, AccountUnlinked}

// OverdueAfter is how late a collection may start before its account counts as overdue.
const OverdueAfter = time.Hour

// Figures returns the current metrics.
func (s *Store) Figures(ctx context.Context, now time.Time) (f Figures, err error) {
	f = Figures{Open: map[posture.FindingLevel]int{}, Suppressed: map[posture.FindingLevel]int{}, Accounts: map[AccountGroup]int{}}
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		if err := countInto(tx, f.Open, `SELECT level, sum(total) FROM finding_place WHERE status = 'Open' GROUP BY level`); err != nil {
			return err
		}
		var args []any
		suppressed := isSuppressed(&args, now)
		if err := countInto(tx, f.Suppressed, `SELECT level, count(*) FROM finding WHERE `+suppressed+` AND status = 'Open' GROUP BY level`, args...); err != nil {
			return err
		}
		if err := countAccounts(tx, f.Accounts); err != nil {
			return err
		}
		// An account that was unlinked keeps its schedule, but is not collected: see DueAccounts.
		if f.Overdue, err = sqldb.QueryOne(tx, sqldb.Scalar[int], `
			SELECT count(*)
			FROM schedule s
			JOIN account a ON a.org = s.org AND a.id = s.account
			WHERE s.due < $1 AND a.status <> 'draft'`, sqldb.Millis(now.Add(-OverdueAfter))); err != nil {
			return err
		}
		// Runs older than posture.History are deleted. If none of the remaining runs of an account was completed, the
		// account counts as collected at $1, which is posture.History ago. It does not count at all if it was created later.
		oldest, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `
			SELECT coalesce(min(coalesce(completed, $1)), 0)
			FROM (
				SELECT a.created, max(CASE WHEN r.status IN ('Completed', 'CompletedWithErrors') THEN r.ended END) AS completed
				FROM schedule s
				JOIN account a ON a.org = s.org AND a.id = s.account
				JOIN run r ON r.org = s.org AND r.account = s.account AND r.ended > 0
				WHERE a.status <> 'draft'
				GROUP BY s.org, s.account, a.created
			) newest
			WHERE completed IS NOT NULL OR created < $1`, sqldb.Millis(now.Add(-posture.History)))
		if err == nil && oldest > 0 {
			f.OldestRead = now.Sub(sqldb.Time(oldest))
		}
		return err
	})
	return f, err
}

// countAccounts counts the accounts of each cloud and state.
func countAccounts(tx *sqldb.Tx, target map[AccountGroup]int) error {
	type count struct {
		group AccountGroup
		n     int
	}
	counts, err := sqldb.Query(tx, func(row sqldb.Row) (c count, err error) {
		err = row.Scan(&c.group.Provider, &c.group.State, &c.n)
		return c, err
	}, `
		SELECT provider, state, count(*)
		FROM (
			SELECT a.provider,
				CASE WHEN a.status = 'draft' THEN 'draft' WHEN coalesce(a.paused, p.paused, FALSE) THEN 'paused' ELSE 'scheduled' END AS state
			FROM account a
			LEFT JOIN collection_plan p ON p.org = a.org
		) stated
		GROUP BY provider, state`)
	for _, c := range counts {
		target[c.group] = c.n
	}
	return err
}

// countInto reads rows of a name and a count into a map.
func countInto[T ~string](tx *sqldb.Tx, target map[T]int, text string, args ...any) error {
	type count struct {
		name T
		n    int
	}
	counts, err := sqldb.Query(tx, func(row sqldb.Row) (c count, err error) {
		err = row.Scan(&c.name, &c.n)
		return c, err
	}, text, args...)
	for _, c := range counts {
		target[c.name] = c.n
	}
	return err
}
