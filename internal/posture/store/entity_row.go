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
	tokens  []token // that it is found by, when it is written
	stale   []token // that it was found by before: SQLite asks for them when it is written or removed
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

// rowWriter writes rows and what they are found by: in PostgreSQL a column of the
// row, in SQLite a table of its own.
type rowWriter struct {
	tx    *sqldb.Tx
	words []wordChange // that wait to be written
}

// insert writes rows that are not there.
func (w *rowWriter) insert(rows []entityRow) error {
	if len(rows) == 0 {
		return nil
	}
	columns := []string{"rid", "ekey", "created", "updated", "doc"}
	if w.tx.Dialect() == sqldb.Postgres {
		_, err := w.tx.Load("entity", append(columns, "tokens"), argsOf(rows, func(r entityRow) []any {
			return []any{r.rid, r.ekey, r.created, r.updated, r.doc, numbersOf(r.tokens)}
		}))
		return err
	}
	if _, err := w.tx.Load("entity", columns, argsOf(rows, func(r entityRow) []any {
		return []any{r.rid, r.ekey, r.created, r.updated, r.doc}
	})); err != nil {
		return err
	}
	return w.index(rows)
}

// update replaces rows that are there.
func (w *rowWriter) update(rows []entityRow) error {
	if len(rows) == 0 {
		return nil
	}
	if w.tx.Dialect() == sqldb.Postgres {
		_, err := w.tx.ExecEach(`UPDATE entity SET updated = $2, doc = $3, tokens = $4 WHERE rid = $1`,
			argsOf(rows, func(r entityRow) []any { return []any{r.rid, r.updated, r.doc, numbersOf(r.tokens)} }))
		return err
	}
	if _, err := w.tx.ExecEach(`UPDATE entity SET updated = $2, doc = $3 WHERE rid = $1`,
		argsOf(rows, func(r entityRow) []any { return []any{r.rid, r.updated, r.doc} })); err != nil {
		return err
	}
	return w.index(rows)
}

// remove removes rows.
func (w *rowWriter) remove(rows []entityRow) error {
	if len(rows) == 0 {
		return nil
	}
	if _, err := w.tx.ExecEach(`DELETE FROM entity WHERE rid = $1`, argsOf(rows, func(r entityRow) []any { return []any{r.rid} })); err != nil {
		return err
	}
	if w.tx.Dialect() == sqldb.Postgres {
		return nil
	}
	return w.index(rows)
}

// index takes what becomes of the words of rows. When too many wait it writes
// them, unless there may be words of others that have to come before.
func (w *rowWriter) index(rows []entityRow) error {
	for _, r := range rows {
		gone, come := differ(r.stale, r.tokens)
		if len(gone)+len(come) > 0 {
			w.words = append(w.words, wordChange{r.rid, len(r.stale) > 0, len(r.tokens) > 0, gone, come})
		}
	}
	if len(w.words) < maxWords || !w.tx.Alone() {
		return nil
	}
	err := indexWords(w.tx, w.words)
	w.words = w.words[:0]
	return err
}

// finish leaves the words that wait to the end of the transaction.
func (w *rowWriter) finish() error {
	if len(w.words) > 0 {
		w.tx.Leave(w.words, wordIndex{})
	}
	return nil
}

// argsOf yields the arguments of a statement for each row.
func argsOf[T any](rows []T, args func(T) []any) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for _, r := range rows {
			if !yield(args(r)) {
				return
			}
		}
	}
}
