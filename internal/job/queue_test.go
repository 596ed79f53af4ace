package job_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/job"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

// greet is the kind of job in these tests.
type greet struct {
	Name string `json:"name"`
}

func (greet) Kind() string { return "greet" }

// patience is how long a test waits for an event before it fails.
const patience = 2 * time.Minute

// run runs a test on every kind of database, in which the tables of the queue exist.
func run(t *testing.T, test func(t *testing.T, db *sqldb.DB)) {
	t.Helper()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		if err := job.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		test(t, db)
	})
}

// quick is a short heartbeat interval for tests that wait for a heartbeat. A test that uses it
// must expect that on a busy machine the heartbeats of a running queue are so late that its
// lease expires.
const quick = 50 * time.Millisecond

// newQueue returns a queue that logs its warnings and errors to the output of the test.
func newQueue(t *testing.T, db *sqldb.DB, conf job.Config) *job.Queue {
	t.Helper()
	conf.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	q, err := job.New(db, conf)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// start starts a queue with h as the handler of greet, and stops it at the end of the
// test.
func start(t *testing.T, q *job.Queue, h job.Handler[greet]) {
	t.Helper()
	if err := job.Handle(q, time.Minute, h); err != nil {
		t.Fatal(err)
	}
	if err := q.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, q) })
}

func stop(t *testing.T, q *job.Queue) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := q.Stop(ctx); err != nil {
		t.Errorf("stop queue: %v", err)
	}
}

// insert inserts a job in a transaction of its own and reports whether it was inserted.
func insert(t *testing.T, db *sqldb.DB, q *job.Queue, name string, opts job.Options) (inserted bool) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *sqldb.Tx) (err error) {
		inserted, err = q.Insert(tx, greet{name}, opts)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return inserted
}

// next returns the next value of a channel. The test fails if none comes.
func next[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatalf("waited %s for a value", patience)
		panic("unreachable")
	}
}

func TestChangeAndJobCommitTogether(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		done := make(chan string, 10)
		q := newQueue(t, db, job.Config{})
		start(t, q, func(_ context.Context, j job.Job[greet]) error {
			done <- j.Args.Name
			return nil
		})
		err := db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec("CREATE TABLE mark (name TEXT)")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		boom := errors.New("boom")
		change := func(name string, fail error) error {
			return db.Write(t.Context(), func(tx *sqldb.Tx) error {
				if _, err := tx.Exec("INSERT INTO mark (name) VALUES ($1)", name); err != nil {
					return err
				}
				if _, err := q.Insert(tx, greet{name}, job.Options{}); err != nil {
					return err
				}
				return fail
			})
		}
		if err := change("lost", boom); !errors.Is(err, boom) {
			t.Fatalf("got %v, want %v", err, boom)
		}
		if err := change("kept", nil); err != nil {
			t.Fatal(err)
		}
		if got := next(t, done); got != "kept" {
			t.Errorf("the job of the change that was rolled back was executed: %s", got)
		}
		waitForState(t, db, map[string]int{"completed": 1}) // of all jobs, executed or not
		var marks []string
		err = db.Read(t.Context(), func(tx *sqldb.Tx) (err error) {
			marks, err = sqldb.Query(tx, sqldb.Scalar[string], "SELECT name FROM mark")
			return err
		})
		if diff := cmp.Diff([]string{"kept"}, marks); err != nil || diff != "" {
			t.Errorf("changes (-want +got), error %v:\n%s", err, diff)
		}
	})
}

func TestJobIsPickedUpAtOnce(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		started := make(chan time.Time)
		q := newQueue(t, db, job.Config{})
		start(t, q, func(context.Context, job.Job[greet]) error {
			started <- time.Now()
			return nil
		})
		var waits []time.Duration
		for range 20 {
			insert(t, db, q, "x", job.Options{})
			committed := time.Now()
			waits = append(waits, next(t, started).Sub(committed))
		}
		slices.Sort(waits)
		t.Logf("waits: median %s, longest %s", waits[10], waits[19])
		if waits[10] > time.Second {
			t.Errorf("half of the jobs waited for more than %s", waits[10])
		}
	})
}

// salute has the arguments of greet under a new kind, and lists the kind of greet as its alias.
type salute struct{ greet }

func (salute) Kind() string          { return "salute" }
func (salute) KindAliases() []string { return []string{greet{}.Kind()} }

