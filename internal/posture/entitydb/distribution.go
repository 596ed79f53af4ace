package entitydb

import (
	"fmt"
	"iter"
	"slices"

	"vigil/internal/sqldb"
)

// Distribution is how the tables are spread over the nodes of a Citus cluster. Tables with
// many rows are distributed by account, so that reads and writes of an account need one node.
// The other tables stay on the coordinator.
//
// Citus needs a column to distribute by: account_no. Without a cluster, the tables entity,
// entity_ledger and entity_change do not have this column: their keys contain the number.
//
// Citus has no snapshot over several nodes. The generation of an account is therefore in
// entity_state, on the node of its entities, and not in entity_partition: a reader could
// otherwise see the generation of a commit before its entities.
func Distribution() []sqldb.Distribution {
	const column = "account_no"
	return []sqldb.Distribution{
		{Table: "entity_state", Column: column, Create: `
			CREATE TABLE entity_state (
				account_no BIGINT NOT NULL PRIMARY KEY,
				org        TEXT COLLATE "C" NOT NULL,
				generation BIGINT NOT NULL,
				cells      BIGINT NOT NULL
			);
			INSERT INTO entity_state (account_no, org, generation, cells)
			SELECT account_no, org, generation, cells FROM entity_partition`},
		{Table: "entity", Column: column, Value: fmt.Sprintf("row_id >> %d", accountShift), Key: []string{"row_id", column},
			Shard: `ALTER TABLE %s ALTER COLUMN tokens SET STATISTICS 200, ALTER COLUMN tokens SET (n_distinct = 1000)`},
		{Table: "entity_ledger", Column: column, Value: fmt.Sprintf("id >> %d", ledgerShift), Key: []string{"id", column}},
		{Table: "entity_change", Column: column, Value: fmt.Sprintf("id_hash >> %d", accountShift), Key: []string{"id_hash", "generation", "row_id", column}},
		{Table: "entity_cell", Column: column, Key: []string{"id", column}},
		{Table: "entity_delta", Column: column},
		{Table: "entity_snapshot", Column: column},
		{Table: "entity_coverage", Column: column},
	}
}

// ledgerShift is what the id of a ledger row is shifted by to get the account number.
const ledgerShift = accountShift - ledgerBits

// inAccount returns a condition that confines a statement to the shard of an account. It is
// empty unless the tables are distributed. Statements select rows by ranges of row ids or
// hashes, which contain the account, so the condition is redundant in one database. There it
// would mislead the planner about the number of rows.
func inAccount(tx *sqldb.Tx, args *[]any, accountNo int64) string {
	if !tx.Distributed() {
		return ""
	}
	*args = append(*args, accountNo)
	return fmt.Sprintf(" AND account_no = $%d", len(*args))
}

// inAccounts is inAccount for the accounts of rows.
func inAccounts(tx *sqldb.Tx, args *[]any, rowIDs []int64) string {
	if !tx.Distributed() {
		return ""
	}
	accountNos := make([]int64, len(rowIDs))
	for i, rowID := range rowIDs {
		accountNos[i] = accountOf(rowID)
	}
	slices.Sort(accountNos)
	return " AND account_no IN " + sqldb.List(args, slices.Compact(accountNos))
}

// sameAccount returns a further condition of a join of two tables. It is empty unless
// the tables are distributed, see inAccount.
func sameAccount(tx *sqldb.Tx, left, right string) string {
	if !tx.Distributed() {
		return ""
	}
	return fmt.Sprintf(" AND %s = %s", left, right)
}

// execEach runs a statement for each row of arguments, in the shard of the row's account. The
// first argument of a row must be a number that has the account number in its bits from shift on.
func execEach(tx *sqldb.Tx, text string, shift int, rows iter.Seq[[]any]) error {
	if tx.Distributed() {
		given := 0 // arguments of each row; withAccount appends one
		for row := range rows {
			given = len(row)
			break
		}
		text += fmt.Sprintf(" AND account_no = $%d", given+1)
		rows = withAccount(shift, rows)
	}
	_, err := tx.ExecEach(text, rows)
	return err
}

// load loads rows, with the column account_no if the tables are distributed. The first
// column must be a number that contains the account number in its bits from shift on.
func load(tx *sqldb.Tx, table string, columns []string, shift int, rows iter.Seq[[]any]) error {
	if tx.Distributed() {
		columns, rows = append(slices.Clone(columns), "account_no"), withAccount(shift, rows)
	}
	_, err := tx.Load(table, columns, rows)
	return err
}

// withAccount appends the number of the account to each row.
func withAccount(shift int, rows iter.Seq[[]any]) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for row := range rows {
			if !yield(append(slices.Clone(row), row[0].(int64)>>shift)) {
				return
			}
		}
	}
}

// GenerationTable returns the table with the generation of each account, by account_no
// and org.
func GenerationTable(tx *sqldb.Tx) string {
	if tx.Distributed() {
		return "entity_state"
	}
	return "entity_partition"
}

// readState sets generation and cells of a partition to those in entity_state if the tables
// are distributed. Otherwise the row of the partition already has them.
func readState(tx *sqldb.Tx, p *partition) error {
	if !tx.Distributed() {
		return nil
	}
	return tx.QueryRow(`SELECT generation, cells FROM entity_state WHERE account_no = $1`, p.accountNo).Scan(&p.generation, &p.cells)
}

// saveState saves generation and cells of a partition.
func saveState(tx *sqldb.Tx, accountNo, generation, cells int64) error {
	_, err := tx.Exec(`
		UPDATE `+GenerationTable(tx)+`
		SET generation = $2, cells = $3
		WHERE account_no = $1`, accountNo, generation, cells)
	return err
}
