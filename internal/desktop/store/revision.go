package store

import (
	"context"

	"github.com/google/uuid"

	"vigil/internal/desktop"
	"vigil/internal/sqldb"
)

// Revision returns the id of the store and its revision.
func (s *Store) Revision(ctx context.Context) (desktop.Revision, error) {
	return one(ctx, s, "revision", func(r sqldb.Row) (v desktop.Revision, err error) {
		err = r.Scan(&v.Store, &v.Number, &v.At)
		return v, err
	}, `SELECT id, number, changed_at FROM desktop_revision`)
}

// createRevision creates the only row of the table, with a new id for the store, unless the row exists.
func createRevision(ctx context.Context, db *sqldb.DB) error {
	return db.Exclusive(ctx, func(tx *sqldb.Tx) error {
		n, err := sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT count(*) FROM desktop_revision`)
		if err != nil || n > 0 {
			return err
		}
		_, err = tx.Exec(`INSERT INTO desktop_revision (id, number, changed_at) VALUES ($1, 0, 0)`, uuid.NewString())
		return err
	})
}

// change runs one statement that changes the administrators' configuration, and
// increments the revision if the statement affected a row.
func (s *Store) change(ctx context.Context, text string, args ...any) (n int64, err error) {
	err = s.db.Write(ctx, func(tx *sqldb.Tx) error {
		n, err = tx.Exec(text, args...)
		if err != nil || n == 0 {
			return err
		}
		return s.incrementRevision(tx)
	})
	return n, err
}

func (s *Store) incrementRevision(tx *sqldb.Tx) error {
	_, err := tx.Exec(`UPDATE desktop_revision SET number = number + 1, changed_at = $1`, millis(s.now()))
	return err
}
