package sqldb_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/fault"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

func TestCheckFailsOnAClosedDatabase(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		db, err := sqldb.Open(t.Context(), dsn, sqldb.Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = db.Write(t.Context(), func(*sqldb.Tx) error { return db.Check(t.Context()) })
		if err != nil {
			t.Errorf("during a write: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if err := db.Check(t.Context()); err == nil {
			t.Error("a closed database passes the check")
		}
	})
}

func TestInUseReportsOpenConnections(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.db")
	check := func(want bool, when string) {
		t.Helper()
		if got, err := sqldb.InUse(t.Context(), file); err != nil || got != want {
			t.Errorf("%s: in use is %t, %v; want %t", when, got, err, want)
		}
	}
	check(false, "without a file")
	db, err := sqldb.Open(t.Context(), "sqlite://"+file, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	check(true, "open and idle")
	if err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
		_, err := tx.Exec("CREATE TABLE x (id INTEGER)")
		return err
	}); err != nil {
		t.Errorf("a write after the check: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	check(false, "closed")
}

// TestInUseReportsADestroyedFile destroys the header of a file that another process has opened and not written to.
// SQLite does not recognise the file then, but the process still writes to it.
func TestInUseReportsADestroyedFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.db")
	db, err := sqldb.Open(t.Context(), "sqlite://"+file, sqldb.Options{})
	if err == nil {
		err = db.Migrate(t.Context(), "test", things)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	holder := exec.CommandContext(t.Context(), os.Args[0])
	holder.Env = append(os.Environ(), holderURL+"=sqlite://"+file)
	holder.Stderr = t.Output()
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "open: <nil>\n" {
		t.Fatalf("the other process printed %q, %v", line, err)
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(make([]byte, 100), 0); err != nil {
		t.Fatal(err)
	}
	if got, err := sqldb.InUse(t.Context(), file); err != nil || !got {
		t.Errorf("open in another process: in use is %t, %v; want true", got, err)
	}
	if err := errors.Join(in.Close(), holder.Wait()); err != nil {
		t.Fatal(err)
	}
	if got, err := sqldb.InUse(t.Context(), file); err == nil || got {
		t.Errorf("closed: in use is %t, %v; want false, and the error of SQLite", got, err)
	}
}

func TestUnreachableServerIsUnavailable(t *testing.T) {
	t.Parallel()
	_, err := sqldb.Open(t.Context(), "postgres://u:hunter2@127.0.0.1:1/db?connect_timeout=5", sqldb.Options{})
	if !fault.Is(err, fault.Unavailable) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v, want fault.Unavailable without the password", err)
	}
}

func TestBackupIsAConsistentCopy(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	db := dbtest.Open(t, dbtest.SQLite(t))
	if err := db.Migrate(ctx, "test", things); err != nil {
		t.Fatal(err)
	}
	write(t, db, "INSERT INTO thing (id) VALUES ('a')")
	path := filepath.Join(t.TempDir(), "copy.db")
	err := db.Write(ctx, func(tx *sqldb.Tx) error { // Backup does not wait for the writer
		if _, err := tx.Exec("INSERT INTO thing (id) VALUES ('not yet')"); err != nil {
			return err
		}
		return db.Backup(context.Background(), path)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(ctx, path); err == nil {
		t.Error("a backup overwrote another")
	}
	if info, err := os.Stat(path); err != nil {
		t.Error(err)
	} else if info.Mode().Perm() != 0o600 {
		t.Errorf("mode of the copy is %v: others can read it", info.Mode())
	}
	copied := dbtest.Open(t, "sqlite://"+path)
	if diff := cmp.Diff([]string{"a"}, ids(t, copied)); diff != "" {
		t.Errorf("rows of the copy (-want +got):\n%s", diff)
	}
	if err := copied.IntegrityCheck(ctx); err != nil {
		t.Error(err)
	}
}

func TestIntegrityCheckFindsDamage(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "test.db")
	db, err := sqldb.Open(ctx, "sqlite://"+path, sqldb.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Migrate(ctx, "test", things); err != nil {
		t.Fatal(err)
	}
	write(t, db, "INSERT INTO thing (id, size) VALUES ('a', 7), ('b', 8)")
	if err := db.IntegrityCheck(ctx); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The last two pages hold the indexes. Erase the last one.
	clear(data[len(data)-4096:])
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := dbtest.Open(t, "sqlite://"+path).IntegrityCheck(ctx); err == nil {
		t.Error("the damage was not found")
	}
}

func TestOnlyTheOwnerCanReadTheFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := dbtest.Open(t, "sqlite://"+dir+"/test.db")
	if err := db.Migrate(t.Context(), "test", things); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < 2 {
		t.Fatalf("files %v, error %v: want the database and its log", entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, error %v", e.Name(), info.Mode(), err)
		}
	}
}

func TestSQLiteSettings(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.SQLite(t))
	for pragma, want := range map[string]string{
		"journal_mode": "wal",
		"synchronous":  "2", // FULL: each commit waits for the disk
		"foreign_keys": "1",
	} {
		var got string
		if err := db.Pool().QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, error %v, want %s", pragma, got, err, want)
		}
	}
}

func TestOpenFailsOnAFileThatIsNoDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "text.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("This is a text file. ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqldb.Open(t.Context(), "sqlite://"+path, sqldb.Options{}); err == nil {
		t.Error("a text file was opened as a database")
	}
}
