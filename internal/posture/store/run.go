package store

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/notify"
	"vigil/internal/sqldb"
)

const runColumns = `id, account, provider, scope, status, started, ended, updated, collectors, done, units, entities, reason`

func scanRun(row sqldb.Row) (posture.Run, error) {
	var (
		r                       posture.Run
		scope, collectors       string
		started, ended, updated int64
	)
	err := row.Scan(&r.ID, &r.Account, &r.Provider, &scope, &r.Status, &started, &ended, &updated, &collectors, &r.Done, &r.Units, &r.Entities, &r.Reason)
	if err != nil {
		return r, err
	}
	r.Start, r.Updated = sqldb.Time(started), sqldb.Time(updated)
	if ended != 0 {
		r.End = sqldb.Time(ended)
	}
	if err := fromJSON(scope, &r.Scope); err != nil {
		return r, err
	}
	err = fromJSON(collectors, &r.Collectors)
	return r, err
}

// endOf returns the column value of a run's end, 0 while it is running.
func endOf(r posture.Run) int64 {
	if r.End.IsZero() {
		return 0
	}
	return sqldb.Millis(r.End)
}

// StartRun implements [posture.RunStore].
func (s *Store) StartRun(ctx context.Context, org posture.OrgID, r posture.Run, lease time.Time) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		a, err := account(tx, org, r.Account)
		if err != nil {
			return err
		}
		// A unique index allows one run of an account that has not ended.
		n, err := tx.Exec(`
			INSERT INTO run (org, id, account, provider, scope, status, started, ended, updated, collectors, done, units, entities, reason, lease, stop)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, FALSE)
			ON CONFLICT DO NOTHING`,
			org, r.ID, r.Account, r.Provider, toJSON(r.Scope), posture.RunStarted, sqldb.Millis(r.Start), 0, sqldb.Millis(r.Updated),
			toJSON(r.Collectors), r.Done, r.Units, r.Entities, r.Reason, sqldb.Millis(lease))
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.New(fault.Conflict, "a collection of cloud account %q is in progress", r.Account)
		}
		if err := planNext(tx, org, a, r.Start); err != nil {
			return err
		}
		return s.jobs.Collect(tx, org, r)
	})
}

// Run implements [posture.RunStore].
func (s *Store) Run(ctx context.Context, org posture.OrgID, id string) (r posture.Run, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		r, err = sqldb.QueryOne(tx, scanRun, `SELECT `+runColumns+` FROM run WHERE org = $1 AND id = $2`, org, id)
		return notFoundIfMissing(err, "collection %q was not found", id)
	})
	return r, err
}

