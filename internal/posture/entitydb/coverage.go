package entitydb

import (
	"context"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// stillCurrent updates the coverage of a scope after a complete collection that found no
// changes. It reports false if no earlier collection, successful or failed, is recorded.
func (s *Store) stillCurrent(tx *sqldb.Tx, scope posture.Scope) (bool, error) {
	if tx.Distributed() {
		return s.stillCurrentInShard(tx, scope)
	}
	n, err := tx.Exec(`
		UPDATE entity_coverage
		SET succeeded = $5, failed = 0, why = '',
			generation = (SELECT generation FROM entity_partition p WHERE p.account_no = entity_coverage.account_no)
		WHERE type = $3 AND scope = $4 AND account_no IN (
			SELECT p.account_no
			FROM entity_partition p JOIN account a ON a.org = p.org AND a.id = p.account
			WHERE p.org = $1 AND p.account = $2)`,
		scope.Org, scope.Account, scope.Type, scope.Region, sqldb.Millis(s.now()))
	return n > 0, err
}

// stillCurrentInShard is stillCurrent for distributed tables. It looks the account up
// first: an UPDATE that runs in a shard cannot join the tables account and
// entity_partition, which are on the coordinator only.
func (s *Store) stillCurrentInShard(tx *sqldb.Tx, scope posture.Scope) (bool, error) {
	p, err := livePartition(tx, scope.Org, scope.Account)
	if err != nil || p.accountNo == 0 {
		if fault.Is(err, fault.NotFound) { // as in stillCurrent: the caller goes on and finds that the account is missing
			err = nil
		}
		return false, err
	}
	n, err := tx.Exec(`
		UPDATE entity_coverage
		SET succeeded = $4, failed = 0, why = '', generation = $5
		WHERE account_no = $1 AND type = $2 AND scope = $3`, p.accountNo, scope.Type, scope.Region, sqldb.Millis(s.now()), p.generation)
	return n > 0, err
}

// recordSuccess records a complete collection of the scope.
func (c *changeSet) recordSuccess() error {
	_, err := c.tx.Exec(`
		INSERT INTO entity_coverage (account_no, type, scope, succeeded, failed, why, generation)
		VALUES ($1, $2, $3, $4, 0, '', $5)
		ON CONFLICT (account_no, type, scope) DO UPDATE
		SET succeeded = excluded.succeeded, failed = 0, why = '', generation = excluded.generation`,
		c.part.accountNo, c.scope.Type, c.scope.Region, c.changedAt, c.generation)
	return err
}

// recordFailure records that the scope could not be read.
func (c *changeSet) recordFailure(reason string) error {
	// PostgreSQL rejects invalid UTF-8 and NUL, which a quoted error may contain.
	reason = strings.ReplaceAll(strings.ToValidUTF8(reason, "?"), "\x00", "?")
	_, err := c.tx.Exec(`
		INSERT INTO entity_coverage (account_no, type, scope, succeeded, failed, why, generation)
		VALUES ($1, $2, $3, 0, $4, $5, 0)
		ON CONFLICT (account_no, type, scope) DO UPDATE
		SET failed = excluded.failed, why = excluded.why`,
		c.part.accountNo, c.scope.Type, c.scope.Region, c.changedAt, reason)
	return err
}

// ScopeFailed implements [posture.EntityStore].
func (s *Store) ScopeFailed(ctx context.Context, scope posture.Scope, reason string) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		c, err := s.change(tx, scope)
		if err != nil {
			return err
		}
		return c.recordFailure(reason)
	})
}

// ForgetCoverage deletes the coverage of an account's scopes in these regions, as if
// they had never been read. Scopes that have entities keep their coverage.
func (s *Store) ForgetCoverage(ctx context.Context, org posture.OrgID, account posture.AccountID, regions []string) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		p, err := livePartition(tx, org, account)
		if err != nil || p.accountNo == 0 {
			return err
		}
		args := []any{p.accountNo}
		scopes := sqldb.List(&args, regions)
		_, err = tx.Exec(`
			DELETE FROM entity_coverage
			WHERE account_no = $1 AND scope IN `+scopes+` AND NOT EXISTS (
				SELECT 1 FROM entity_cell c
				WHERE c.account_no = entity_coverage.account_no AND c.type = entity_coverage.type AND c.scope = entity_coverage.scope AND c.count > 0)`,
			args...)
		return err
	})
}

// Coverage implements [posture.EntityStore].
func (s *Store) Coverage(ctx context.Context, org posture.OrgID, account posture.AccountID) (all []posture.Coverage, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		p, err := livePartition(tx, org, account)
		if err != nil || p.accountNo == 0 {
			return err
		}
		all, err = sqldb.Query(tx, scanCoverage, `
			SELECT type, scope, succeeded, failed, why, generation
			FROM entity_coverage
			WHERE account_no = $1
			ORDER BY type, scope`, p.accountNo)
		if err != nil {
			return err
		}
		return addRegions(tx, p.accountNo, all)
	})
	return all, err
}

func scanCoverage(r sqldb.Row) (c posture.Coverage, err error) {
	var succeeded, failed int64
	err = r.Scan(&c.Type, &c.Region, &succeeded, &failed, &c.Why, &c.Generation)
	c.Succeeded, c.Failed = timeOrZero(succeeded), timeOrZero(failed)
	return c, err
}

// timeOrZero returns the time stored as ms, where 0 stands for never.
func timeOrZero(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return sqldb.Time(ms)
}

// addRegions sets Coverage.Regions, the regions of each scope's entities. They may differ
// from Coverage.Region, the region of the scope.
func addRegions(tx *sqldb.Tx, accountNo int64, all []posture.Coverage) error {
	scan := func(r sqldb.Row) (c cell, err error) {
		err = r.Scan(&c.typ, &c.scope, &c.region)
		return c, err
	}
	for c, err := range sqldb.Each(tx, scan, `
		SELECT type, scope, region
		FROM entity_cell
		WHERE account_no = $1 AND count > 0
		ORDER BY id`, accountNo) {
		if err != nil {
			return err
		}
		for i := range all {
			if all[i].Type == c.typ && all[i].Region == c.scope {
				all[i].Regions = append(all[i].Regions, c.region)
			}
		}
	}
	return nil
}
