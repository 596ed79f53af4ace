package dbcopy_test

import (
	"context"
	"strings"
	"testing"

	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbcopy"
	"vigil/internal/sqldb/dbtest"
)

func write(t *testing.T, db *sqldb.DB, text string, args ...any) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(text, args...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestWrittenRowsAreCountedBeforeAConflict changes three rows of the source. The first one is so
// large that it is a batch of its own. The others exchange a unique value, which fails the second
// batch at first.
func TestWrittenRowsAreCountedBeforeAConflict(t *testing.T) {
	t.Parallel()
	const create = `CREATE TABLE thing (id BIGINT PRIMARY KEY, code TEXT NOT NULL UNIQUE, body TEXT NOT NULL)`
	from, to := dbtest.Open(t, dbtest.SQLite(t)), dbtest.Open(t, dbtest.Postgres(t))
	write(t, from, create)
	write(t, from, `INSERT INTO thing (id, code, body) VALUES (1, 'a', ''), (2, 'b', ''), (3, 'c', ''), (4, 'd', '')`)
	written := func() int64 {
		t.Helper()
		reports, err := dbcopy.Copy(t.Context(), from, to, dbcopy.Options{
			Source: "test",
			Migrate: func(ctx context.Context, db *sqldb.DB) error {
				return db.Write(ctx, func(tx *sqldb.Tx) error {
					_, err := tx.Exec(strings.Replace(create, "TABLE", "TABLE IF NOT EXISTS", 1))
					return err
				})
			},
		})
		if err != nil || len(reports) != 1 {
			t.Fatalf("%d reports, %v; want one", len(reports), err)
		}
		return reports[0].Written
	}
	if n := written(); n != 4 {
		t.Errorf("the first copy reports %d written rows, want 4", n)
	}
	write(t, from, `UPDATE thing SET body = $1 WHERE id = 1`, strings.Repeat("x", 5<<20))
	write(t, from, `UPDATE thing SET code = 'moving' WHERE id = 2`)
	write(t, from, `UPDATE thing SET code = 'b' WHERE id = 3`)
	write(t, from, `UPDATE thing SET code = 'c' WHERE id = 2`)
	if n := written(); n != 3 {
		t.Errorf("the second copy reports %d written rows, want 3", n)
	}
	if n := written(); n != 0 {
		t.Errorf("the third copy reports %d written rows, want 0", n)
	}
}