func TestJobOfAKindThatWasRenamedIsHandled(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		earlier := newQueue(t, db, job.Config{})
		insert(t, db, earlier, "earlier", job.Options{})
		done := make(chan string, 1)
		q := newQueue(t, db, job.Config{})
		err := job.Handle(q, time.Minute, func(_ context.Context, j job.Job[salute]) error {
			done <- j.Args.Name
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := q.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stop(t, q) })
		if got := next(t, done); got != "earlier" {
			t.Errorf("the job has the arguments of %q", got)
		}
	})
}

func TestFailedJobIsRetriedUpToItsAttempts(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		attempts := make(chan job.Job[greet], 10)
		q := newQueue(t, db, job.Config{})
		start(t, q, func(_ context.Context, j job.Job[greet]) error {
			attempts <- j
			switch {
			case j.Args.Name == "hopeless":
				return job.Fail(errors.New("no"))
			case j.Attempt == 1:
				panic("the first attempt panics")
			}
			return errors.New("the others fail")
		})
		insert(t, db, q, "stubborn", job.Options{Attempts: 2})
		insert(t, db, q, "hopeless", job.Options{Attempts: 5})
		var got []string
		for range 3 {
			j := next(t, attempts)
			got = append(got, j.Args.Name)
			if want := j.Args.Name == "stubborn" && j.Attempt == 2; j.Last() != want {
				t.Errorf("Last of attempt %d of %d is %t", j.Attempt, j.Attempts, j.Last())
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff([]string{"hopeless", "stubborn", "stubborn"}, got); diff != "" {
			t.Errorf("attempts (-want +got):\n%s", diff)
		}
		waitForState(t, db, map[string]int{"cancelled": 1, "discarded": 1})
	})
}

// waitForState waits until the jobs in the database are in the given states.
func waitForState(t *testing.T, db *sqldb.DB, want map[string]int) {
	t.Helper()
	var got map[string]int
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		got = states(t, db)
		if cmp.Equal(want, got) {
			return
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
	t.Fatalf("states of jobs (-want +got):\n%s", cmp.Diff(want, got))
}

func TestUniqueJobs(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		running, release := make(chan string), make(chan struct{})
		q := newQueue(t, db, job.Config{})
		start(t, q, func(_ context.Context, j job.Job[greet]) error {
			running <- j.Args.Name
			<-release
			return nil
		})
		untilDone := job.Options{Unique: "done"}
		untilStarted := job.Options{Unique: "started", Once: job.UntilStarted}
		scheduled := job.Options{Unique: "later", At: time.Now().Add(time.Hour)}

		if !insert(t, db, q, "first", untilDone) || insert(t, db, q, "second", untilDone) {
			t.Error("the first job was not inserted, or a second one was while the first waits or runs")
		}
		next(t, running)
		if insert(t, db, q, "third", untilDone) {
			t.Error("a third job was inserted while the first runs")
		}
		release <- struct{}{}
		waitForState(t, db, map[string]int{"completed": 1})
		if !insert(t, db, q, "fourth", untilDone) {
			t.Error("a fourth job was not inserted after the first was done")
		}
		next(t, running)
		release <- struct{}{}

		if !insert(t, db, q, "one", untilStarted) {
			t.Error("the job was not inserted although no other job has its unique key")
		}
		next(t, running)
		if !insert(t, db, q, "two", untilStarted) {
			t.Error("a second job was not inserted after the first was started")
		}
		next(t, running)
		release <- struct{}{}
		release <- struct{}{}

		if !insert(t, db, q, "soon", scheduled) || insert(t, db, q, "again", scheduled) {
			t.Error("the first job was not inserted, or a second one was while the first waits for its time")
		}
		waitForState(t, db, map[string]int{"completed": 4, "scheduled": 1})
	})
}

func TestExclusiveJobsRunOneAtATime(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		const n = 6
		var mu sync.Mutex
		current, maximum := 0, 0
		done := make(chan struct{}, n)
		handler := func(context.Context, job.Job[greet]) error {
			mu.Lock()
			current++
			maximum = max(maximum, current)
			mu.Unlock()
			defer func() {
				mu.Lock()
				current--
				mu.Unlock()
				done <- struct{}{}
			}()
			<-time.After(10 * time.Millisecond) // another job could start now
			return nil
		}
		queues := []*job.Queue{newQueue(t, db, job.Config{}), newQueue(t, db, job.Config{})}
		for _, q := range queues {
			start(t, q, handler)
		}
		for range n {
			insert(t, db, queues[0], "x", job.Options{Exclusive: "account/1"})
		}
		for range n {
			next(t, done)
		}
		if maximum != 1 {
			t.Errorf("%d jobs ran at once, want one at a time", maximum)
		}
	})
}

