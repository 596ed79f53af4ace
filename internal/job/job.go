// Package job is a job queue on the database.
//
// [Handle] registers the handler of a type of job, [Queue.Every] a periodic job, and
// [Queue.Insert] adds a job in a transaction.
//
// A job is inserted in the transaction of the change that requires it, so that
// either both are committed or neither. Any number of processes may share the queue
// of one PostgreSQL database; each job is taken by one of them. When a process dies,
// another takes its jobs within seconds.
//
// Jobs are executed at least once: a process may die after a handler has returned
// and before the result is stored. Handlers must be idempotent.
//
// The package wraps River (riverqueue.com) and does not expose its types. It adds
// heartbeats, so that the jobs of a dead process are rescued within seconds instead
// of an hour; schedules that survive a restart; uniqueness by a key; mutual exclusion
// between jobs; fair queueing between organisations, and quotas of each.
package job

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Args are the arguments of a job. They are stored as JSON.
type Args interface {
	// Kind names the kind of job. It is stored with each job and must not change.
	Kind() string
}

// Options say when and how a job is executed. The zero value is usable.
type Options struct {
	// Queue is the name of the queue: "default" if empty.
	Queue string

	// At is the earliest time to execute the job.
	At time.Time

	// Priority is from 1 (first) to 4; the default is 2. Among jobs with a Share it
	// orders mainly the jobs of the same share.
	Priority int

	// Share identifies the owner of the job, such as an organisation. The shares with
	// waiting jobs take turns (fair queueing), so that one with many jobs does not
	// delay the others. It has no effect on a job with At.
	Share string

	// MaxWaiting limits how many jobs of the same Share, Priority and queue wait. If as
	// many already wait, Insert fails with fault.Limited. 0 is no limit.
	MaxWaiting int

	// Attempts is the maximum number of attempts. The default is 10.
	Attempts int

	// Unique is a key: while a job of the same kind and key waits or runs, another is
	// not inserted. Once says whether a running job counts.
	Unique string

	// Once applies to Unique. By default a running job counts.
	Once Once

	// Exclusive is the name of a lock that the job holds while it runs. Jobs of any
	// kind with the same name do not run at the same time.
	Exclusive string
}

// Once says how long a job prevents others with the same key.
type Once uint8

const (
	// UntilDone permits another when the first has ended.
	UntilDone Once = iota

	// UntilStarted permits another when the first starts to run. If a transaction did
	// not insert a job because the first still waited, the changes of this transaction are
	// committed before the handler of the first is called.
	UntilStarted
)

// Job is a job as passed to its handler.
type Job[T Args] struct {
	ID       int64
	Args     T
	Attempt  int // 1 at first
	Attempts int // the maximum
	Created  time.Time
}

// Last reports whether this is the last attempt.
func (j Job[T]) Last() bool { return j.Attempt >= j.Attempts }

// Fail marks an error as permanent: the job is not retried.
func Fail(err error) error { return &failError{err} }

type failError struct{ err error }

func (e *failError) Error() string { return e.err.Error() }
func (e *failError) Unwrap() error { return e.err }

// Later returns an error by which a handler asks to be called again after d. It does
// not count as a failure.
func Later(d time.Duration) error { return &laterError{d} }

type laterError struct{ after time.Duration }

func (e *laterError) Error() string { return fmt.Sprintf("retry in %s", e.after) }

// errLeaseExpired cancels the jobs of a process whose lease expired.
var errLeaseExpired = errors.New("the lease of this process expired and another process took its jobs")

// Handler executes jobs of one kind.
type Handler[T Args] func(ctx context.Context, j Job[T]) error
