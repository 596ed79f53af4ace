package entitydb

import (
	"context"

	"vigil/internal/sqldb"
)

// reindex rebuilds the tokens of all entities if a migration asked for it, because the
// format of tokens changed. It resumes after an interruption.
func reindex(ctx context.Context, db *sqldb.DB) error {
	s := New(db)
	for more := true; more; {
		if err := db.WriteExclusive(ctx, func(tx *sqldb.Tx) (err error) {
			more, err = s.reindexBatch(tx)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// reindexBatch rebuilds the tokens of one batch of entities and reports whether there
// may be more.
func (s *Store) reindexBatch(tx *sqldb.Tx) (more bool, err error) {
	if err := tx.Lock("entity_retoken"); err != nil {
		return false, err
	}
	next, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT next FROM entity_retoken`)
	if sqldb.Missing(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if next == 0 && tx.Dialect() == sqldb.SQLite {
		if _, err := tx.Exec(`INSERT INTO entity_token (entity_token) VALUES ('delete-all')`); err != nil {
			return false, err
		}
	}
	rows, err := sqldb.Query(tx, scanRow, `SELECT `+rowColumns+` FROM entity WHERE row_id >= $1 ORDER BY row_id LIMIT $2`, next, maxIndexChanges)
	if err != nil {
		return false, err
	}
	if len(rows) == 0 {
		_, err = tx.Exec(`DELETE FROM entity_retoken`)
		return false, err
	}
	if err := s.reindexRows(tx, rows); err != nil {
		return false, err
	}
	_, err = tx.Exec(`UPDATE entity_retoken SET next = $1`, rows[len(rows)-1].rowID+1)
	return true, err
}

func (s *Store) reindexRows(tx *sqldb.Tx, rows []entityRow) error {
	if err := s.tokenize(tx, rows); err != nil {
		return err
	}
	if tx.Dialect() == sqldb.Postgres {
		return execEach(tx, `UPDATE entity SET tokens = $2 WHERE row_id = $1`, accountShift,
			argsOf(rows, func(r entityRow) []any { return []any{r.rowID, numbersOf(r.tokens)} }))
	}
	w := rowWriter{tx: tx}
	if err := w.index(rows); err != nil {
		return err
	}
	return w.finish()
}
