package store_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/desktop"
	"vigil/internal/desktop/heartbeat"
	"vigil/internal/desktop/store"
	"vigil/internal/desktop/store/storetest"
	"vigil/internal/fault"
	"vigil/internal/secret"
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
	return store.New(db, secrettest.NewBox(t), time.Now)
}

func TestAuthorityKeyIsSealed(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		if err := store.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		s := store.New(db, secrettest.NewBox(t), time.Now)
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

func TestRevisionCountsConfigurationChanges(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		// A second migration, as after a restart, must not add another revision.
		if err := errors.Join(store.Migrate(t.Context(), db), store.Migrate(t.Context(), db)); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		s := store.New(db, secrettest.NewBox(t), func() time.Time { return at })
		before, err := s.Revision(t.Context())
		if err != nil || before.Store == "" {
			t.Fatalf("the first revision: %+v, %v", before, err)
		}
		// A new entry of the vault changes the configuration.
		if err := s.SetEntry(t.Context(), "bind", secret.NewText("hush")); err != nil {
			t.Fatal(err)
		}
		_ = s.DeleteEntry(t.Context(), "nothing") // does not change the configuration
		after, err := s.Revision(t.Context())
		want := desktop.Revision{Store: before.Store, Number: before.Number + 1, At: desktop.MillisOf(at)}
		if diff := cmp.Diff(want, after); diff != "" || err != nil {
			t.Errorf("revision (-want +got):\n%s%v", diff, err)
		}
	})
}

func TestVault(t *testing.T) {
	t.Parallel()
	s := open(t, dbtest.SQLite(t))
	ctx := t.Context()
	for _, value := range []string{"first", "second"} {
		if err := s.SetEntry(ctx, "bind", secret.NewText(value)); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Entry(ctx, "bind"); got != value || err != nil {
			t.Errorf("Entry = %q, %v; want %q", got, err, value)
		}
	}
	if names, err := s.Entries(ctx); err != nil || !slices.Equal(names, []string{"bind"}) {
		t.Errorf("Entries = %q, %v; want bind", names, err)
	}
	if err := s.DeleteEntry(ctx, "bind"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Entry(ctx, "bind"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a deleted entry: %v, want a fault of kind NotFound", err)
	}
}
