package job_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"vigil/internal/job"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// If these variables are set, the test binary fetches a job from the given database and
// hangs, with the given heartbeat, until a test kills it.
const (
	hangURL  = "VIGIL_TEST_JOB_HANG"
	hangBeat = "VIGIL_TEST_JOB_BEAT"
)

func TestMain(m *testing.M) {
	if dsn := os.Getenv(hangURL); dsn != "" {
		if err := hang(context.Background(), dsn); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m)
}

// hang fetches one job, prints that it did, and hangs.
func hang(ctx context.Context, dsn string) error {
	db, err := sqldb.Open(ctx, dsn, sqldb.Options{})
	if err != nil {
		return err
	}
	beat, err := time.ParseDuration(os.Getenv(hangBeat))
	if err != nil {
		return err
	}
	q, err := job.New(db, job.Config{Log: slog.Default(), Heartbeat: beat})
	if err != nil {
		return err
	}
	err = job.Handle(q, 0, func(ctx context.Context, j job.Job[greet]) error {
		fmt.Println("took", j.Args.Name)
		select {}
	})
	if err != nil {
		return err
	}
	if err := q.Start(ctx); err != nil {
		return err
	}
	select {}
}

// hangingProcess starts a process that hangs, and waits until it has fetched a job.
func hangingProcess(t *testing.T, dsn string, beat time.Duration) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), hangURL+"="+dsn, hangBeat+"="+beat.String())
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "took x\n" {
		t.Fatalf("the process said %q, error %v", line, err)
	}
	return cmd
}

// kill kills a process with SIGKILL.
func kill(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

func TestJobOfAKilledProcessIsRescued(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		db := dbtest.Open(t, dsn)
		if err := job.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		q := newQueue(t, db, job.Config{Heartbeat: quick})
		insert(t, db, q, "x", job.Options{Exclusive: "account/1", Attempts: 2})
		kill(hangingProcess(t, dsn, quick))

		done := make(chan job.Job[greet], 1)
		killed := time.Now()
		start(t, q, func(_ context.Context, j job.Job[greet]) error {
			done <- j
			return nil
		})
		// The lock that the job held in the dead process is free again as well.
		if j := next(t, done); j.Attempt != 2 {
			t.Errorf("attempt %d, want 2", j.Attempt)
		}
		t.Logf("rescued after %s", time.Since(killed))
		waitForState(t, db, map[string]int{"completed": 1})
	})
}

func TestJobThatKillsItsProcessesIsDiscarded(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		db := dbtest.Open(t, dsn)
		if err := job.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		q := newQueue(t, db, job.Config{Heartbeat: quick})
		insert(t, db, q, "x", job.Options{Attempts: 1})
		kill(hangingProcess(t, dsn, quick))
		start(t, q, func(context.Context, job.Job[greet]) error {
			t.Error("the job was done although its only attempt was used up")
			return nil
		})
		waitForState(t, db, map[string]int{"discarded": 1})
	})
}

func TestJobOfALivingProcessIsNotRescued(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		db := dbtest.Open(t, dsn)
		if err := job.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		const beat = 500 * time.Millisecond
		q := newQueue(t, db, job.Config{Heartbeat: beat, Queues: map[string]int{"default": 1, "beats": 1}})
		insert(t, db, q, "x", job.Options{})
		other := hangingProcess(t, dsn, beat)
		defer kill(other)
		beats := make(chan struct{}, 100)
		q.Every("beat", time.Millisecond, greet{"beat"}, job.Options{Queue: "beats"})
		start(t, q, func(_ context.Context, j job.Job[greet]) error {
			if j.Args.Name == "x" {
				t.Error("the job of a living process was rescued")
			}
			beats <- struct{}{}
			return nil
		})
		// More heartbeats than a lease lasts: each inserts one job.
		for range 8 {
			next(t, beats)
		}
	})
}

// TestAllAttemptsAreCancelledWhenTheLeaseExpires has a process fetch a job again that it
// still executes, as after a suspension during which others rescued the job: both
// attempts end.
func TestAllAttemptsAreCancelledWhenTheLeaseExpires(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		running, cancelled := make(chan int, 9), make(chan int, 9)
		q := newQueue(t, db, job.Config{Heartbeat: quick})
		start(t, q, func(ctx context.Context, j job.Job[greet]) error {
			running <- j.Attempt
			if j.Attempt > 2 {
				return nil
			}
			<-ctx.Done()
			cancelled <- j.Attempt
			return ctx.Err()
		})
		insert(t, db, q, "x", job.Options{})
		next(t, running)
		change := func(text string) {
			t.Helper()
			if err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
				_, err := tx.Exec(text)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		change("UPDATE river_job SET state = 'available'")
		next(t, running)
		change("DELETE FROM job_worker")
		got := []int{next(t, cancelled), next(t, cancelled)}
		if slices.Sort(got); !slices.Equal(got, []int{1, 2}) {
			t.Errorf("the attempts %v were cancelled, want 1 and 2", got)
		}
	})
}

func TestJobsAreCancelledWhenTheLeaseExpires(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		running, causes := make(chan struct{}, 2), make(chan error, 2)
		q := newQueue(t, db, job.Config{Heartbeat: quick})
		start(t, q, func(ctx context.Context, j job.Job[greet]) error {
			running <- struct{}{}
			if j.Attempt > 1 {
				return nil
			}
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return ctx.Err()
		})
		insert(t, db, q, "x", job.Options{})
		next(t, running)
		// Another process does this after the lease has expired, for example because this process was suspended.
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec("DELETE FROM job_worker")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := next(t, causes); err == nil {
			t.Error("the job was cancelled without a cause")
		}
		next(t, running)
		waitForState(t, db, map[string]int{"completed": 1})
	})
}
