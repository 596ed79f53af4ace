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

// TestWorkIsTakenUpWhileTheLastIsNotRecorded asks for work on an account whose last
// job has come to rest, and is not recorded as done yet. Nobody else would do it.
func TestWorkIsTakenUpWhileTheLastIsNotRecorded(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		queue := streamQueue(t, db)
		begun, goOn := make(chan int64, 2), make(chan struct{})
		err := job.Handle(queue, time.Minute, func(_ context.Context, j job.Job[streamArgs]) error {
			begun <- j.ID
			<-goOn
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := queue.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() {
			close(goOn)
			if err := queue.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		}()
		for range 2 {
			if err := db.Write(t.Context(), func(tx *sqldb.Tx) error { return jobs{queue}.Stream(tx, "org", "account") }); err != nil {
				t.Fatal(err)
			}
			select {
			case <-begun:
			case <-time.After(2 * time.Minute):
				t.Fatal("nobody takes it up")
			}
		}
	})
}

// streamQueue makes a queue of work on event streams. It is not started.
func streamQueue(t *testing.T, db *sqldb.DB) *job.Queue {
	t.Helper()
	if err := job.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	queue, err := job.New(db, job.Config{Queues: map[string]int{streaming: 2}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return queue
}

// TestWorkOutlivesManyWorkers has the process die again and again that works on an
// account. Nobody else would do what is left.
func TestWorkOutlivesManyWorkers(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		queue := streamQueue(t, db)
		begun := make(chan int, 1)
		if err := job.Handle(queue, time.Minute, func(_ context.Context, j job.Job[streamArgs]) error {
			begun <- j.Attempt
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			if err := (jobs{queue}).Stream(tx, "org", "account"); err != nil {
				return err
			}
			// This is how the twentieth who died left it.
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
		case n := <-begun:
			if n != 21 {
				t.Errorf("attempt %d", n)
			}
		case <-time.After(2 * time.Minute):
			t.Fatal("nobody takes it up")
		}
	})
}

// TestWorkThatFailsGoesOn: no end of work on an account counts against it, so that
// the next need not wait longer and longer.
func TestWorkThatFailsGoesOn(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for name, tt := range map[string]struct {
		ctx       context.Context
		err, want error
	}{
		"done":              {t.Context(), nil, nil},
		"failed":            {t.Context(), failed, job.Later(streamPause)},
		"never out of work": {late, context.DeadlineExceeded, job.Later(0)},
		"stopped":           {stopped, context.Canceled, context.Canceled},
	} {
		if got := goOn(tt.ctx, tt.err); fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
