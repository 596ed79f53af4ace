package sqldb_test

import (
	"errors"
	"slices"
	"testing"

	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

func TestObserversAreToldOfErrors(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		errRow := errors.New("the row is wrong")
		refuse := func(int64, []byte) error { return errRow }
		accept := func(int64, []byte) error { return nil }
		failScan := func(sqldb.Row) (int, error) { return 0, errRow }
		const missing = `SELECT id, data FROM nowhere`
		blobType := "BLOB"
		if db.Dialect() == sqldb.Postgres {
			blobType = "BYTEA"
		}
		present := `SELECT CAST(1 AS BIGINT), CAST('x' AS ` + blobType + `)`
		oneRow := slices.Values([][]any{{1}})
		for name, run := range map[string]func(tx *sqldb.Tx) error{
			"Exec": func(tx *sqldb.Tx) error { _, err := tx.Exec(`DELETE FROM nowhere`); return err },
			"ExecEach": func(tx *sqldb.Tx) error {
				_, err := tx.ExecEach(`DELETE FROM nowhere WHERE id = $1`, oneRow)
				return err
			},
			"Load":                           func(tx *sqldb.Tx) error { _, err := tx.Load("nowhere", []string{"id"}, oneRow); return err },
			"QueryRow":                       func(tx *sqldb.Tx) error { var id int; return tx.QueryRow(`SELECT id FROM nowhere`).Scan(&id) },
			"Query":                          func(tx *sqldb.Tx) error { _, err := sqldb.Query(tx, sqldb.Scalar[int], missing); return err },
			"Query, a row is not scanned":    func(tx *sqldb.Tx) error { _, err := sqldb.Query(tx, failScan, `SELECT 1`); return err },
			"QueryOne, a row is not scanned": func(tx *sqldb.Tx) error { _, err := sqldb.QueryOne(tx, failScan, `SELECT 1`); return err },
			"Visit":                          func(tx *sqldb.Tx) error { return tx.Visit(accept, missing) },
			"Visit, a row is refused":        func(tx *sqldb.Tx) error { return tx.Visit(refuse, present) },
		} {
			ended, observed := 0, error(nil)
			ctx := sqldb.WithObserver(t.Context(), func(string, []any) func(error) {
				return func(err error) { ended++; observed = err }
			})
			if err := db.Write(ctx, run); err == nil || ended != 1 || observed == nil {
				t.Errorf("%s: failed with %v; the observer was told %d times, want once, last of %v", name, err, ended, observed)
			}
		}
	})
}
