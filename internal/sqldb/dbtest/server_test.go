package dbtest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"vigil/internal/sqldb"
)

// TestStopsOfScript starts a server again after what an interrupted start or an update of PostgreSQL
// leaves behind.
func TestStopsOfScript(t *testing.T) {
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
		{"killed before the URL was written", func() error { return remove("url") }},
		{"killed while the data folder was created", func() error {
			s.Crash()
			return errors.Join(remove("url"), remove("password"), remove("data/postgresql.conf"))
		}},
		{"data of another version", func() error {
			s.Crash()
			return os.WriteFile(filepath.Join(s.dir, "data", "PG_VERSION"), []byte("9\n"), 0o600)
		}},
		{"crashed", func() error { s.Crash(); return nil }},
	} {
		if err := c.leave(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		db := Open(t, s.do("start"))
		err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
			_, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT 1`)
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
