package store

import (
	"testing"

	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestTokensOfRemovedRowsAreGone writes rows and removes them in one transaction,
// as when a collection and the removal of its account share one: the tokens that
// were left to the end of it are removed, too.
func TestTokensOfRemovedRowsAreGone(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		tokens, find := any("word"), `SELECT rowid FROM entity_token WHERE entity_token MATCH 'word'`
		if db.Dialect() == sqldb.Postgres {
			tokens, find = []int64{7}, `SELECT rid FROM entity WHERE tokens @> '{7}'`
		}
		if err := Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		gone, kept := acctSpan(1), acctSpan(2)
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			w := &rowWriter{tx: tx}
			for _, rid := range []int64{gone.from, gone.to, kept.from} {
				if err := w.insert([]entityRow{{rid: rid, ekey: rid, doc: []byte{}, tokens: tokens}}); err != nil {
					return err
				}
			}
			if err := w.finish(); err != nil {
				return err
			}
			return deleteSpan(tx, gone)
		})
		if err != nil {
			t.Fatal(err)
		}
		var found []int64
		err = db.Read(t.Context(), func(tx *sqldb.Tx) (err error) {
			found, err = sqldb.Query(tx, sqldb.Scalar[int64], find)
			return err
		})
		if err != nil || len(found) != 1 || found[0] != kept.from {
			t.Errorf("found %v, %v; want only %d", found, err, kept.from)
		}
	})
}
