package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"vigil/internal/job"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// TestJobRunsWhileThePreviousIsNotRecorded enqueues a job for an account whose previous
// job has released the account and is not recorded as done yet. The new job must run.
func TestJobRunsWhileThePreviousIsNotRecorded(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		queue := newStreamQueue(t, db)
		started, proceed := make(chan int64, 2), make(chan struct{})
		err := job.Handle(queue, time.Minute, func(_ context.Context, j job.Job[streamArgs]) error {
			started <- j.ID
			<-proceed
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := queue.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() {
			close(proceed)
			if err := queue.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		}()
		for range 2 {
			if err := db.Write(t.Context(), func(tx *sqldb.Tx) error { return jobs{queue: queue}.Stream(tx, "org", "account") }); err != nil {
				t.Fatal(err)
			}
			select {
			case <-started:
			case <-time.After(2 * time.Minute):
				t.Fatal("no worker runs the job")
			}
		}
	})
}

// newStreamQueue returns a queue for event stream jobs. It is not started.
func newStreamQueue(t *testing.T, db *sqldb.DB) *job.Queue {
	t.Helper()
	if err := job.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	queue, err := job.New(db, job.Config{Queues: map[string]int{streamQueue: 2}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return queue
}

// TestJobSurvivesManyCrashes crashes the worker process of an account repeatedly. The
// job must still be retried, because no other job makes the pending reads.
func TestJobSurvivesManyCrashes(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		queue := newStreamQueue(t, db)
		started := make(chan int, 1)
		if err := job.Handle(queue, time.Minute, func(_ context.Context, j job.Job[streamArgs]) error {
			started <- j.Attempt
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			if err := (jobs{queue: queue}).Stream(tx, "org", "account"); err != nil {
				return err
			}
			// The state that the twentieth crashed worker leaves.
			_, err := tx.Exec(`UPDATE river_job SET state = 'running', attempt = 20, attempted_at = created_at`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := queue.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := queue.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		}()
		select {
		case n := <-started:
			if n != 21 {
				t.Errorf("attempt %d, want 21", n)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("no worker runs the job")
		}
	})
}

// TestFailedStreamJobsAreRescheduled checks that no ending of a job counts as a failed
// attempt, which would lengthen the backoff.
func TestFailedStreamJobsAreRescheduled(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	expired, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, tt := range map[string]struct {
		ctx       context.Context
		err, want error
	}{
		"done":                       {t.Context(), nil, nil},
		"failed":                     {t.Context(), failed, job.Later(streamPause)},
		"more reads at the deadline": {expired, context.DeadlineExceeded, job.Later(0)},
		"stopped":                    {stopped, context.Canceled, context.Canceled}, // package job does not count it while the process stops
	} {
		if got := reschedule(tt.ctx, tt.err); fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
