package entitydb

import (
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// RemoveAccount removes the entities of an account at a time, given in
// milliseconds. Their change logs stay, and their row ids are not used again.
func RemoveAccount(tx *sqldb.Tx, ref posture.AccountRef, at int64) error {
	if err := lockAccount(tx, ref.Org, ref.Account); err != nil {
		return err
	}
	p, err := findPartition(tx, ref.Org, ref.Account)
	if sqldb.Missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	rows := accountSpan(p.accountNo)
	if _, err := tx.Exec(`
		INSERT INTO entity_change (id_hash, generation, row_id, at, gone, created, body)
		SELECT id_hash, CAST($1 AS BIGINT), row_id, CAST($2 AS BIGINT), TRUE, created, doc
		FROM entity
		WHERE row_id BETWEEN $3 AND $4`, p.generation+1, at, rows.from, rows.to); err != nil {
		return err
	}
	if _, err := tx.Exec(`DELETE FROM entity WHERE row_id BETWEEN $1 AND $2`, rows.from, rows.to); err != nil {
		return err
	}
	if tx.Dialect() == sqldb.SQLite {
		tx.Defer(accountIndexRemoval{p, p.generation + 1}, ftsIndex{})
	}
	return emptyPartition(tx, p)
}

// emptyPartition resets counts, ledger, deltas, snapshot and coverage of an account
// without entities.
func emptyPartition(tx *sqldb.Tx, p partition) error {
	cells, err := sqldb.Query(tx, scanCell, `SELECT `+cellColumns+` FROM entity_cell WHERE account_no = $1 AND count > 0`, p.accountNo)
	if err != nil {
		return err
	}
	less := map[posture.EntityType]map[string]int64{}
	for _, c := range cells {
		if less[c.typ] == nil {
			less[c.typ] = map[string]int64{}
		}
		less[c.typ][c.region] -= c.count
	}
	rows := accountSpan(p.accountNo)
	for _, step := range []struct {
		text string
		args []any
	}{
		{`DELETE FROM entity_ledger WHERE id BETWEEN $1 AND $2`, []any{rows.from >> ledgerBits, rows.to >> ledgerBits}},
		{`DELETE FROM entity_delta WHERE account_no = $1`, []any{p.accountNo}},
		{`DELETE FROM entity_snapshot WHERE account_no = $1`, []any{p.accountNo}},
		{`DELETE FROM entity_coverage WHERE account_no = $1`, []any{p.accountNo}},
		{`UPDATE entity_cell SET count = 0, version = $2 WHERE account_no = $1`, []any{p.accountNo, p.generation + 1}},
		{`UPDATE entity_partition SET generation = $2 WHERE account_no = $1`, []any{p.accountNo, p.generation + 1}},
	} {
		if _, err := tx.Exec(step.text, step.args...); err != nil {
			return err
		}
	}
	return addTally(tx, p.org, less)
}
