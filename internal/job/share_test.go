package job_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/job"
	"vigil/internal/sqldb"
)

// TestSharesTakeTurns inserts many jobs of one organisation before those of others, and
// executes them with one worker.
func TestSharesTakeTurns(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		q := newQueue(t, db, job.Config{Queues: map[string]int{"default": 1}, Heartbeat: quick})
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			for i := range 60 {
				if _, err := q.Insert(tx, greet{fmt.Sprint("large backfill ", i)}, job.Options{Share: "large", Priority: 3}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		insert(t, db, q, "small backfill", job.Options{Share: "small", Priority: 3})
		insert(t, db, q, "large scheduled", job.Options{Share: "large", Priority: 2})
		insert(t, db, q, "large event", job.Options{Share: "large", Priority: 1})
		insert(t, db, q, "small event", job.Options{Share: "small", Priority: 1})
		insert(t, db, q, "maintenance", job.Options{Priority: 1})

		done := make(chan string, 100)
		start(t, q, func(_ context.Context, j job.Job[greet]) error {
			if j.Args.Name == "large event" && j.Attempt == 1 {
				return fmt.Errorf("not yet")
			}
			done <- j.Args.Name
			return nil
		})
		var order []string
		for len(order) < 7 {
			order = append(order, next(t, done))
		}
		// The event that failed comes when it is due again. That depends on the backoff, so the
		// event is removed from the order.
		const jobs = 60 + 5 // the large backfills and the others
		for !slices.Contains(order, "large event") && len(order) < jobs {
			order = append(order, next(t, done))
		}
		if !slices.Contains(order, "large event") {
			t.Error("the job that failed was not done again")
		}
		order = slices.DeleteFunc(order, func(s string) bool { return s == "large event" })[:6]
		want := []string{"maintenance", "small event", "large scheduled", "large backfill 0", "small backfill", "large backfill 1"}
		if diff := cmp.Diff(want, order); diff != "" {
			t.Errorf("order of jobs (-want +got):\n%s", diff)
		}
	})
}

// TestSnoozedJobsKeepTheirTurn snoozes a job and has it wait again.
func TestSnoozedJobsKeepTheirTurn(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		q := newQueue(t, db, job.Config{Queues: map[string]int{"default": 1}, Heartbeat: quick})
		type state struct{ turn, snoozes int64 }
		first := func() (s state) {
			err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
				return tx.QueryRow(`SELECT `+turnAndSnoozes[tx.Dialect()]+` FROM river_job ORDER BY id LIMIT 1`).Scan(&s.turn, &s.snoozes)
			})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		insert(t, db, q, "put off", job.Options{Share: "a"})
		insert(t, db, q, "long", job.Options{Share: "a"})
		want := state{first().turn, 1}
		started, release := make(chan struct{}), make(chan struct{})
		start(t, q, func(_ context.Context, j job.Job[greet]) error {
			if j.Args.Name == "put off" {
				return job.Later(time.Second)
			}
			close(started)
			<-release
			return nil
		})
		defer close(release)
		next(t, started)
		for deadline := time.Now().Add(patience); first() != want; time.Sleep(quick) {
			if time.Now().After(deadline) {
				t.Fatalf("the job has turn and snoozes %v, want %v", first(), want)
			}
		}
	})
}

// turnAndSnoozes are the expressions of a job's turn, in seconds, and of how often it was snoozed.
var turnAndSnoozes = map[sqldb.Dialect]string{
	sqldb.SQLite:   `unixepoch(substr(scheduled_at, 1, 19)), coalesce(json_extract(metadata, '$.snoozes'), 0)`,
	sqldb.Postgres: `extract(epoch FROM date_trunc('second', scheduled_at))::bigint, coalesce((metadata ->> 'snoozes')::bigint, 0)`,
}
