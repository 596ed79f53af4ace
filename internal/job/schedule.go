package job

import (
	"cmp"
	"context"
	"time"

	"vigil/internal/sqldb"
)

// A schedule is a job that is inserted at an interval.
type schedule struct {
	name     string
	interval time.Duration
	args     Args
	opts     Options
}

// Every inserts a job at once and then at an interval, with the precision of a
// heartbeat. The next due time is in the database, so that the interval survives
// restarts and the processes on one database insert the job once. While one such job
// waits or runs, another is not inserted.
func (q *Queue) Every(name string, interval time.Duration, args Args, opts Options) {
	opts.Unique = cmp.Or(opts.Unique, "every/"+name)
	opts.Priority = cmp.Or(opts.Priority, 1) // before jobs with a share, whose scheduled_at is long past
	q.schedules = append(q.schedules, schedule{name, interval, args, opts})
}

// insertDue inserts the scheduled jobs that are due.
func (q *Queue) insertDue(ctx context.Context) error {
	for _, s := range q.schedules {
		// Mostly none is due: a read transaction checks first.
		due := false
		err := q.db.Read(ctx, func(tx *sqldb.Tx) error {
			now, dueAt, err := s.times(tx, "")
			due = now >= dueAt
			return err
		})
		if err != nil {
			return err
		}
		if !due {
			continue
		}
		if err := q.db.Write(ctx, func(tx *sqldb.Tx) error { return q.insertOne(tx, s) }); err != nil {
			return err
		}
	}
	return nil
}

// times returns the current time and the time at which the job is due. The argument lock is
// appended to the query: the result of ForUpdate, or "" to lock nothing.
func (s schedule) times(tx *sqldb.Tx, lock string) (now, due int64, err error) {
	if now, err = clock(tx); err != nil {
		return 0, 0, err
	}
	due, err = sqldb.QueryOne(tx, sqldb.Scalar[int64], "SELECT due_at FROM job_schedule WHERE name = $1"+lock, s.name)
	if sqldb.Missing(err) {
		return now, 0, nil
	}
	// A reduced interval takes effect at once.
	return now, min(due, now+s.interval.Milliseconds()), err
}

// insertOne inserts a job unless another process has inserted it.
func (q *Queue) insertOne(tx *sqldb.Tx, s schedule) error {
	// The row must exist to be locked.
	_, err := tx.Exec("INSERT INTO job_schedule (name, due_at) VALUES ($1, 0) ON CONFLICT (name) DO NOTHING", s.name)
	if err != nil {
		return err
	}
	now, due, err := s.times(tx, tx.ForUpdate())
	if err != nil || now < due {
		return err
	}
	next := due + s.interval.Milliseconds()
	if next <= now {
		next = now + s.interval.Milliseconds() // missed jobs are not inserted later
	}
	if _, err := tx.Exec("UPDATE job_schedule SET due_at = $2 WHERE name = $1", s.name, next); err != nil {
		return err
	}
	_, err = q.Insert(tx, s.args, s.opts)
	return err
}