// Runs implements [posture.RunStore].
func (s *Store) Runs(ctx context.Context, org posture.OrgID, f posture.RunFilter, p posture.Page) (page []posture.Run, total int, err error) {
	args := []any{org, sqldb.Millis(f.Since)}
	where := "org = $1 AND started >= $2"
	if f.Provider != "" {
		args = append(args, f.Provider)
		where += fmt.Sprintf(" AND provider = $%d", len(args))
	}
	if f.Account != "" {
		args = append(args, f.Account)
		where += fmt.Sprintf(" AND account = $%d", len(args))
	}
	if len(f.Accounts) > 0 {
		where += " AND lower(account) IN " + sqldb.List(&args, sqldb.Lower(sqldb.Strings(f.Accounts)))
	}
	if !f.Before.IsZero() {
		args = append(args, sqldb.Millis(f.Before))
		where += fmt.Sprintf(" AND started < $%d", len(args))
	}
	if len(f.Statuses) > 0 {
		where += " AND status IN " + sqldb.List(&args, sqldb.Strings(f.Statuses))
	}
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		total, err = sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT count(*) FROM run WHERE `+where, args...)
		if err != nil {
			return err
		}
		text := `SELECT ` + runColumns + ` FROM run WHERE ` + where
		if p.After != "" {
			started, id, _ := strings.Cut(p.After, "/")
			at, err := strconv.ParseInt(started, 10, 64)
			if err != nil {
				return fault.New(fault.Invalid, "the page does not exist")
			}
			args = append(args, at, id)
			text += fmt.Sprintf(" AND (started, id) < ($%d, $%d)", len(args)-1, len(args))
		}
		text += " ORDER BY started DESC, id DESC"
		if p.Size > 0 {
			args = append(args, p.Size)
			text += fmt.Sprintf(" LIMIT $%d", len(args))
		}
		page, err = sqldb.Query(tx, scanRun, text, args...)
		return err
	})
	return page, total, err
}

// Schedules implements [posture.RunStore].
func (s *Store) Schedules(ctx context.Context, org posture.OrgID, only posture.AccountID) (map[posture.AccountID]posture.Schedule, error) {
	all := map[posture.AccountID]posture.Schedule{}
	args, where := []any{org}, "org = $1"
	if only != "" {
		args, where = append(args, only), where+" AND account = $2"
	}
	err := s.db.Read(ctx, func(tx *sqldb.Tx) error {
		for r, err := range sqldb.Each(tx, scanRun, `
			SELECT `+runColumns+`
			FROM (SELECT run.*, row_number() OVER (PARTITION BY account ORDER BY started DESC, id DESC) AS place FROM run WHERE `+where+`) newest
			WHERE place = 1`, args...) {
			if err != nil {
				return err
			}
			all[r.Account] = posture.Schedule{Last: r}
		}
		type planned struct {
			account posture.AccountID
			due     int64
		}
		// An account that was unlinked keeps its row in schedule, but is not collected.
		for p, err := range sqldb.Each(tx, func(row sqldb.Row) (p planned, err error) {
			err = row.Scan(&p.account, &p.due)
			return p, err
		}, `
			SELECT account, due
			FROM schedule
			WHERE `+where+` AND account NOT IN (SELECT id FROM account WHERE org = $1 AND status = 'draft')`, args...) {
			if err != nil {
				return err
			}
			found := all[p.account]
			found.Next = sqldb.Time(p.due)
			all[p.account] = found
		}
		return nil
	})
	return all, err
}

// errRunOver reports that a run has ended, or was removed with its account.
func errRunOver(id string) error { return fault.New(fault.NotFound, "collection %q has ended", id) }

// RenewRun implements [posture.RunStore].
func (s *Store) RenewRun(ctx context.Context, org posture.OrgID, r posture.Run, lease time.Time) (stop bool, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(`
			UPDATE run
			SET updated = $3, collectors = $4, done = $5, units = $6, entities = $7, lease = $8
			WHERE org = $1 AND id = $2 AND status = 'Started'`,
			org, r.ID, sqldb.Millis(r.Updated), toJSON(r.Collectors), r.Done, r.Units, r.Entities, sqldb.Millis(lease))
		if err != nil {
			return err
		}
		if n == 0 {
			return errRunOver(r.ID)
		}
		stop, err = sqldb.QueryOne(tx, sqldb.Scalar[bool], `SELECT stop FROM run WHERE org = $1 AND id = $2`, org, r.ID)
		return err
	})
	return stop, err
}

// EndRun implements [posture.RunStore].
func (s *Store) EndRun(ctx context.Context, org posture.OrgID, r posture.Run, change func(posture.OnboardingTx, posture.Account) (posture.Account, error)) error {
	return s.Onboard(ctx, org, func(t posture.OnboardingTx) error {
		tx := t.(*onboardTx).tx
		n, err := tx.Exec(`
			UPDATE run
			SET status = $3, ended = $4, updated = $5, collectors = $6, done = $7, units = $8, entities = $9, reason = $10
			WHERE org = $1 AND id = $2 AND status = 'Started'`,
			org, r.ID, r.Status, endOf(r), sqldb.Millis(r.Updated), toJSON(r.Collectors), r.Done, r.Units, r.Entities, r.Reason)
		if err != nil {
			return err
		}
		if n == 0 {
			return errRunOver(r.ID)
		}
		a, err := t.Account(r.Account)
		if fault.Is(err, fault.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := planNext(tx, org, a, r.End); err != nil {
			return err
		}
		if a, err = change(t, a); err != nil {
			return err
		}
		if err := t.SaveAccount(a); err != nil {
			return err
		}
		if r.Status == posture.RunFailed || r.Status == posture.RunTimeout {
			failed := notify.Event{Kind: notify.CollectionFailed, At: r.Updated, Account: r.Account, Detail: cmp.Or(r.Reason, string(r.Status))}
			if err := recordEvents(tx, org, []notify.Event{failed}); err != nil {
				return err
			}
		}
		return s.jobs.Judge(tx, org, r.Account)
	})
}

// StopRun implements [posture.RunStore].
func (s *Store) StopRun(ctx context.Context, org posture.OrgID, id posture.AccountID, run string) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(`UPDATE run SET stop = TRUE WHERE org = $1 AND account = $2 AND id = $3 AND status = 'Started'`, org, id, run)
		if err == nil && n == 0 {
			return errRunOver(run)
		}
		return err
	})
}

// ExpiredRuns implements [posture.RunStore].
func (s *Store) ExpiredRuns(ctx context.Context, now time.Time) (expired map[string]posture.OrgID, err error) {
	expired = map[string]posture.OrgID{}
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		for row, err := range sqldb.Each(tx, scanPair, `SELECT id, org FROM run WHERE status = 'Started' AND lease < $1`, sqldb.Millis(now)) {
			if err != nil {
				return err
			}
			expired[row[0]] = posture.OrgID(row[1])
		}
		return nil
	})
	return expired, err
}

func scanPair(r sqldb.Row) (p [2]string, err error) {
	err = r.Scan(&p[0], &p[1])
	return p, err
}

// DueAccounts implements [posture.RunStore]. Organisations take turns, so that one with
// many accounts does not delay the others.
func (s *Store) DueAccounts(ctx context.Context, now time.Time, limit int) (due []posture.AccountRef, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		for row, err := range sqldb.Each(tx, scanPair, `
			SELECT org, account
			FROM (
				SELECT s.org, s.account, s.due, row_number() OVER (PARTITION BY s.org ORDER BY s.due, s.account) AS place
				FROM schedule s
				JOIN account a ON a.org = s.org AND a.id = s.account
				WHERE s.due <= $1 AND a.status <> 'draft') due
			ORDER BY place, due, org, account
			LIMIT $2`, sqldb.Millis(now), limit) {
			if err != nil {
				return err
			}
			due = append(due, posture.AccountRef{Org: posture.OrgID(row[0]), Account: posture.AccountID(row[1])})
		}
		return nil
	})
	return due, err
}

// ForgetRuns implements [posture.RunStore].
func (s *Store) ForgetRuns(ctx context.Context, before time.Time) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`DELETE FROM run WHERE started < $1 AND status <> 'Started'`, sqldb.Millis(before))
		return err
	})
}

// abandonRun ends the run of a removed account, so that it does not block a run when
// the account is added again. Its worker notices at the next renewal of the lease.
func abandonRun(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID, now time.Time) error {
	_, err := tx.Exec(`
		UPDATE run
		SET status = $3, ended = $4, updated = $4, reason = 'the account was removed'
		WHERE org = $1 AND account = $2 AND status = 'Started'`, org, id, posture.RunFailed, sqldb.Millis(now))
	return err
}
