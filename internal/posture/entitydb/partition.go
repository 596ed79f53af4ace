package entitydb

import (
	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// A partition is the row of an account that has entities.
type partition struct {
	accountNo  int64
	org        posture.OrgID
	account    posture.AccountID
	provider   posture.Provider
	generation int64
	cells      int64 // ever created; the next one gets this number
}

const partitionColumns = `account_no, org, account, provider, generation, cells`

func scanPartition(r sqldb.Row) (p partition, err error) {
	err = r.Scan(&p.accountNo, &p.org, &p.account, &p.provider, &p.generation, &p.cells)
	return p, err
}

// findPartition returns the partition of an account. It fails with "no row" if the
// account was never collected.
func findPartition(tx *sqldb.Tx, org posture.OrgID, account posture.AccountID) (partition, error) {
	p, err := sqldb.QueryOne(tx, scanPartition, `
		SELECT `+partitionColumns+`
		FROM entity_partition
		WHERE org = $1 AND account = $2`, org, account)
	if err == nil {
		err = readState(tx, &p)
	}
	return p, err
}

// lockPartition locks the entities of an account for this transaction and returns its
// partition, creating it if there is none. It fails with fault.NotFound if the account
// was removed meanwhile, so that none of its entities are stored.
func lockPartition(tx *sqldb.Tx, org posture.OrgID, account posture.AccountID) (partition, error) {
	if err := lockAccount(tx, org, account); err != nil {
		return partition{}, err
	}
	provider, err := sqldb.QueryOne(tx, sqldb.Scalar[posture.Provider], `
		SELECT provider FROM account WHERE org = $1 AND id = $2`, org, account)
	if err != nil {
		return partition{}, noAccount(err, account)
	}
	p, err := findPartition(tx, org, account)
	if sqldb.Missing(err) {
		return newPartition(tx, org, account, provider)
	}
	if err != nil {
		return p, err
	}
	removal, err := removalOf(tx, p.accountNo)
	if err == nil && removal.removedAt != 0 {
		err = fault.New(fault.Unavailable, "the entities that account %q had before it was removed are still being removed; try again later", account)
	}
	return p, err
}

// lockAccount makes this transaction the only one that changes the entities of an
// account.
func lockAccount(tx *sqldb.Tx, org posture.OrgID, account posture.AccountID) error {
	return tx.Lock("entity/" + string(org) + "/" + string(account))
}

// newPartition assigns the next account number.
func newPartition(tx *sqldb.Tx, org posture.OrgID, account posture.AccountID, provider posture.Provider) (partition, error) {
	p := partition{org: org, account: account, provider: provider}
	if err := tx.Lock("entity_partition"); err != nil {
		return p, err
	}
	last, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT coalesce(max(account_no), 0) FROM entity_partition`)
	if err != nil {
		return p, err
	}
	p.accountNo = last + 1
	if p.accountNo >= 1<<accountBits {
		return p, fault.New(fault.Internal, "no account number is left: the database has held the maximum number of accounts")
	}
	_, err = tx.Exec(`
		INSERT INTO entity_partition (account_no, org, account, provider, generation, cells)
		VALUES ($1, $2, $3, $4, 0, 0)`, p.accountNo, p.org, p.account, p.provider)
	if err == nil && tx.Distributed() {
		_, err = tx.Exec(`INSERT INTO entity_state (account_no, org, generation, cells) VALUES ($1, $2, 0, 0)`, p.accountNo, p.org)
	}
	return p, err
}

// A cell is the set of entities of one type, scope and region of an account. The scope
// is the region that the collector was called for; entities of a global scope may be
// in any region.
type cell struct {
	id      int64
	typ     posture.EntityType
	scope   string
	region  string
	made    int64 // entities ever created; the next one gets this number
	count   int64 // entities now
	version int64 // generation of the last change
}

const cellColumns = `id, type, scope, region, made, count, version`

func scanCell(r sqldb.Row) (c cell, err error) {
	err = r.Scan(&c.id, &c.typ, &c.scope, &c.region, &c.made, &c.count, &c.version)
	return c, err
}

// contextIn returns the context of the cell in its account.
func (c cell) contextIn(p partition) cellContext {
	return cellContext{p.account, p.provider, c.typ, c.region}
}

// isCovered reports whether a collection of a scope covers the cell. A type may change
// between collection per region and collection for all regions at once.
func (c cell) isCovered(scope string) bool {
	return scope == posture.Global || c.scope == scope || c.scope == posture.Global && c.region == scope
}

// cellsOf returns the cells of a type.
func cellsOf(tx *sqldb.Tx, accountNo int64, t posture.EntityType) ([]cell, error) {
	return sqldb.Query(tx, scanCell, `
		SELECT `+cellColumns+`
		FROM entity_cell
		WHERE account_no = $1 AND type = $2
		ORDER BY id`, accountNo, t)
}

// livePartition returns the partition of an account, or an empty one if it was never
// collected. While the entities that the account had before its removal are still being
// removed, it returns only the generation, which must not decrease: caches and judgements
// compare it with earlier ones. It fails with fault.NotFound if there is no such account.
func livePartition(tx *sqldb.Tx, org posture.OrgID, account posture.AccountID) (partition, error) {
	_, err := sqldb.QueryOne(tx, sqldb.Scalar[posture.AccountID], `
		SELECT id FROM account WHERE org = $1 AND id = $2`, org, account)
	if err != nil {
		return partition{}, noAccount(err, account)
	}
	p, err := findPartition(tx, org, account)
	if sqldb.Missing(err) {
		return partition{}, nil
	}
	if err != nil {
		return p, err
	}
	removal, err := removalOf(tx, p.accountNo)
	if err != nil {
		return partition{}, err
	}
	if removal.removedAt != 0 { // it was added again and has no entities yet
		return partition{generation: p.generation}, nil
	}
	return p, nil
}
