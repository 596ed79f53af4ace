package store

import (
	"iter"
	"slices"

	"vigil/internal/sqldb"
)

// An entityRow is an entity as it is kept.
type entityRow struct {
	rid     int64
	ekey    int64
	created int64
	updated int64
	doc     []byte
	tokens  []token // when it is written
}

const rowColumns = `rid, ekey, created, updated, doc`

func scanRow(r sqldb.Row) (row entityRow, err error) {
	err = r.Scan(&row.rid, &row.ekey, &row.created, &row.updated, &row.doc)
	return row, err
}

// readRows returns the rows that are there.
func readRows(tx *sqldb.Tx, rids []int64) (map[int64]entityRow, error) {
	found := make(map[int64]entityRow, len(rids))
	for part := range slices.Chunk(rids, 1000) {
		var args []any
		text := `SELECT ` + rowColumns + ` FROM entity WHERE rid IN ` + sqldb.List(&args, part)
		for row, err := range sqldb.Each(tx, scanRow, text, args...) {
			if err != nil {
				return nil, err
			}
			found[row.rid] = row
		}
	}
	return found, nil
}

// insertRows writes rows that are not there.
func insertRows(tx *sqldb.Tx, rows []entityRow) error {
	if len(rows) == 0 {
		return nil
	}
	columns := []string{"rid", "ekey", "created", "updated", "doc"}
	if tx.Dialect() == sqldb.Postgres {
		_, err := tx.Load("entity", append(columns, "tokens"), argsOf(rows, func(r entityRow) []any {
			return []any{r.rid, r.ekey, r.created, r.updated, r.doc, numbers(r.tokens)}
		}))
		return err
	}
	if _, err := tx.Load("entity", columns, argsOf(rows, func(r entityRow) []any {
		return []any{r.rid, r.ekey, r.created, r.updated, r.doc}
	})); err != nil {
		return err
	}
	_, err := tx.Load("entity_token", []string{"rowid", "tokens"}, argsOf(rows, func(r entityRow) []any {
		return []any{r.rid, tokenText(r.tokens)}
	}))
	return err
}

// updateRows replaces rows that are there.
func updateRows(tx *sqldb.Tx, rows []entityRow) error {
	if len(rows) == 0 {
		return nil
	}
	if tx.Dialect() == sqldb.Postgres {
		_, err := tx.ExecEach(`UPDATE entity SET updated = $2, doc = $3, tokens = $4 WHERE rid = $1`,
			argsOf(rows, func(r entityRow) []any { return []any{r.rid, r.updated, r.doc, numbers(r.tokens)} }))
		return err
	}
	if _, err := tx.ExecEach(`UPDATE entity SET updated = $2, doc = $3 WHERE rid = $1`,
		argsOf(rows, func(r entityRow) []any { return []any{r.rid, r.updated, r.doc} })); err != nil {
		return err
	}
	_, err := tx.ExecEach(`UPDATE entity_token SET tokens = $2 WHERE rowid = $1`,
		argsOf(rows, func(r entityRow) []any { return []any{r.rid, tokenText(r.tokens)} }))
	return err
}

// deleteRows removes rows.
func deleteRows(tx *sqldb.Tx, rids []int64) error {
	if len(rids) == 0 {
		return nil
	}
	if tx.Dialect() == sqldb.SQLite {
		if _, err := tx.ExecEach(`DELETE FROM entity_token WHERE rowid = $1`, oneEach(rids)); err != nil {
			return err
		}
	}
	_, err := tx.ExecEach(`DELETE FROM entity WHERE rid = $1`, oneEach(rids))
	return err
}

// deleteSpan removes all rows of a range.
func deleteSpan(tx *sqldb.Tx, s span) error {
	if tx.Dialect() == sqldb.SQLite {
		if _, err := tx.Exec(`DELETE FROM entity_token WHERE rowid BETWEEN $1 AND $2`, s.from, s.to); err != nil {
			return err
		}
	}
	_, err := tx.Exec(`DELETE FROM entity WHERE rid BETWEEN $1 AND $2`, s.from, s.to)
	return err
}

// argsOf yields the arguments of a statement for each row.
func argsOf(rows []entityRow, args func(entityRow) []any) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for _, r := range rows {
			if !yield(args(r)) {
				return
			}
		}
	}
}

// numbers returns tokens as PostgreSQL takes them.
func numbers(ts []token) []int64 {
	all := make([]int64, len(ts))
	for i, t := range ts {
		all[i] = int64(t)
	}
	return all
}
