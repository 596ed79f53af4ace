package sqldb_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

func TestVisit(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			blobType := "BLOB"
			if db.Dialect() == sqldb.Postgres {
				blobType = "BYTEA"
			}
			if _, err := tx.Exec(`CREATE TABLE v (id BIGINT PRIMARY KEY, data ` + blobType + `)`); err != nil {
				return err
			}
			_, err := tx.Load("v", []string{"id", "data"}, func(yield func([]any) bool) {
				for i := range 100 {
					if !yield([]any{int64(i), []byte(fmt.Sprint(i))}) {
						return
					}
				}
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		visit := func(f func(id int64, data []byte) error) error {
			return db.Read(t.Context(), func(tx *sqldb.Tx) error {
				return tx.Visit(f, `SELECT id, data FROM v WHERE id >= $1 ORDER BY id`, 90)
			})
		}
		for range 3 { // the statement is cached from its second run on
			var got []string
			if err := visit(func(id int64, data []byte) error {
				got = append(got, fmt.Sprint(id, "=", string(data)))
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			want := []string{"90=90", "91=91", "92=92", "93=93", "94=94", "95=95", "96=96", "97=97", "98=98", "99=99"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
		}

		// Visit ends with the first error and returns it unchanged.
		errStop, n := errors.New("enough"), 0
		if err := visit(func(int64, []byte) error { n++; return errStop }); !errors.Is(err, errStop) || n != 1 {
			t.Errorf("%v after %d rows, want %v after 1", err, n, errStop)
		}
		func() {
			defer func() {
				if got := recover(); got != "thrown" {
					t.Errorf("recovered %v, want the value of the panic", got)
				}
			}()
			_ = visit(func(int64, []byte) error { panic("thrown") })
		}()
		if err := visit(func(int64, []byte) error { return nil }); err != nil {
			t.Errorf("after a panic: %v", err)
		}
	})
}
