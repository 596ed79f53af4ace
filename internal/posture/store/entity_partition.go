package store

import (
	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// A partition is what is kept of one account.
type partition struct {
	acct       int64
	org        posture.OrgID
	account    posture.AccountID
	provider   posture.Provider
	generation int64
	cells      int64
}

const partitionColumns = `acct, org, account, provider, generation, cells`

func scanPartition(r sqldb.Row) (p partition, err error) {
	err = r.Scan(&p.acct, &p.org, &p.account, &p.provider, &p.generation, &p.cells)
	return p, err
}

// findPartition returns the partition of an account. It fails as QueryOne does
// when nothing was ever collected.
func findPartition(tx *sqldb.Tx, org posture.OrgID, account posture.AccountID) (partition, error) {
	return sqldb.QueryOne(tx, scanPartition, `
		SELECT `+partitionColumns+`
		FROM entity_partition
		WHERE org = $1 AND account = $2`, org, account)
}

// lockPartition makes this transaction the only one that changes the entities of
// an account, and returns its partition, which it makes if there is none. It
// fails with fault.NotFound without the account, so that nothing is kept of one
// that was removed meanwhile.
func lockPartition(tx *sqldb.Tx, org posture.OrgID, account posture.AccountID) (partition, error) {
	if err := tx.Lock("entity/" + string(org) + "/" + string(account)); err != nil {
		return partition{}, err
	}
	provider, err := sqldb.QueryOne(tx, sqldb.Scalar[posture.Provider], `
		SELECT provider FROM account WHERE org = $1 AND id = $2`, org, account)
	if err != nil {
		return partition{}, missing(err, "cloud account %q was not found", account)
	}
	p, err := findPartition(tx, org, account)
	if !sqldb.Missing(err) {
		return p, err
	}
	return newPartition(tx, org, account, provider)
}

// newPartition gives an account its number.
func newPartition(tx *sqldb.Tx, org posture.OrgID, account posture.AccountID, provider posture.Provider) (partition, error) {
	p := partition{org: org, account: account, provider: provider}
	if err := tx.Lock("entity_partition"); err != nil {
		return p, err
	}
	last, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT coalesce(max(acct), 0) FROM entity_partition`)
	if err != nil {
		return p, err
	}
	if p.acct = last + 1; p.acct >= 1<<acctBits {
		return p, fault.New(fault.Internal, "there is no number left for another account")
	}
	_, err = tx.Exec(`
		INSERT INTO entity_partition (acct, org, account, provider, generation, cells)
		VALUES ($1, $2, $3, $4, 0, 0)`, p.acct, p.org, p.account, p.provider)
	return p, err
}

// A cell holds the entities of one type, scope and region of an account.
type cell struct {
	id      int64
	typ     posture.EntityType
	scope   string
	region  string
	made    int64
	count   int64
	version int64
}

const cellColumns = `id, type, scope, region, made, count, version`

func scanCell(r sqldb.Row) (c cell, err error) {
	err = r.Scan(&c.id, &c.typ, &c.scope, &c.region, &c.made, &c.count, &c.version)
	return c, err
}

// home returns what the cell and its account say of an entity.
func (c cell) home(p partition) home { return home{p.account, p.provider, c.typ, c.region} }

// covered reports whether a unit that reads a scope reads the cell. A collector
// may once have run in each region and now once for all of them, or the other
// way around.
func (c cell) covered(scope string) bool {
	return scope == posture.Global || c.scope == scope || c.scope == posture.Global && c.region == scope
}

// cellsOf returns the cells of a type.
func cellsOf(tx *sqldb.Tx, acct int64, t posture.EntityType) ([]cell, error) {
	return sqldb.Query(tx, scanCell, `
		SELECT `+cellColumns+`
		FROM entity_cell
		WHERE acct = $1 AND type = $2
		ORDER BY id`, acct, t)
}

// livePartition returns the partition of an account. It fails with
// fault.NotFound without the account, and is empty for one that was never
// collected.
func livePartition(tx *sqldb.Tx, org posture.OrgID, account posture.AccountID) (partition, error) {
	_, err := sqldb.QueryOne(tx, sqldb.Scalar[posture.AccountID], `
		SELECT id FROM account WHERE org = $1 AND id = $2`, org, account)
	if err != nil {
		return partition{}, missing(err, "cloud account %q was not found", account)
	}
	p, err := findPartition(tx, org, account)
	if sqldb.Missing(err) {
		return partition{}, nil
	}
	return p, err
}
