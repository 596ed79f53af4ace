package sqldb_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// crashWriterURL is an environment variable with the URL of a database. If it is set, this
// test program writes to the database until it is killed.
const crashWriterURL = "VIGIL_TEST_CRASH_WRITER"

// holderURL is an environment variable with the URL of a database. If it is set, this test
// program opens the database, says so, and keeps it open until its input ends.
const holderURL = "VIGIL_TEST_HOLDER"

func TestMain(m *testing.M) {
	if dsn := os.Getenv(holderURL); dsn != "" {
		db, err := sqldb.Open(context.Background(), dsn, sqldb.Options{MustExist: true})
		fmt.Println("open:", err)
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = db.Close()
		os.Exit(0)
	}
	if dsn := os.Getenv(crashWriterURL); dsn != "" {
		fmt.Fprintln(os.Stderr, writeUntilKilled(context.Background(), dsn))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// writeUntilKilled writes pairs of rows, and prints the id of each pair after its
// commit.
func writeUntilKilled(ctx context.Context, dsn string) error {
	db, err := sqldb.Open(ctx, dsn, sqldb.Options{})
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		id := fmt.Sprintf("%d-%d", os.Getpid(), i)
		err := db.Write(ctx, func(tx *sqldb.Tx) error {
			if _, err := tx.Exec("INSERT INTO thing (id, note) VALUES ($1, 'left')", id+"-left"); err != nil {
				return err
			}
			_, err := tx.Exec("INSERT INTO thing (id, note) VALUES ($1, 'right')", id+"-right")
			return err
		})
		if err != nil {
			return err
		}
		fmt.Println(id)
	}
}

func TestAcknowledgedWritesSurviveAKill(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		db := dbtest.Open(t, dsn)
		if err := db.Migrate(t.Context(), "test", things); err != nil {
			t.Fatal(err)
		}
		// After a kill, the next to open a SQLite file recovers its write-ahead log, unless
		// another connection is open.
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		acknowledged := map[string]bool{}
		for cycle := range 5 {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(), crashWriterURL+"="+dsn)
			cmd.Stderr = t.Output()
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines, killed := bufio.NewScanner(out), false
			for n := 0; lines.Scan(); n++ {
				acknowledged[lines.Text()] = true
				if n == 20+cycle*7 { // the lines printed before the kill are still read
					if err := cmd.Process.Kill(); err != nil {
						t.Fatal(err)
					}
					killed = true
				}
			}
			if err := cmd.Wait(); !killed {
				t.Fatalf("cycle %d: the writer ended by itself: %v", cycle, err)
			}
		}
		db = dbtest.Open(t, dsn)
		found := map[string]bool{}
		for _, id := range ids(t, db) {
			found[id] = true
		}
		for id := range acknowledged {
			if !found[id+"-left"] || !found[id+"-right"] {
				t.Errorf("%s was acknowledged and is missing", id)
			}
		}
		for id := range found {
			other := strings.TrimSuffix(id, "-left") + "-right"
			if pair, isRight := strings.CutSuffix(id, "-right"); isRight {
				other = pair + "-left"
			}
			if !found[other] {
				t.Errorf("%s is committed without %s", id, other)
			}
		}
		if err := db.IntegrityCheck(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