func TestJobWaitsForItsTimeAndNoLonger(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		started := make(chan time.Time, 1)
		q := newQueue(t, db, job.Config{})
		start(t, q, func(context.Context, job.Job[greet]) error {
			started <- time.Now()
			return nil
		})
		at := time.Now().Add(700 * time.Millisecond)
		insert(t, db, q, "x", job.Options{At: at})
		// A database may truncate the time to milliseconds, so the job may start a millisecond early.
		if delay := next(t, started).Sub(at); delay < -time.Millisecond || delay > 3*time.Second {
			t.Errorf("the job started %s after its time", delay)
		}
	})
}

func TestLaterIsNotAFailure(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		attempts := make(chan int, 10)
		q := newQueue(t, db, job.Config{})
		calls := 0
		start(t, q, func(_ context.Context, j job.Job[greet]) error {
			attempts <- j.Attempt
			calls++
			if calls < 3 {
				return job.Later(10 * time.Millisecond)
			}
			return nil
		})
		insert(t, db, q, "x", job.Options{Attempts: 1})
		for range 3 {
			if got := next(t, attempts); got != 1 {
				t.Errorf("attempt %d, want 1", got)
			}
		}
		waitForState(t, db, map[string]int{"completed": 1})
	})
}

func TestSchedulesSurviveTheirProcess(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		for range 3 {
			done := make(chan string, 100)
			q := newQueue(t, db, job.Config{Heartbeat: quick})
			q.Every("hourly", time.Hour, greet{"hourly"}, job.Options{})
			q.Every("often", 20*time.Millisecond, greet{"often"}, job.Options{})
			start(t, q, func(_ context.Context, j job.Job[greet]) error {
				done <- j.Args.Name
				return nil
			})
			// The previous process may have inserted the first of these two jobs. This process
			// inserted the second one, because a schedule inserts no job until the one before has ended.
			for range 2 {
				for next(t, done) != "often" {
				}
			}
			stop(t, q)
		}
		if n := states(t, db)["running"]; n != 0 {
			t.Errorf("%d jobs are running after all processes were stopped", n)
		}
		hourly := 0
		err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
			all, err := sqldb.Query(tx, sqldb.Scalar[string], "SELECT CAST(args AS TEXT) FROM river_job")
			for _, args := range all {
				if strings.Contains(args, "hourly") {
					hourly++
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if hourly != 1 {
			t.Errorf("three processes inserted %d hourly jobs within seconds, want one", hourly)
		}
	})
}

// states counts jobs by state.
func states(t *testing.T, db *sqldb.DB) map[string]int {
	t.Helper()
	got := map[string]int{}
	err := db.Read(t.Context(), func(tx *sqldb.Tx) error {
		states, err := sqldb.Query(tx, sqldb.Scalar[string], "SELECT CAST(state AS TEXT) FROM river_job")
		for _, s := range states {
			got[s]++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestStopReturnsRunningJobsToTheQueue(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		running := make(chan struct{})
		q := newQueue(t, db, job.Config{})
		start(t, q, func(ctx context.Context, j job.Job[greet]) error {
			running <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		})
		insert(t, db, q, "endless", job.Options{Attempts: 1}) // which the interrupted attempt does not use up
		next(t, running)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := q.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]int{"available": 1}, states(t, db)); diff != "" {
			t.Errorf("states of jobs (-want +got):\n%s", diff)
		}
	})
}

// TestMigrateReadOnly checks that Migrate reports pending migrations of River, and applies none, on a database that was opened
// read-only.
func TestMigrateReadOnly(t *testing.T) {
	t.Parallel()
	dbtest.RunURL(t, func(t *testing.T, dsn string) {
		db := dbtest.Open(t, dsn)
		if err := job.Migrate(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		readOnly, err := sqldb.Open(t.Context(), dsn, sqldb.Options{MustExist: true, ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = readOnly.Close() })
		if err := job.Migrate(t.Context(), readOnly); err != nil {
			t.Errorf("migrated database: %v", err)
		}
		err = db.Write(t.Context(), func(tx *sqldb.Tx) error {
			_, err := tx.Exec("DELETE FROM river_migration WHERE version = (SELECT max(version) FROM river_migration)")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := job.Migrate(t.Context(), readOnly); !errors.Is(err, sqldb.ErrPending) {
			t.Errorf("pending migration: %v, want %v", err, sqldb.ErrPending)
		}
	})
}
