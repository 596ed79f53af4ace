package store_test

import (
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/estate"
	"vigil/internal/posture/store"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestTokensAreWrittenAnew opens a database whose tokens were made in another
// way.
func TestTokensAreWrittenAnew(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		if err := store.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		s := store.New(db, secrettest.NewBox(t), new(asked))
		a := estate.New(0, 5000) // more than are written at a time
		fillAccount(t, s, a)
		env := posture.Attribute{Kind: posture.TagAttribute, Name: "env"}
		count := func() int {
			p, err := s.Entities(t.Context(), "org", posture.EntityFilter{Where: posture.Equal{Attribute: env, Value: "prod"}}, posture.Page{Size: 1})
			if err != nil {
				t.Fatal(err)
			}
			return p.Total
		}
		want := count()
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			spoil := []string{`UPDATE entity SET tokens = '{1,2,3}'`}
			if tx.Dialect() == sqldb.SQLite {
				spoil = []string{
					`INSERT INTO entity_token (entity_token) VALUES ('delete-all')`,
					`INSERT INTO entity_token (rowid, tokens) SELECT rid, 'a b c' FROM entity`,
				}
			}
			for _, text := range append(spoil, `INSERT INTO entity_retoken (next) VALUES (0)`) {
				if _, err := tx.Exec(text); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := count(); got != 0 {
			t.Fatalf("%d entities are found without their tokens", got)
		}
		if err := store.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if got := count(); got != want || want == 0 {
			t.Errorf("%d entities are found afterwards, want %d", got, want)
		}
	})
}

// fillAccount onboards and collects an account.
func fillAccount(t *testing.T, s *store.Store, a estate.Account) {
	t.Helper()
	if err := s.Onboard(t.Context(), "org", func(tx posture.OnboardingTx) error {
		return tx.AddAccount(posture.Account{ID: a.ID, Provider: a.Provider, Name: string(a.ID), ETag: "1"})
	}); err != nil {
		t.Fatal(err)
	}
	for _, u := range a.Units() {
		r, err := s.Begin(t.Context(), collect.Scoped{Org: "org", Account: a.ID, Type: u.Type, Region: u.Region})
		if err != nil {
			t.Fatal(err)
		}
		for e := range u.Each {
			if err := r.Put(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Commit(t.Context(), true); err != nil {
			t.Fatal(err)
		}
	}
}
