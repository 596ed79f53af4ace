package store

import (
	"context"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// retoken writes the tokens of all entities anew, if what they are made of has
// changed since they were written. It goes on where it was interrupted.
func retoken(ctx context.Context, db *sqldb.DB) error {
	s := New(db, nil, nil)
	for more := true; more; {
		if err := db.WriteAlone(ctx, func(tx *sqldb.Tx) (err error) {
			more, err = s.retokenSome(tx)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// retokenSome writes the tokens of some entities anew, and reports whether there
// may be more to write.
func (s *Store) retokenSome(tx *sqldb.Tx) (more bool, err error) {
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
	rows, err := sqldb.Query(tx, scanRow, `SELECT `+rowColumns+` FROM entity WHERE rid >= $1 ORDER BY rid LIMIT $2`, next, maxWords)
	if err != nil {
		return false, err
	}
	if len(rows) == 0 {
		_, err = tx.Exec(`DELETE FROM entity_retoken`)
		return false, err
	}
	if err := s.retokenRows(tx, rows); err != nil {
		return false, err
	}
	_, err = tx.Exec(`UPDATE entity_retoken SET next = $1`, rows[len(rows)-1].rid+1)
	return true, err
}

func (s *Store) retokenRows(tx *sqldb.Tx, rows []entityRow) error {
	homes, err := s.homesOf(tx, rows)
	if err != nil {
		return err
	}
	orgs := map[int64]*tokenizer{}
	for i, row := range rows {
		acct := acctOf(row.rid)
		if orgs[acct] == nil {
			org, err := sqldb.QueryOne(tx, sqldb.Scalar[posture.OrgID], `SELECT org FROM entity_partition WHERE acct = $1`, acct)
			if err != nil {
				return err
			}
			orgs[acct] = newTokenizer(tx.Dialect(), org)
		}
		if rows[i].tokens, err = orgs[acct].of(row.doc, homes[cellOf(row.rid)]); err != nil {
			return err
		}
	}
	if tx.Dialect() == sqldb.Postgres {
		_, err := tx.ExecEach(`UPDATE entity SET tokens = $2 WHERE rid = $1`,
			argsOf(rows, func(r entityRow) []any { return []any{r.rid, numbersOf(r.tokens)} }))
		return err
	}
	w := rowWriter{tx: tx}
	if err := w.index(rows); err != nil {
		return err
	}
	return w.finish()
}
