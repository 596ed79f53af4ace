package dbtest_test

import (
	"context"
	"testing"

	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestTemplateIsCopied checks that copies have the tables and rows of the migration, which
// runs once, and that a database that exists is not replaced.
func TestTemplateIsCopied(t *testing.T) {
	t.Parallel()
	migrations := 0
	template := dbtest.NewTemplate(func(ctx context.Context, db *sqldb.DB) error {
		migrations++
		return db.Write(ctx, func(tx *sqldb.Tx) error {
			_, err := tx.Exec(`CREATE TABLE word (text TEXT NOT NULL); INSERT INTO word VALUES ('first')`)
			return err
		})
	})
	count := func(db *sqldb.DB) (n int64) {
		t.Helper()
		err := db.Read(t.Context(), func(tx *sqldb.Tx) (err error) {
			n, err = sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT count(*) FROM word`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for range 2 {
		dsn := dbtest.SQLite(t)
		template.CopyTo(t, dsn)
		db := dbtest.Open(t, dsn)
		if n := count(db); n != 1 {
			t.Errorf("a copy has %d rows, want 1", n)
		}
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec(`INSERT INTO word VALUES ('second')`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		template.CopyTo(t, dsn)
		if n := count(dbtest.Open(t, dsn)); n != 2 {
			t.Errorf("after copying to the existing database it has %d rows, want 2", n)
		}
	}
	if migrations != 1 {
		t.Errorf("the migration ran %d times, want once", migrations)
	}
	template.CopyTo(t, "postgres://server.invalid/database") // must do nothing: there are no templates for PostgreSQL
}
