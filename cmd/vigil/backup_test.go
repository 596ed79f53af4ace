package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestRestoreRefusesADatabaseInUse inserts a worker whose lease has not expired, as a running
// server would.
func TestRestoreRefusesADatabaseInUse(t *testing.T) {
	t.Parallel()
	dir := newInventory(t)
	environ, backup := []string{"VIGIL_DATA_DIR=" + dir}, filepath.Join(t.TempDir(), "backup.db")
	vigil(t, environ, 0, "admin", "backup", backup)
	db := dbtest.Open(t, "sqlite://"+filepath.Join(dir, "vigil.db"))
	// A worker that was last seen in the future keeps its lease until the test ends.
	err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`INSERT INTO job_worker (id, seen_at, roles) VALUES ('w', CAST(unixepoch('subsec') * 1000 AS INTEGER) + 3600000, 'api')`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := vigil(t, environ, 1, "admin", "restore", backup); !strings.Contains(got, "stop them first") {
		t.Errorf("the restore printed %q, want the advice to stop the workers", got)
	}
}

// TestRestoreRefusesADatabaseThatIsOpen keeps a connection open, as a desktop server does. Such a server runs no jobs, so it has no lease.
func TestRestoreRefusesADatabaseThatIsOpen(t *testing.T) {
	t.Parallel()
	dir := newInventory(t)
	environ, backup := []string{"VIGIL_DATA_DIR=" + dir}, filepath.Join(t.TempDir(), "backup.db")
	vigil(t, environ, 0, "admin", "backup", backup)
	db, err := sqldb.Open(t.Context(), "sqlite://"+filepath.Join(dir, "vigil.db"), sqldb.Options{MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	got := vigil(t, environ, 1, "admin", "restore", backup)
	if !strings.Contains(got, "stop the servers first") {
		t.Errorf("the restore printed %q, want the advice to stop the servers", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	vigil(t, environ, 0, "admin", "restore", backup)
}

// TestRestoreRefusesADamagedDatabaseThatIsOpen damages the database of a running server. After a restore the server would still write to
// the damaged file, which it has open, and not to the restored one.
func TestRestoreRefusesADamagedDatabaseThatIsOpen(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]int64{"file header": 0, "first page": 100} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newInventory(t)
			environ, backup, file := []string{"VIGIL_DATA_DIR=" + dir}, filepath.Join(t.TempDir(), "backup.db"), filepath.Join(dir, "vigil.db")
			vigil(t, environ, 0, "admin", "backup", backup)
			db, err := sqldb.Open(t.Context(), "sqlite://"+file, sqldb.Options{MustExist: true})
			if err != nil {
				t.Fatal(err)
			}
			// Write something: SQLite recognises a database without a header only by a write-ahead log that is not empty. sqldb.InUse finds
			// the locks of other processes without it, but here the restore is in the process of the server.
			if err := db.Write(t.Context(), func(tx *sqldb.Tx) error { _, err := tx.Exec("CREATE TABLE mark (n BIGINT)"); return err }); err != nil {
				t.Fatal(err)
			}
			f, err := os.OpenFile(file, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close() // not before the end: closing the file releases all locks of this process on it, also those of db
			if _, err := f.WriteAt([]byte("not a table"), at); err != nil {
				t.Fatal(err)
			}
			if got := vigil(t, environ, 1, "admin", "restore", backup); !strings.Contains(got, "stop the servers first") {
				t.Errorf("the restore printed %q, want the advice to stop the servers", got)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			vigil(t, environ, 0, "admin", "restore", backup)
		})
	}
}
