package sqldb_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// crashWriterURL, if set, turns this program into one that writes to that database
// until it is killed.
const crashWriterURL = "VIGIL_TEST_CRASH_WRITER"

func TestMain(m *testing.M) {
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
			lines := bufio.NewScanner(out)
			for n := 0; lines.Scan(); n++ {
				acknowledged[lines.Text()] = true
				if n == 20+cycle*7 { // the lines printed before the kill are still read
					if err := cmd.Process.Kill(); err != nil {
						t.Fatal(err)
					}
				}
			}
			_ = cmd.Wait()
		}
		if len(acknowledged) < 5*20 {
			t.Fatalf("%d writes: too few for the test", len(acknowledged))
		}
		found := map[string]bool{}
		for _, id := range ids(t, db) {
			found[id] = true
		}
		for id := range acknowledged {
			if !found[id+"-left"] || !found[id+"-right"] {
				t.Errorf("%s was acknowledged and is missing", id)
			}
		}
		if len(found)%2 != 0 {
			t.Errorf("%d rows: half of a transaction was committed", len(found))
		}
		if err := db.IntegrityCheck(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
