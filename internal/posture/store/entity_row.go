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
	tokens  any // as the database takes them, when it is written
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
			return []any{r.rid, r.ekey, r.created, r.updated, r.doc, r.tokens}
		}))
		return err
	}
	if _, err := w.tx.Load("entity", columns, argsOf(rows, func(r entityRow) []any {
		return []any{r.rid, r.ekey, r.created, r.updated, r.doc}
	})); err != nil {
		return err
	}
	return w.index(rows, true)
}

// update replaces rows that are there.
func (w *rowWriter) update(rows []entityRow) error {
	if len(rows) == 0 {
		return nil
	}
	if w.tx.Dialect() == sqldb.Postgres {
		_, err := w.tx.ExecEach(`UPDATE entity SET updated = $2, doc = $3, tokens = $4 WHERE rid = $1`,
			argsOf(rows, func(r entityRow) []any { return []any{r.rid, r.updated, r.doc, r.tokens} }))
		return err
	}
	if _, err := w.tx.ExecEach(`UPDATE entity SET updated = $2, doc = $3 WHERE rid = $1`,
		argsOf(rows, func(r entityRow) []any { return []any{r.rid, r.updated, r.doc} })); err != nil {
		return err
	}
	return w.index(rows, false)
}

// remove removes rows.
func (w *rowWriter) remove(rids []int64) error {
	if len(rids) == 0 {
		return nil
	}
	if w.tx.Dialect() == sqldb.SQLite {
		for _, rid := range rids {
			w.words = append(w.words, wordChange{rid: rid})
		}
	}
	_, err := w.tx.ExecEach(`DELETE FROM entity WHERE rid = $1`, oneEach(rids))
	return err
}

// index takes the words of rows that are new, or are replaced. When too many wait
// it writes them: who has so many shares the transaction with nobody, whose words
// would have to come before.
func (w *rowWriter) index(rows []entityRow, fresh bool) error {
	for _, r := range rows {
		w.words = append(w.words, wordChange{rid: r.rid, words: r.tokens, fresh: fresh})
	}
	if len(w.words) < maxWords {
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

// deleteSpan removes all rows of a range.
func deleteSpan(tx *sqldb.Tx, s span) error {
	if tx.Dialect() == sqldb.SQLite {
		tx.Leave(s, wordIndex{})
	}
	_, err := tx.Exec(`DELETE FROM entity WHERE rid BETWEEN $1 AND $2`, s.from, s.to)
	return err
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
