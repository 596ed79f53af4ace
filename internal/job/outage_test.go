package job_test

import (
	"context"
	"os"
	"testing"
	"time"

	"vigil/internal/job"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestAttemptWhoseEndWasNotStoredIsRescued has a job stored as running in a process that
// does not run it, as after an outage of the database.
func TestAttemptWhoseEndWasNotStoredIsRescued(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		attempts := make(chan int, 9)
		q := newQueue(t, db, job.Config{Heartbeat: quick})
		start(t, q, func(_ context.Context, j job.Job[greet]) error {
			attempts <- j.Attempt
			return nil
		})
		insert(t, db, q, "x", job.Options{})
		next(t, attempts)
		waitForState(t, db, map[string]int{"completed": 1})
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec("UPDATE river_job SET state = 'running', finalized_at = NULL")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := next(t, attempts); got != 2 {
			t.Errorf("attempt %d, want 2", got)
		}
		waitForState(t, db, map[string]int{"completed": 1})
	})
}

// TestStopsOfPostgreSQLDelayNoJob crashes the database server of a queue, and starts it after
// River has given up storing the ends of jobs. Within ten seconds, three jobs must run: one
// that had failed, one that had succeeded and one that had waited.
func TestStopsOfPostgreSQLDelayNoJob(t *testing.T) {
	t.Parallel()
	if n := os.Getenv("VIGIL_STOPS_POSTGRES"); n == "" || n == "0" {
		t.Skip("needs its own database server: see make crash")
	}
	server := dbtest.NewServer(t)
	db := dbtest.Open(t, server.URL)
	if err := job.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	started, down, done := make(chan string, 9), make(chan struct{}), make(chan string, 9)
	q := newQueue(t, db, job.Config{Queues: map[string]int{"default": 2}})
	start(t, q, func(ctx context.Context, j job.Job[greet]) error {
		if j.Attempt == 1 && j.Args.Name != "waiting" {
			started <- j.Args.Name
			<-down
			if j.Args.Name == "failing" {
				return db.Read(ctx, func(*sqldb.Tx) error { return nil })
			}
			return nil
		}
		done <- j.Args.Name
		return nil
	})
	for _, name := range []string{"failing", "succeeding"} {
		insert(t, db, q, name, job.Options{})
		next(t, started)
	}
	insert(t, db, q, "waiting", job.Options{})
	server.Crash()
	close(down)
	time.Sleep(20 * time.Second) // River tries for about eight
	server.Start()
	begin := time.Now()
	for range 3 {
		name := next(t, done)
		t.Logf("%s ran %s after the start", name, time.Since(begin).Round(100*time.Millisecond))
	}
	if elapsed := time.Since(begin); elapsed > 10*time.Second {
		t.Errorf("the jobs ran %s after the start of the database, want at most 10 s", elapsed)
	}
	waitForState(t, db, map[string]int{"completed": 3})
}
