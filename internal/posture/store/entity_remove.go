package store

import (
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// removeEntities removes the entities of an account. What happened to them is
// remembered, and so are the numbers that were used.
func removeEntities(tx *sqldb.Tx, org posture.OrgID, account posture.AccountID, at int64) error {
	if err := tx.Lock("entity/" + string(org) + "/" + string(account)); err != nil {
		return err
	}
	p, err := findPartition(tx, org, account)
	if sqldb.Missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	rows := acctSpan(p.acct)
	if _, err := tx.Exec(`
		INSERT INTO entity_change (ekey, generation, rid, at, gone, created, body)
		SELECT ekey, CAST($1 AS BIGINT), rid, CAST($2 AS BIGINT), TRUE, created, doc
		FROM entity
		WHERE rid BETWEEN $3 AND $4`, p.generation+1, at, rows.from, rows.to); err != nil {
		return err
	}
	if _, err := tx.Exec(`DELETE FROM entity WHERE rid BETWEEN $1 AND $2`, rows.from, rows.to); err != nil {
		return err
	}
	if tx.Dialect() == sqldb.SQLite {
		tx.Leave(wordRemoval{p, p.generation + 1}, wordIndex{})
	}
	return emptyPartition(tx, p)
}

// emptyPartition makes everything that is counted and cached say that an account
// has no entities.
func emptyPartition(tx *sqldb.Tx, p partition) error {
	cells, err := sqldb.Query(tx, scanCell, `SELECT `+cellColumns+` FROM entity_cell WHERE acct = $1 AND count > 0`, p.acct)
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
	rows := acctSpan(p.acct)
	for _, step := range []struct {
		text string
		args []any
	}{
		{`DELETE FROM entity_ledger WHERE id BETWEEN $1 AND $2`, []any{rows.from >> ledgerBits, rows.to >> ledgerBits}},
		{`DELETE FROM entity_delta WHERE acct = $1`, []any{p.acct}},
		{`DELETE FROM entity_snapshot WHERE acct = $1`, []any{p.acct}},
		{`DELETE FROM entity_coverage WHERE acct = $1`, []any{p.acct}},
		{`UPDATE entity_cell SET count = 0, version = $2 WHERE acct = $1`, []any{p.acct, p.generation + 1}},
		{`UPDATE entity_partition SET generation = $2 WHERE acct = $1`, []any{p.acct, p.generation + 1}},
	} {
		if _, err := tx.Exec(step.text, step.args...); err != nil {
			return err
		}
	}
	return addTally(tx, p.org, less)
}
