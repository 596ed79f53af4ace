package entitydb

import (
	"iter"
	"slices"

	"vigil/internal/sqldb"
)

// An entityRow is a row of table entity, with the tokens to index.
type entityRow struct {
	rowID     int64
	idHash    int64
	created   int64
	updated   int64
	doc       []byte
	tokens    []token // to index; set only when the row is written
	oldTokens []token // indexed now; SQLite needs them to update or remove the row
}

const rowColumns = `row_id, id_hash, created, updated, doc`

func scanRow(r sqldb.Row) (row entityRow, err error) {
	err = r.Scan(&row.rowID, &row.idHash, &row.created, &row.updated, &row.doc)
	return row, err
}

// readRows returns the rows with the given ids, all of one account, omitting ids that
// do not exist.
func readRows(tx *sqldb.Tx, rowIDs []int64) (map[int64]entityRow, error) {
	found := make(map[int64]entityRow, len(rowIDs))
	for part := range slices.Chunk(rowIDs, 1000) {
		var args []any
		text := `SELECT ` + rowColumns + ` FROM entity WHERE row_id IN ` + sqldb.List(&args, part) + inAccount(tx, &args, accountOf(part[0]))
		for row, err := range sqldb.Each(tx, scanRow, text, args...) {
			if err != nil {
				return nil, err
			}
			found[row.rowID] = row
		}
	}
	return found, nil
}

// rowWriter writes rows and their tokens: PostgreSQL keeps tokens in a column with a
// GIN index, SQLite in a full-text (FTS5) table.
type rowWriter struct {
	tx      *sqldb.Tx
	pending []indexChange // of the FTS5 table
}

// insert writes new rows.
func (w *rowWriter) insert(rows []entityRow) error {
	if len(rows) == 0 {
		return nil
	}
	columns := []string{"row_id", "id_hash", "created", "updated", "doc"}
	if w.tx.Dialect() == sqldb.Postgres {
		return load(w.tx, "entity", append(columns, "tokens"), accountShift, argsOf(rows, func(r entityRow) []any {
			return []any{r.rowID, r.idHash, r.created, r.updated, r.doc, numbersOf(r.tokens)}
		}))
	}
	if _, err := w.tx.Load("entity", columns, argsOf(rows, func(r entityRow) []any {
		return []any{r.rowID, r.idHash, r.created, r.updated, r.doc}
	})); err != nil {
		return err
	}
	return w.index(rows)
}

// update replaces existing rows.
func (w *rowWriter) update(rows []entityRow) error {
	if len(rows) == 0 {
		return nil
	}
	if w.tx.Dialect() == sqldb.Postgres {
		return execEach(w.tx, `UPDATE entity SET updated = $2, doc = $3, tokens = $4 WHERE row_id = $1`, accountShift,
			argsOf(rows, func(r entityRow) []any { return []any{r.rowID, r.updated, r.doc, numbersOf(r.tokens)} }))
	}
	if _, err := w.tx.ExecEach(`UPDATE entity SET updated = $2, doc = $3 WHERE row_id = $1`,
		argsOf(rows, func(r entityRow) []any { return []any{r.rowID, r.updated, r.doc} })); err != nil {
		return err
	}
	return w.index(rows)
}

// remove removes rows.
func (w *rowWriter) remove(rows []entityRow) error {
	if len(rows) == 0 {
		return nil
	}
	if err := execEach(w.tx, `DELETE FROM entity WHERE row_id = $1`, accountShift, argsOf(rows, func(r entityRow) []any { return []any{r.rowID} })); err != nil {
		return err
	}
	if w.tx.Dialect() == sqldb.Postgres {
		return nil
	}
	return w.index(rows)
}

// index collects the changes of the FTS5 table. When there are many it applies them,
// unless another writer of the shared transaction may have deferred changes that must
// be applied before.
func (w *rowWriter) index(rows []entityRow) error {
	for _, r := range rows {
		removed, added := differ(r.oldTokens, r.tokens)
		if len(removed)+len(added) > 0 {
			w.pending = append(w.pending, indexChange{r.rowID, len(r.oldTokens) > 0, len(r.tokens) > 0, removed, added})
		}
	}
	if len(w.pending) < maxIndexChanges || !w.tx.Exclusive() {
		return nil
	}
	err := applyIndexChanges(w.tx, w.pending)
	w.pending = w.pending[:0]
	return err
}

// finish defers the collected changes to the end of the transaction.
func (w *rowWriter) finish() error {
	if len(w.pending) > 0 {
		w.tx.Defer(w.pending, ftsIndex{})
	}
	return nil
}

// argsOf yields the arguments of a statement, row by row.
func argsOf[T any](rows []T, args func(T) []any) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for _, r := range rows {
			if !yield(args(r)) {
				return
			}
		}
	}
}
