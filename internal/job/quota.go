package job

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"vigil/internal/fault"
	"vigil/internal/sqldb"
)

// A queue in [Config.ShareLimits] runs a limited number of jobs of one share at the same time.
// Jobs are inserted into it in River's state "pending", in which workers do not fetch
// them. Every admitInterval a process makes those available that are within the quota of
// their share, in the order of their turns.

// admitInterval is the longest time that a pending job within the quota waits.
const admitInterval = 200 * time.Millisecond

// retryFull is when a caller may try again to insert a job that exceeded MaxWaiting.
const retryFull = 30 * time.Second

// checkWaiting returns a fault if as many jobs wait as opts allows.
func (q *Queue) checkWaiting(tx *sqldb.Tx, opts Options) error {
	if opts.MaxWaiting == 0 {
		return nil
	}
	n, err := waiting(tx, opts.Queue, []string{shareKey(opts.Share, cmp.Or(opts.Priority, defaultPriority))})
	if err != nil {
		return fmt.Errorf("count waiting jobs: %w", err)
	}
	if n >= opts.MaxWaiting {
		return &fault.Error{Kind: fault.Limited, Message: fmt.Sprintf("%d requests of your organisation for the same work are waiting, which is the limit; try again later", n), After: retryFull}
	}
	return nil
}

// admit makes pending jobs available that are within the quota of their share. In a queue
// without a quota it makes all available: a process with a quota has inserted them.
func (q *Queue) admit(ctx context.Context) error {
	var queues []string
	err := q.db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		queues, err = sqldb.Query(tx, sqldb.Scalar[string], `SELECT DISTINCT queue FROM river_job WHERE state = 'pending'`)
		return err
	})
	for _, queue := range queues {
		if err == nil {
			err = q.db.Write(ctx, func(tx *sqldb.Tx) error { return q.admitTo(tx, queue) })
		}
	}
	return err
}

// admitTo is admit for one queue.
func (q *Queue) admitTo(tx *sqldb.Tx, queue string) error {
	if err := tx.Lock("job_admit/" + queue); err != nil {
		return err
	}
	// The share without the priority, which is one digit and a slash.
	owner := `substr(` + shareOf(tx.Dialect()) + `, 3)`
	limit := q.conf.ShareLimits[queue]
	if limit == 0 {
		limit = 1 << 30 // no quota
	}
	n, err := tx.Exec(`
		WITH active AS (
			SELECT `+owner+` AS owner, count(*) AS jobs
			FROM river_job
			WHERE queue = $1 AND state IN ('available', 'running', 'retryable', 'scheduled')
			GROUP BY 1
		), next AS (
			SELECT id, `+owner+` AS owner, row_number() OVER (PARTITION BY `+owner+` ORDER BY scheduled_at, id) AS place
			FROM river_job
			WHERE queue = $1 AND state = 'pending'
		)
		UPDATE river_job
		SET state = 'available'
		WHERE id IN (SELECT next.id FROM next LEFT JOIN active ON active.owner = next.owner WHERE place <= $2 - coalesce(active.jobs, 0))`,
		queue, limit)
	if err != nil {
		return fmt.Errorf("admit jobs to %s: %w", queue, err)
	}
	if n > 0 {
		tx.AfterCommit(func() { q.wake(queue) })
	}
	return nil
}
