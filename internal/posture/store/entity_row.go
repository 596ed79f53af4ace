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

// rowWriter writes rows and what they are found by.
//
// SQLite keeps the tokens in a table of its own, which collects changes in
// memory and has to write them out whenever a statement of another kind comes in
// between. So they wait until there are many of them.
type rowWriter struct {
	tx    *sqldb.Tx
	fresh []entityRow // whose tokens are to be written
	stale []entityRow // whose tokens are to be replaced
	gone  []int64     // whose tokens are to be removed
}

// maxWords is how many rows wait for their tokens to be written.
const maxWords = 4096

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
	w.fresh = wait(w.fresh, rows)
	return w.flushMany()
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
	w.stale = wait(w.stale, rows)
	return w.flushMany()
}

// remove removes rows.
func (w *rowWriter) remove(rids []int64) error {
	if len(rids) == 0 {
		return nil
	}
	if w.tx.Dialect() == sqldb.SQLite {
		w.gone = append(w.gone, rids...)
	}
	_, err := w.tx.ExecEach(`DELETE FROM entity WHERE rid = $1`, oneEach(rids))
	return err
}

// wait adds the tokens of rows to those that wait.
func wait(waiting, rows []entityRow) []entityRow {
	for _, r := range rows {
		waiting = append(waiting, entityRow{rid: r.rid, tokens: r.tokens})
	}
	return waiting
}

// flushMany writes tokens if many of them wait.
func (w *rowWriter) flushMany() error {
	if len(w.fresh)+len(w.stale) < maxWords {
		return nil
	}
	return w.flush()
}

// flush writes the tokens that wait.
func (w *rowWriter) flush() error {
	words := func(r entityRow) []any { return []any{r.rid, r.tokens} }
	for _, step := range []struct {
		text string
		n    int
		args iter.Seq[[]any]
	}{
		{`DELETE FROM entity_token WHERE rowid = $1`, len(w.gone), oneEach(w.gone)},
		{`REPLACE INTO entity_token (rowid, tokens) VALUES ($1, $2)`, len(w.stale), argsOf(w.stale, words)},
		{`INSERT INTO entity_token (rowid, tokens) VALUES ($1, $2)`, len(w.fresh), argsOf(w.fresh, words)},
	} {
		if step.n == 0 {
			continue
		}
		if _, err := w.tx.ExecEach(step.text, step.args); err != nil {
			return err
		}
	}
	w.fresh, w.stale, w.gone = w.fresh[:0], w.stale[:0], w.gone[:0]
	return nil
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
