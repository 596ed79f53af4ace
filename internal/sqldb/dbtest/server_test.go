package dbtest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"vigil/internal/sqldb"
)

// TestScriptStartsServerAgain checks that scripts/postgres.sh starts a server on the files that an
// interrupted start, a crash or another version of PostgreSQL left behind.
func TestScriptStartsServerAgain(t *testing.T) {
	t.Parallel()
	if n := os.Getenv("VIGIL_STOPS_POSTGRES"); n == "" || n == "0" {
		t.Skip("needs its own database server: see make crash")
	}
	s := NewServer(t)
	remove := func(name string) error { return os.Remove(filepath.Join(s.dir, name)) }
	for _, c := range []struct {
		name  string
		leave func() error
	}{
		{"script killed before it wrote the URL", func() error { return remove("url") }},
		{"script killed while it created the data folder", func() error {
			s.Crash()
			return errors.Join(remove("url"), remove("password"), remove("data/postgresql.conf"))
		}},
		{"data of another version", func() error {
			s.Crash()
			return os.WriteFile(filepath.Join(s.dir, "data", "PG_VERSION"), []byte("9\n"), 0o600)
		}},
		{"server crashed", func() error { s.Crash(); return nil }},
	} {
		if err := c.leave(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		db := Open(t, s.do("start")) // not s.Start: a new data folder has another password, so the URL changes
		err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
			_, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT 1`)
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
