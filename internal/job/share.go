package job

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"vigil/internal/sqldb"
)

// Jobs with [Options.Share] are ordered by fair queueing. River fetches jobs of the same
// priority in the order of scheduled_at, so that column holds the job's turn: each waiting
// job of the same share delays the turn by turnTime, and each level of priority by
// priorityTurns times turnTime. The times are in the past, because River does not fetch a job
// before its scheduled_at. A job that has waited for turnTime is one turn ahead of a new job, so
// that none starves.
const (
	turnTime      = 10 * time.Minute // about the duration of the longest jobs
	priorityTurns = 5
	turnHorizon   = 30 * 24 * time.Hour // the first turn is this long ago
)

// shareKey is the value in the metadata that identifies share and priority.
func shareKey(share string, priority int) string { return strconv.Itoa(priority) + "/" + share }

// turn returns the turn of a new job.
func (q *Queue) turn(tx *sqldb.Tx, opts Options, now time.Time) (time.Time, error) {
	priority := cmp.Or(opts.Priority, defaultPriority)
	var keys []string
	for p := 1; p <= priority; p++ { // less urgent jobs do not delay it
		keys = append(keys, shareKey(opts.Share, p))
	}
	n, err := waiting(tx, opts.Queue, keys)
	if err != nil {
		return now, err
	}
	turns := time.Duration(n + (priority-1)*priorityTurns)
	return now.Add(-turnHorizon + min(turns*turnTime, turnHorizon)).Truncate(time.Millisecond), nil
}

// waiting returns the number of jobs of some shares that wait in a queue.
func waiting(tx *sqldb.Tx, queue string, keys []string) (int, error) {
	args := []any{queue}
	in := sqldb.List(&args, keys)
	return sqldb.QueryOne(tx, sqldb.Scalar[int], `
		SELECT count(*)
		FROM river_job
		WHERE queue = $1 AND state IN ('available', 'pending') AND `+shareOf(tx.Dialect())+` IN `+in, args...)
}

// shareOf returns the SQL expression for the shareKey of a job, as the index job_share contains it.
func shareOf(d sqldb.Dialect) string {
	if d == sqldb.Postgres {
		return `(metadata ->> 'share')`
	}
	return `json_extract(metadata, '$.share')`
}

// restoreTurns gives jobs that were snoozed or retried, and are due again, the turn that
// they had before.
func (q *Queue) restoreTurns(ctx context.Context) error {
	args := []any{}
	var names []string
	for name := range q.conf.Queues {
		names = append(names, name)
	}
	if len(names) == 0 {
		return nil
	}
	// In a job that has its turn, scheduled_at is equal to the turn. A scheduled_at in the last hour
	// and over an hour after the turn comes from a snooze, a retry or a rescue.
	where := ` WHERE state = 'available' AND priority = ` + strconv.Itoa(defaultPriority) + ` AND queue IN ` + sqldb.List(&args, names)
	set := `to_timestamp((metadata ->> 'turn')::bigint / 1000.0)`
	if q.db.Dialect() == sqldb.Postgres {
		where += ` AND scheduled_at BETWEEN now() - interval '1 hour' AND now()
			AND (metadata ->> 'turn')::bigint < extract(epoch FROM scheduled_at - interval '1 hour') * 1000`
	} else {
		set = `strftime('%Y-%m-%d %H:%M:%f', json_extract(metadata, '$.turn') / 1000.0, 'unixepoch')`
		// River stores the time of a snooze as Go prints it, which SQLite cannot parse beyond the seconds.
		where += ` AND scheduled_at BETWEEN datetime('now', '-1 hour') AND datetime('now', 'subsec')
			AND json_extract(metadata, '$.turn') < (unixepoch(substr(scheduled_at, 1, 19)) - 3600) * 1000`
	}
	found := false
	err := q.db.Read(ctx, func(tx *sqldb.Tx) (err error) {
		found, err = sqldb.QueryOne(tx, sqldb.Scalar[bool], `SELECT EXISTS (SELECT 1 FROM river_job`+where+`)`, args...)
		return err
	})
	if err != nil || !found {
		return err
	}
	return q.db.Write(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(`UPDATE river_job SET scheduled_at = `+set+where, args...); err != nil {
			return fmt.Errorf("restore the turns of jobs: %w", err)
		}
		return nil
	})
}
