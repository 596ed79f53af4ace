package entitydb

import (
	"testing"

	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/entitygen"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestMigrateRebuildsTheIndex migrates a database whose index has wrong tokens. Like a
// migration that changes the format of tokens, the test marks the index to be rebuilt.
func TestMigrateRebuildsTheIndex(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		a := entitygen.New(0, 5000) // more than one batch
		s := newStore(t, db, a.ID, a.Provider)
		collectAll(t, s, a)
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
					`INSERT INTO entity_token (rowid, tokens) SELECT row_id, 'a b c' FROM entity`,
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
		if err := Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		if got := count(); got != want || want == 0 {
			t.Errorf("%d entities are found afterwards, want %d", got, want)
		}
	})
}

// collectAll records every entity of a generated account.
func collectAll(t *testing.T, s *Store, a entitygen.Account) {
	t.Helper()
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
		const complete = true
		if err := r.Commit(t.Context(), complete); err != nil {
			t.Fatal(err)
		}
	}
}
