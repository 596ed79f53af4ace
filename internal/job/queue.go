package job

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivermigrate"

	"vigil/internal/sqldb"
)

// Config tells how a queue works. The zero value is fit for use but for Log.
type Config struct {
	Log     *slog.Logger
	Metrics prometheus.Registerer // none if nil

	// Queues names the queues whose jobs this process does, and how many of
	// each at once. By default "default" and 10. With an empty map it does none
	// and only inserts.
	Queues map[string]int

	// Roles says what this process does, for the others to know.
	Roles []string

	// Members is told after each beat which processes live and what they do.
	Members func([]Member)

	// Beat is how often this process shows that it lives and looks after
	// schedules and dead processes. One that missed six beats is taken for
	// dead. By default two seconds. All processes must agree on it.
	Beat time.Duration
}

// A Member is a living process that shares the database.
type Member struct {
	ID    string
	Roles []string
}

// Queue is the work queue of a database. Insert may be called at any time, by
// any number of goroutines; Handle and Every before Start.
type Queue struct {
	db      *sqldb.DB
	conf    Config
	log     *slog.Logger
	id      string // of this process among the workers
	driver  driver
	inserts *river.Client[*sql.Tx]
	metrics *metrics

	workers   *river.Workers
	schedules []schedule
	client    *river.Client[*sql.Tx]
	loop      sync.WaitGroup
	endLoop   context.CancelFunc

	reachedSince time.Time // from when on the database answered every beat; zero if it always did

	started  atomic.Bool // nudges are heard, if it does jobs
	stopping atomic.Bool // running jobs are being cut short

	mu       sync.Mutex
	active   map[attempt]context.CancelCauseFunc // that run in this process
	lostFrom map[int64]time.Time                 // jobs that should but do not
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the tables of the queue up to date.
func Migrate(ctx context.Context, db *sqldb.DB) error {
	m, err := rivermigrate.New(newDriver(db), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("migrate jobs: %w", err)
	}
	// One step at a time: PostgreSQL cannot use a new value of an enumeration
	// in the transaction that adds it.
	for done := false; !done; {
		err := db.Exclusive(ctx, func(tx *sqldb.Tx) error {
			//lint:ignore SA1019 Migrate opens transactions of its own, outside the lock that Exclusive holds
			res, err := m.MigrateTx(tx.Context(), tx.SQL(), rivermigrate.DirectionUp, &rivermigrate.MigrateOpts{MaxSteps: 1})
			done = err == nil && len(res.Versions) == 0
			return err
		})
		if err != nil {
			return fmt.Errorf("migrate jobs: %w", err)
		}
	}
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("migrate jobs: %w", err)
	}
	return db.Migrate(ctx, "job", files)
}

// New returns the queue of a database that was migrated. It does no work before
// Start.
func New(db *sqldb.DB, conf Config) (*Queue, error) {
	if conf.Queues == nil {
		conf.Queues = map[string]int{river.QueueDefault: 10}
	}
	conf.Beat = cmp.Or(conf.Beat, 2*time.Second)
	q := &Queue{
		db: db, conf: conf, log: conf.Log, id: uuid.NewString(), driver: newDriver(db),
		workers: river.NewWorkers(), metrics: newMetrics(db),
		active: map[attempt]context.CancelCauseFunc{}, lostFrom: map[int64]time.Time{},
	}
	var err error
	q.inserts, err = river.NewClient(newDriver(db), &river.Config{
		Logger: q.riverLog(),
		Hooks:  insertHooks,
	})
	if err != nil {
		return nil, fmt.Errorf("set up job queue: %w", err)
	}
	if conf.Metrics != nil {
		if err := conf.Metrics.Register(q.metrics); err != nil {
			return nil, fmt.Errorf("register job metrics: %w", err)
		}
	}
	return q, nil
}

func (q *Queue) riverLog() *slog.Logger { return slog.New(quiet{q.log.Handler()}) }

// Start begins to do jobs, once in the life of a Queue. It returns when the
// workers run; Stop ends them.
func (q *Queue) Start(ctx context.Context) (err error) {
	if q.doesJobs() {
		if q.client, err = q.newWorkers(); err != nil {
			return fmt.Errorf("start job queue: %w", err)
		}
	}
	if _, err := q.beat(ctx); err != nil {
		return fmt.Errorf("start job queue: %w", err)
	}
	// The work does not end with ctx, which is that of starting, but with Stop.
	ctx = context.WithoutCancel(ctx)
	if q.doesJobs() {
		if err := q.client.Start(ctx); err != nil {
			return fmt.Errorf("start job queue: %w", err)
		}
	}
	q.started.Store(true)
	ctx, q.endLoop = context.WithCancel(ctx)
	q.loop.Go(func() { q.tend(ctx) })
	return nil
}

// doesJobs reports whether this process does jobs, and does not only insert them.
func (q *Queue) doesJobs() bool { return len(q.conf.Queues) > 0 }

// newWorkers returns the River client that does jobs.
func (q *Queue) newWorkers() (*river.Client[*sql.Tx], error) {
	queues := map[string]river.QueueConfig{}
	for name, workers := range q.conf.Queues {
		queues[name] = river.QueueConfig{MaxWorkers: workers}
	}
	return river.NewClient(q.driver, &river.Config{
		ID:      q.id,
		Logger:  q.riverLog(),
		Queues:  queues,
		Workers: q.workers,

		FetchCooldown:     20 * time.Millisecond,
		FetchPollInterval: 100 * time.Millisecond,
		JobTimeout:        -1, // handlers have their own
		RetryPolicy:       backoff{},

		CompletedJobRetentionPeriod: time.Hour,
		ReindexerSchedule:           river.NeverSchedule(),
		// River knows a dead worker only by the time it takes. See rescue.go.
		RescueStuckJobsAfter: 7 * 24 * time.Hour,
	})
}

// Stop takes no more jobs and waits for those that run. When ctx ends first,
// it has them break off; they go back to the queue.
func (q *Queue) Stop(ctx context.Context) error {
	if !q.started.Swap(false) {
		return nil
	}
	var err error
	if q.doesJobs() {
		err = q.stopWorkers(ctx)
	}
	q.endLoop()
	q.loop.Wait()
	return errors.Join(err, q.signOff(context.WithoutCancel(ctx)))
}

func (q *Queue) stopWorkers(ctx context.Context) error {
	err := q.client.Stop(ctx)
	if err == nil || ctx.Err() == nil {
		return err
	}
	q.stopping.Store(true)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := q.client.StopAndCancel(grace); err != nil {
		return fmt.Errorf("stop job queue: a job does not end: %w", err)
	}
	return nil
}

// CopySkip names the tables of the queue that are not copied to another database:
// what River knows about its own tables and processes.
var CopySkip = []string{"river_client", "river_client_queue", "river_leader", "river_migration", "river_queue"}
