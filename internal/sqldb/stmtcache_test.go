package sqldb_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestCachedStatements runs the same texts many times, with Exec, ExecEach, Query and Each.
func TestCachedStatements(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		write := func(f func(tx *sqldb.Tx) error) {
			t.Helper()
			if err := db.Write(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}
		write(func(tx *sqldb.Tx) error {
			_, err := tx.Exec(`CREATE TABLE a (k BIGINT PRIMARY KEY, v TEXT); CREATE TABLE b (k BIGINT)`)
			return err
		})
		for i := range 10 {
			write(func(tx *sqldb.Tx) error {
				if _, err := tx.Exec(`INSERT INTO a (k, v) VALUES ($1, $2)`, i, fmt.Sprint(i)); err != nil {
					return err
				}
				_, err := tx.ExecEach(`INSERT INTO b (k) VALUES ($1)`, func(yield func([]any) bool) { yield([]any{i}) })
				return err
			})
			err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(`INSERT INTO a (k, v) VALUES ($1, $2)`, i, "again")
				return err
			})
			if !errors.Is(err, sqldb.ErrUnique) {
				t.Fatalf("the same row twice: %v, want %v", err, sqldb.ErrUnique)
			}
			got, err := read(t, db)
			if err != nil || len(got) != i+1 || got[i] != fmt.Sprint(i) {
				t.Fatalf("round %d: %v, %v", i, got, err)
			}
		}

		// A loop that ends early releases its statement.
		for range 5 {
			err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
				for v, err := range sqldb.Each(tx, sqldb.Scalar[string], `SELECT v FROM a ORDER BY k`) {
					if v != "0" || err != nil {
						return fmt.Errorf("first row is %q: %w", v, err)
					}
					break
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}

		// Cached statements work after a schema change.
		write(func(tx *sqldb.Tx) error {
			_, err := tx.Exec(`ALTER TABLE a ADD COLUMN w BIGINT`)
			return err
		})
		if got, err := read(t, db); err != nil || len(got) != 10 {
			t.Errorf("after a change of the table: %v, %v", got, err)
		}
	})
}

func read(t *testing.T, db *sqldb.DB) (got []string, err error) {
	err = db.Read(t.Context(), func(tx *sqldb.Tx) error {
		got, err = sqldb.Query(tx, sqldb.Scalar[string], `SELECT v FROM a ORDER BY k`)
		return err
	})
	return got, err
}

// TestManyDifferentStatements evicts statements, on SQLite while another one of the same connection is
// in use.
func TestManyDifferentStatements(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		starts := []int{0, 100, 200, 300}
		const outer = `VALUES (0), (100), (200), (300)`
		read := func(tx *sqldb.Tx) error {
			// SQLite prepares a statement when its text is seen again.
			if _, err := sqldb.Query(tx, sqldb.Scalar[int], outer); err != nil {
				return err
			}
			if tx.Dialect() == sqldb.Postgres { // it cannot run a statement while another one returns rows
				for _, start := range starts {
					if err := add(tx, start); err != nil {
						return err
					}
				}
				return nil
			}
			var got []int
			for start, err := range sqldb.Each(tx, sqldb.Scalar[int], outer) {
				if err == nil {
					err = add(tx, start)
				}
				if err != nil {
					return err
				}
				got = append(got, start)
			}
			if !slices.Equal(got, starts) {
				return fmt.Errorf("the outer statement returned %v", got)
			}
			return nil
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for range 5 {
					if err := db.Read(t.Context(), read); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

// add runs 100 statements twice each, so that SQLite prepares them; the cache of a connection has 200.
func add(tx *sqldb.Tx, start int) error {
	for n := start; n < start+100; n++ {
		for range 2 {
			got, err := sqldb.QueryOne(tx, sqldb.Scalar[int], fmt.Sprintf(`SELECT %d + CAST($1 AS BIGINT)`, n), start)
			if err != nil || got != n+start {
				return fmt.Errorf("%d + %d is %d, error %v", n, start, got, err)
			}
		}
	}
	return nil
}
