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
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivermigrate"

	"vigil/internal/sqldb"
	"vigil/internal/telemetry/tracing"
)

// Config configures a queue. Only Log is required.
type Config struct {
	Log     *slog.Logger
	Metrics prometheus.Registerer // none if nil
	Tracer  *tracing.Tracer       // none if nil

	// Queues holds the queues whose jobs this process executes, with the number of
	// workers of each. The default is 10 workers for "default". With an empty map the
	// process only inserts jobs.
	Queues map[string]int

	// ShareLimits holds, by queue, how many jobs of one share (see [Options.Share]) may run
	// at the same time in all processes together. Queues that are not in it have no limit.
	// All processes must use the same values.
	ShareLimits map[string]int

	// Roles are the roles of this process, which other processes can see.
	Roles []string

	// Members is called after each heartbeat with the living processes.
	Members func([]Member)

	// Heartbeat is the interval at which this process renews its lease, inserts
	// scheduled jobs and rescues the jobs of dead processes. A lease expires after six
	// heartbeats. The default is two seconds. All processes must use the same value.
	Heartbeat time.Duration
}

const defaultHeartbeat = 2 * time.Second

// A Member is a living process on the same database.
type Member struct {
	ID    string
	Roles []string
}

// Queue is the job queue of a database. Insert is safe for concurrent use. Handle and
// Every must be called before Start.
type Queue struct {
	db      *sqldb.DB
	conf    Config
	log     *slog.Logger
	id      string // of this process
	driver  driver
	inserts *river.Client[*sql.Tx] // client that only inserts jobs
	metrics *metrics

	workers   *river.Workers
	schedules []schedule
	client    *river.Client[*sql.Tx] // client that executes jobs; nil if this process executes none
	loop      sync.WaitGroup
	endLoop   context.CancelFunc

	// reachableSince is the time since which the database has been reachable: one heartbeat
	// after the last one that failed. It is zero if none has failed.
	reachableSince time.Time

	started  atomic.Bool
	stopping atomic.Bool // running jobs are being cancelled

	mu     sync.Mutex
	active map[attempt]context.CancelCauseFunc // attempts that run in this process

	// lost holds the attempts that the database stores as running in this process but that
	// do not run. Only maintain uses it.
	lost map[attempt]missing
}

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate creates or updates the tables of the queue.
func Migrate(ctx context.Context, db *sqldb.DB) error {
	m, err := rivermigrate.New(newDriver(db), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("migrate jobs: %w", err)
	}
	// One step at a time: PostgreSQL cannot use a new value of an enumeration
	// in the transaction that adds it.
	for done := false; !done; {
		err := db.Exclusive(ctx, func(tx *sqldb.Tx) error {
			if tx.ReadOnly() { // the database was opened read-only
				done = true
				return checkMigrated(m, tx)
			}
			//lint:ignore SA1019 River's Migrate opens transactions of its own, outside the lock that Exclusive holds
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

// checkMigrated fails with [sqldb.ErrPending] if migrations of River are pending.
func checkMigrated(m *rivermigrate.Migrator[*sql.Tx], tx *sqldb.Tx) error {
	res, err := m.ValidateTx(tx.Context(), tx.SQL())
	if err == nil && !res.OK {
		err = fmt.Errorf("%w: %s", sqldb.ErrPending, strings.Join(res.Messages, "; "))
	}
	return err
}

// New returns the queue of a migrated database. It executes no jobs before Start.
func New(db *sqldb.DB, conf Config) (*Queue, error) {
	if conf.Queues == nil {
		conf.Queues = map[string]int{river.QueueDefault: 10}
	}
	conf.Heartbeat = cmp.Or(conf.Heartbeat, defaultHeartbeat)
	q := &Queue{
		db: db, conf: conf, log: conf.Log, id: uuid.NewString(), driver: newDriver(db),
		workers: river.NewWorkers(), metrics: newMetrics(db),
		active: map[attempt]context.CancelCauseFunc{}, lost: map[attempt]missing{},
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

func (q *Queue) riverLog() *slog.Logger { return slog.New(warnings{q.log.Handler()}) }

// Start starts the workers. It may be called once in the life of a Queue.
func (q *Queue) Start(ctx context.Context) (err error) {
	if q.executesJobs() {
		if q.client, err = q.newExecutor(); err != nil {
			return fmt.Errorf("start job queue: %w", err)
		}
	}
	if _, err := q.renewLease(ctx); err != nil {
		return fmt.Errorf("start job queue: %w", err)
	}
	// ctx may end when the start is complete; the workers run until Stop.
	ctx = context.WithoutCancel(ctx)
	if q.executesJobs() {
		if err := q.client.Start(ctx); err != nil {
			return fmt.Errorf("start job queue: %w", err)
		}
	}
	q.started.Store(true)
	ctx, q.endLoop = context.WithCancel(ctx)
	q.loop.Go(func() { q.maintain(ctx) })
	return nil
}

// executesJobs reports whether this process executes jobs.
func (q *Queue) executesJobs() bool { return len(q.conf.Queues) > 0 }

// newExecutor returns the River client that executes jobs.
func (q *Queue) newExecutor() (*river.Client[*sql.Tx], error) {
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
		JobTimeout:        -1, // handlers have their own timeouts
		RetryPolicy:       backoff{},

		CompletedJobRetentionPeriod: time.Hour,
		ReindexerSchedule:           river.NeverSchedule(),
		// River rescues jobs only by their running time. Leases are faster; see rescue.go.
		RescueStuckJobsAfter: 7 * 24 * time.Hour,
	})
}

// cancelGrace is how long cancelled jobs may take to end. On a machine that is short of
// processor time, a job needs many seconds to notice and to record that it was cancelled.
// The total of the time to drain a server, to wait for its requests, to wait for its jobs and
// cancelGrace must be below the two minutes after which systemd and Kubernetes kill the process.
const cancelGrace = 30 * time.Second

// Stop fetches no more jobs and waits for the running ones. When ctx ends first, it
// cancels them; they return to the queue.
func (q *Queue) Stop(ctx context.Context) error {
	if !q.started.Swap(false) {
		return nil
	}
	var err error
	if q.executesJobs() {
		err = q.stopWorkers(ctx)
	}
	q.endLoop()
	q.loop.Wait()
	return errors.Join(err, q.deleteLease(context.WithoutCancel(ctx)))
}

func (q *Queue) stopWorkers(ctx context.Context) error {
	err := q.client.Stop(ctx)
	if err == nil || ctx.Err() == nil {
		return err
	}
	q.stopping.Store(true)
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelGrace)
	defer cancel()
	if err := q.client.StopAndCancel(grace); err != nil {
		return fmt.Errorf("stop job queue: a job does not end: %w", err)
	}
	return nil
}

// CopySkip names the tables that are not copied to another database: River's own
// migrations and the state of its processes.
var CopySkip = []string{"river_client", "river_client_queue", "river_leader", "river_migration", "river_queue"}
