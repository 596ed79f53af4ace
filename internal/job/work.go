package job

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"vigil/internal/sqldb"
)

// defaultTimeout is the timeout of handlers without one.
const defaultTimeout = 10 * time.Minute

// Handle registers the handler of jobs of kind T. The context of h ends after the
// timeout, ten minutes if it is zero.
func Handle[T Args](q *Queue, timeout time.Duration, h Handler[T]) error {
	w := &worker[T]{queue: q, handler: h, timeout: cmp.Or(timeout, defaultTimeout)}
	if err := river.AddWorkerSafely(q.workers, w); err != nil {
		return fmt.Errorf("add job handler: %w", err)
	}
	return nil
}

// worker adapts a handler to River.
type worker[T Args] struct {
	river.WorkerDefaults[T]
	queue   *Queue
	handler Handler[T]
	timeout time.Duration
}

func (w *worker[T]) Timeout(*river.Job[T]) time.Duration { return w.timeout }

func (w *worker[T]) Work(ctx context.Context, j *river.Job[T]) error {
	return w.queue.work(ctx, j.JobRow, func(ctx context.Context) error {
		return w.handler(ctx, Job[T]{
			ID: j.ID, Args: j.Args, Attempt: j.Attempt, Attempts: j.MaxAttempts, Created: j.CreatedAt,
		})
	})
}

// An attempt is one run of a job. Two attempts of a job run at once when a process
// whose lease expired fetches its own job again before it notices.
type attempt struct {
	job    int64
	number int
}

// work executes a job by calling handle, and returns the result for River.
func (q *Queue) work(ctx context.Context, job *rivertype.JobRow, handle func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if q.interrupts(ctx) {
		// While River is being stopped, it can fetch a job that has just returned to the queue.
		return river.JobSnooze(0)
	}
	current := attempt{job.ID, job.Attempt}
	q.mu.Lock()
	q.active[current] = cancel
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		delete(q.active, current)
		q.mu.Unlock()
	}()

	var meta metadata
	if err := json.Unmarshal(job.Metadata, &meta); err != nil {
		return fmt.Errorf("read metadata of job: %w", err)
	}
	if meta.Exclusive != "" {
		free, err := q.lock(ctx, job.ID, meta.Exclusive)
		if err != nil {
			return q.result(ctx, q.interruption(ctx, err))
		}
		if !free {
			return river.JobSnooze(200*time.Millisecond + rand.N(100*time.Millisecond))
		}
		defer q.unlock(ctx, job.ID, meta.Exclusive)
	}
	if meta.UntilStarted {
		if err := q.releaseUnique(ctx, job.ID); err != nil {
			return q.result(ctx, q.interruption(ctx, err))
		}
	}

	return q.result(ctx, q.measure(ctx, job, meta, handle))
}

// measure calls handle and records the attempt in the metrics and in a trace.
func (q *Queue) measure(ctx context.Context, job *rivertype.JobRow, meta metadata, handle func(context.Context) error) (err error) {
	dueAt := due(job, meta)
	done := q.metrics.begin(job, dueAt)
	ctx, span := q.conf.Tracer.Job(ctx, job.Kind, job.Queue, meta.Trace, dueAt)
	span.SetInt("vigil.attempt", job.Attempt)
	err = errPanic // it stays if handle panics
	defer func() {
		span.End(failure(err))
		done(err)
	}()
	err = handle(ctx)
	if outcome(err) == "failed" {
		err = q.interruption(ctx, err)
	}
	return err
}

// interrupts reports whether the context of an attempt ended and this process stops.
func (q *Queue) interrupts(ctx context.Context) bool { return q.stopping.Load() && ctx.Err() != nil }

// interruption returns errInterrupted if this process interrupts an attempt, and otherwise err, the error of the attempt.
func (q *Queue) interruption(ctx context.Context, err error) error {
	if q.interrupts(ctx) {
		return errInterrupted
	}
	return err
}

// errPanic is the error of an attempt in the metrics and traces if its handler panics. River
// recovers the panic.
var errPanic = errors.New("the handler panicked")

// errInterrupted replaces the error of an attempt whose context ended because this process
// stops. The attempt does not count: the job returns to the queue.
var errInterrupted = errors.New("the process stops")

// failure returns the error of a handler that failed. It returns nil if the handler asked to
// be called again, or was interrupted because the process stops.
func failure(err error) error {
	if outcome(err) != "failed" {
		return nil
	}
	return err
}

// result translates the error of a handler into one of River.
func (q *Queue) result(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if later, ok := errors.AsType[*laterError](err); ok {
		return river.JobSnooze(later.after)
	}
	if errors.Is(err, errInterrupted) {
		return river.JobSnooze(0)
	}
	if _, ok := errors.AsType[*failError](err); ok {
		return river.JobCancel(err)
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		return fmt.Errorf("%w (%w)", err, cause)
	}
	return err
}

// lock takes the lock with a name for a job. It returns false if another job holds it.
func (q *Queue) lock(ctx context.Context, id int64, name string) (bool, error) {
	var n int64
	err := q.db.Write(ctx, func(tx *sqldb.Tx) (err error) {
		// The job may still hold the lock, from an attempt whose end was not stored.
		n, err = tx.Exec(`
			INSERT INTO job_lock (name, job_id, worker)
			VALUES ($1, $2, $3)
			ON CONFLICT (name) DO UPDATE
			SET worker = excluded.worker
			WHERE job_lock.job_id = excluded.job_id`, name, id, q.id)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", name, err)
	}
	return n == 1, nil
}

// unlock releases a lock.
func (q *Queue) unlock(ctx context.Context, id int64, name string) {
	err := q.db.Write(context.WithoutCancel(ctx), func(tx *sqldb.Tx) error {
		_, err := tx.Exec("DELETE FROM job_lock WHERE name = $1 AND job_id = $2 AND worker = $3", name, id, q.id)
		return err
	})
	if err != nil {
		q.log.ErrorContext(ctx, "cannot release the lock of a job", "name", name, "job", id, "error", err)
	}
}

// releaseUnique permits another job with the same unique key as the given job. When it returns,
// the transactions that inserted no job because of the given one have been committed.
func (q *Queue) releaseUnique(ctx context.Context, id int64) error {
	return q.db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec("UPDATE river_job SET unique_key = NULL WHERE id = $1", id)
		return err
	})
}

// backoff is an exponential backoff with jitter: from one second to 15 minutes.
type backoff struct{}

func (backoff) NextRetry(job *rivertype.JobRow) time.Time {
	const maxDelay = 15 * time.Minute
	wait := maxDelay
	if n := job.Attempt - 1; n < 10 {
		wait = min(maxDelay, time.Second<<max(n, 0))
	}
	return time.Now().Add(wait - wait/10 + rand.N(wait/5))
}
