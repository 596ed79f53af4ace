package entitydb

import (
	"fmt"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// The rows of a small account are removed in the transaction that removes the account.
// Those of a large account are hidden in that transaction and removed in batches
// afterwards, so that other writers do not wait.
const (
	removedAtOnce = 2000
	removalBatch  = 1000
)

// A removal is the record of an account whose rows are being removed.
type removal struct {
	accountNo  int64
	removedAt  int64 // 0 if there is no removal
	generation int64
}

// removalOf returns the removal of an account; its time is 0 if there is none.
func removalOf(tx *sqldb.Tx, accountNo int64) (removal, error) {
	r, err := sqldb.QueryOne(tx, func(r sqldb.Row) (v removal, err error) {
		err = r.Scan(&v.accountNo, &v.removedAt, &v.generation)
		return v, err
	}, `SELECT account_no, at, generation FROM entity_removal WHERE account_no = $1`, accountNo)
	if sqldb.Missing(err) {
		return removal{}, nil
	}
	return r, err
}

// notInRemoval returns a further condition of a query for rows of an account: the account
// is not being removed. It saves the statement of removalOf where tables are not distributed.
func notInRemoval(_ *sqldb.Tx, args *[]any, accountNo int64) string {
	*args = append(*args, accountNo)
	return fmt.Sprintf(" AND NOT EXISTS (SELECT 1 FROM entity_removal WHERE account_no = $%d)", len(*args))
}

// accountsInRemoval returns the accounts of an organisation whose rows are being removed.
func accountsInRemoval(tx *sqldb.Tx, org posture.OrgID) ([]int64, error) {
	return sqldb.Query(tx, sqldb.Scalar[int64], `SELECT account_no FROM entity_removal WHERE org = $1 ORDER BY account_no`, org)
}

// RemoveAccount removes the entities of an account at a time, given in milliseconds.
// Their change logs stay, and their row ids are not reused.
//
// It returns true if the entities are only hidden, because there are many or because
// later is set. Then [RemoveSome] must be called until it returns false.
func RemoveAccount(tx *sqldb.Tx, ref posture.AccountRef, at int64, later bool) (pending bool, err error) {
	if err := lockAccount(tx, ref.Org, ref.Account); err != nil {
		return false, err
	}
	p, err := findPartition(tx, ref.Org, ref.Account)
	if sqldb.Missing(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if earlier, err := removalOf(tx, p.accountNo); err != nil || earlier.removedAt != 0 {
		return true, err // the account was added again and has no new entities
	}
	count, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT CAST(coalesce(sum(count), 0) AS BIGINT) FROM entity_cell WHERE account_no = $1`, p.accountNo)
	if err != nil {
		return false, err
	}
	current := removal{p.accountNo, at, p.generation + 1}
	pending = later || count > removedAtOnce
	if pending {
		_, err = tx.Exec(`INSERT INTO entity_removal (account_no, org, account, at, generation) VALUES ($1, $2, $3, $4, $5)`,
			p.accountNo, p.org, p.account, current.removedAt, current.generation)
	} else {
		_, err = removeRows(tx, current, removedAtOnce)
	}
	if err != nil {
		return false, err
	}
	return pending, emptyPartition(tx, p)
}

// Removing reports whether former entities of an account are still being removed.
func Removing(tx *sqldb.Tx, ref posture.AccountRef) (bool, error) {
	return sqldb.QueryOne(tx, sqldb.Scalar[bool], `SELECT EXISTS (SELECT 1 FROM entity_removal WHERE org = $1 AND account = $2)`, ref.Org, ref.Account)
}

// RemoveSome removes a batch of the rows that [RemoveAccount] has hidden. It returns
// false if none are left.
func RemoveSome(tx *sqldb.Tx, ref posture.AccountRef) (more bool, err error) {
	if err := lockAccount(tx, ref.Org, ref.Account); err != nil {
		return false, err
	}
	p, err := findPartition(tx, ref.Org, ref.Account)
	if sqldb.Missing(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	current, err := removalOf(tx, p.accountNo)
	if err != nil || current.removedAt == 0 {
		return false, err
	}
	n, err := removeRows(tx, current, removalBatch)
	if err != nil || n == removalBatch {
		return true, err
	}
	_, err = tx.Exec(`DELETE FROM entity_removal WHERE account_no = $1`, p.accountNo)
	return false, err
}

// removeRows moves up to limit rows of an account to the change log.
func removeRows(tx *sqldb.Tx, current removal, limit int) (int, error) {
	in := accountSpan(current.accountNo)
	args := []any{in.from, in.to, limit}
	where := inAccount(tx, &args, current.accountNo)
	rows, err := sqldb.Query(tx, scanRow, `
		SELECT `+rowColumns+`
		FROM entity
		WHERE row_id BETWEEN $1 AND $2`+where+`
		ORDER BY row_id
		LIMIT $3`, args...)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	if err := load(tx, "entity_change", changeColumns, accountShift, argsOf(rows, func(r entityRow) []any {
		return []any{r.idHash, current.generation, r.rowID, current.removedAt, true, r.created, r.doc}
	})); err != nil {
		return 0, err
	}
	if tx.Dialect() == sqldb.SQLite { // removing a row from the FTS5 index requires its tokens
		s := New(nil) // tokenize uses the transaction, not the database
		if err := s.tokenize(tx, rows); err != nil {
			return 0, err
		}
		for i := range rows {
			rows[i].oldTokens, rows[i].tokens = rows[i].tokens, nil
		}
	}
	w := rowWriter{tx: tx}
	if err := w.remove(rows); err != nil {
		return 0, err
	}
	return len(rows), w.finish()
}

// emptyPartition resets counts, ledger, deltas, snapshot, coverage and feed of an account
// whose entities have been removed or hidden.
func emptyPartition(tx *sqldb.Tx, p partition) error {
	cells, err := sqldb.Query(tx, scanCell, `SELECT `+cellColumns+` FROM entity_cell WHERE account_no = $1 AND count > 0`, p.accountNo)
	if err != nil {
		return err
	}
	deltas := map[posture.EntityType]map[string]int64{}
	for _, c := range cells {
		if deltas[c.typ] == nil {
			deltas[c.typ] = map[string]int64{}
		}
		deltas[c.typ][c.region] -= c.count
	}
	rows := accountSpan(p.accountNo)
	ledgerArgs := []any{rows.from >> ledgerBits, rows.to >> ledgerBits}
	where := inAccount(tx, &ledgerArgs, p.accountNo)
	for _, step := range []struct {
		text string
		args []any
	}{
		{`DELETE FROM entity_ledger WHERE id BETWEEN $1 AND $2` + where, ledgerArgs},
		{`DELETE FROM entity_delta WHERE account_no = $1`, []any{p.accountNo}},
		{`DELETE FROM entity_snapshot WHERE account_no = $1`, []any{p.accountNo}},
		{`DELETE FROM entity_coverage WHERE account_no = $1`, []any{p.accountNo}},
		{`DELETE FROM entity_commit WHERE account_no = $1`, []any{p.accountNo}},
		{`UPDATE entity_cell SET count = 0, version = $2 WHERE account_no = $1`, []any{p.accountNo, p.generation + 1}},
	} {
		if _, err := tx.Exec(step.text, step.args...); err != nil {
			return err
		}
	}
	if err := saveState(tx, p.accountNo, p.generation+1, p.cells); err != nil {
		return err
	}
	return addTally(tx, p.org, deltas)
}
