// Package job is a queue of work on the database.
//
// A job is inserted in the transaction of the change that calls for it, so both
// are there or neither. Any number of processes may share the queue of one
// PostgreSQL database; each job is taken by one of them. When a process dies its
// jobs are taken up by another within seconds.
//
// A job is done at least once: a handler may be called again for a job that it
// did before, if the process died before that was on record. So handlers do
// what they do idempotently.
//
// The work is done by River (riverqueue.com), whose types stay in here. What is
// added to it: life signs, so that the jobs of a dead process need not wait for
// an hour; schedules that outlive a restart; uniqueness by a key; jobs that
// exclude each other.
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

// Options say when and how a job is to be done. The zero value is fit for use.
type Options struct {
	// Queue names the workers that do the job: "default" unless given.
	Queue string

	// At is the earliest time to do it.
	At time.Time

	// Priority is 1 for jobs to be done first, up to 4. By default 2. Among jobs with
	// a Share it counts within the share, and little between shares.
	Priority int

	// Share says whom the job is for, such as an organisation. The shares that have
	// jobs in a queue take turns, so that one with many jobs does not hold up the
	// others. It has no effect on a job with At.
	Share string

	// Attempts is how often a job is tried that fails. By default 10.
	Attempts int

	// Unique is a key of which there is only one job of this kind at a time:
	// while one waits or runs, another is not inserted. Once is what tells
	// whether a running one counts.
	Unique string

	// Once narrows Unique. By default a running job counts.
	Once Once

	// Exclusive names something that only one job may work on at a time, of
	// whatever kind. Others that name it wait until that one is done.
	Exclusive string
}

// Once tells which jobs are in the way of another with the same key.
type Once uint8

const (
	// UntilDone lets another in when the first has ended.
	UntilDone Once = iota

	// UntilStarted lets another in when the first begins to run. What the job
	// reads when it runs therefore includes everything that was committed
	// together with a job not inserted because of it.
	UntilStarted
)

// Job is one job as a handler sees it.
type Job[T Args] struct {
	ID       int64
	Args     T
	Attempt  int // 1 at first
	Attempts int // how many there may be
	Created  time.Time
}

// Last reports whether the job will not be tried again if it fails now.
func (j Job[T]) Last() bool { return j.Attempt >= j.Attempts }

// Fail marks an error that another attempt would not change: the job is given up.
func Fail(err error) error { return &failError{err} }

type failError struct{ err error }

func (e *failError) Error() string { return e.err.Error() }
func (e *failError) Unwrap() error { return e.err }

// Later is returned by a handler that wants to be called again after d, without
// having failed.
func Later(d time.Duration) error { return &laterError{d} }

type laterError struct{ after time.Duration }

func (e *laterError) Error() string { return fmt.Sprintf("again in %s", e.after) }

// errLost ends the jobs of a process that others took for dead.
var errLost = errors.New("another process took this one for dead and its jobs over")

// Handler does jobs of one kind.
type Handler[T Args] func(ctx context.Context, j Job[T]) error
