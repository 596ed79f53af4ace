package store_test

import (
	"bytes"
	"testing"

	"vigil/internal/desktop/heartbeat"
	"vigil/internal/desktop/store"
	"vigil/internal/desktop/store/storetest"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(t *testing.T) storetest.Store { return open(t, dbtest.SQLite(t)) })
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, func(t *testing.T) storetest.Store { return open(t, dbtest.Postgres(t)) })
	})
}

func open(t *testing.T, dsn string) *store.Store {
	t.Helper()
	db := dbtest.Open(t, dsn)
	if err := store.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return store.New(db, secrettest.NewBox(t))
}

func TestAuthorityKeyIsSealed(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		if err := store.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		s := store.New(db, secrettest.NewBox(t))
		if _, err := s.KeepAuthority(t.Context(), heartbeat.Keys{Certificate: []byte("public"), Key: []byte("private half")}); err != nil {
			t.Fatal(err)
		}
		var sealed []byte
		err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
			return tx.QueryRow(`SELECT sealed FROM desktop_authority`).Scan(&sealed)
		})
		if err != nil || bytes.Contains(sealed, []byte("private")) {
			t.Errorf("the key is stored as %q, %v", sealed, err)
		}
	})
}
