package entitydb

import (
	"errors"
	"testing"

	"vigil/internal/posture/entitygen"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestRolledBackNumbersAreNotCached reads cells in transactions. A write transaction may have created the
// cells itself. If it is rolled back, their numbers are assigned again, so they must not be cached.
func TestRolledBackNumbersAreNotCached(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		a := entitygen.New(0, 20)
		s := newStore(t, db, a.ID, a.Provider)
		collectAll(t, s, a)
		errRolledBack := errors.New("rolled back")
		for _, tt := range []struct {
			name   string
			run    func(fn func(tx *sqldb.Tx) error) error
			end    error
			cached bool
		}{
			{"a write that is rolled back", func(fn func(tx *sqldb.Tx) error) error { return db.Write(t.Context(), fn) }, errRolledBack, false},
			{"a write", func(fn func(tx *sqldb.Tx) error) error { return db.Write(t.Context(), fn) }, nil, true},
			{"a read", func(fn func(tx *sqldb.Tx) error) error { return db.Read(t.Context(), fn) }, nil, true},
		} {
			s := New(db) // its cache is empty
			var cells []int64
			err := tt.run(func(tx *sqldb.Tx) error {
				rows, err := sqldb.Query(tx, scanRow, `SELECT `+rowColumns+` FROM entity`)
				if err != nil {
					return err
				}
				for _, row := range rows {
					cells = append(cells, cellOf(row.rowID))
				}
				if _, err := s.contextsOf(tx, rows); err != nil {
					return err
				}
				return tt.end
			})
			if !errors.Is(err, tt.end) {
				t.Fatal(err)
			}
			found, _ := s.ids.contexts(cells)
			if cached := len(found) > 0; cached != tt.cached || len(cells) == 0 {
				t.Errorf("%s: %d of %d cells are cached", tt.name, len(found), len(cells))
			}
		}
	})
}
