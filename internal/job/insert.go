package job

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivershared/uniquestates"
	"github.com/riverqueue/river/rivertype"

	"vigil/internal/sqldb"
	"vigil/internal/telemetry/tracing"
)

// metadata is stored with a job, beside its arguments.
type metadata struct {
	Exclusive    string `json:"exclusive,omitempty"`
	UntilStarted bool   `json:"until_started,omitempty"`
	Share        string `json:"share,omitempty"`   // shareKey
	Turn         int64  `json:"turn,omitempty"`    // milliseconds since 1970
	Trace        string `json:"trace,omitempty"`   // traceparent of the change that the job follows from
	Snoozes      int    `json:"snoozes,omitempty"` // counted by River
}

// defaultPriority is the default priority, and River's priority of every job with a
// share.
const defaultPriority = 2

// Insert inserts a job, which is executed once tx is committed. It returns false if
// Options.Unique prevents it.
func (q *Queue) Insert(tx *sqldb.Tx, args Args, opts Options) (bool, error) {
	opts.Queue = cmp.Or(opts.Queue, river.QueueDefault)
	data := metadata{
		Exclusive:    opts.Exclusive,
		UntilStarted: opts.Unique != "" && opts.Once == UntilStarted,
		Trace:        tracing.Parent(tx.Context()),
	}
	priority := cmp.Or(opts.Priority, defaultPriority)
	at := opts.At
	pending := false
	if opts.Share != "" && at.IsZero() {
		if err := q.checkWaiting(tx, opts); err != nil {
			return false, err
		}
		var err error
		if at, err = q.turn(tx, opts, time.Now()); err != nil {
			return false, fmt.Errorf("insert job %s: %w", args.Kind(), err)
		}
		data.Share = shareKey(opts.Share, priority)
		data.Turn = at.UnixMilli()
		priority = defaultPriority
		pending = q.conf.ShareLimits[opts.Queue] > 0
	}
	meta, err := json.Marshal(data)
	if err != nil {
		return false, fmt.Errorf("insert job %s: %w", args.Kind(), err)
	}
	ctx := context.WithValue(tx.Context(), uniqueKey{}, opts.Unique)
	res, err := q.inserts.InsertTx(ctx, tx.SQL(), args, &river.InsertOpts{
		MaxAttempts: cmp.Or(opts.Attempts, 10),
		Metadata:    meta,
		Pending:     pending, // until admit finds that it is within the quota
		Priority:    priority,
		Queue:       opts.Queue,
		ScheduledAt: at,
	})
	if err != nil {
		return false, fmt.Errorf("insert job %s: %w", args.Kind(), err)
	}
	if res.UniqueSkippedAsDuplicate {
		return false, nil
	}
	if err := q.expedite(tx, res.Job); err != nil {
		return false, fmt.Errorf("insert job %s: %w", args.Kind(), err)
	}
	tx.AfterCommit(func() { q.wake(res.Job.Queue) })
	return true, nil
}

// wake makes the workers of this process fetch jobs of a queue now.
func (q *Queue) wake(queue string) {
	if q.started.Load() && q.executesJobs() {
		q.driver.pilot.wake(queue)
	}
}

// expedite makes a job that is due within seconds available, as River does with
// retries; workers fetch it when it is due. Otherwise it would wait for River's
// scheduler, which runs every five seconds.
func (q *Queue) expedite(tx *sqldb.Tx, job *rivertype.JobRow) error {
	if job.State != rivertype.JobStateScheduled || time.Until(job.ScheduledAt) > 10*time.Second {
		return nil
	}
	_, err := tx.Exec("UPDATE river_job SET state = 'available' WHERE id = $1", job.ID)
	return err
}

// uniqueKey is the context key of Options.Unique during an insertion.
type uniqueKey struct{}

// insertHooks set the unique key of a job. River would derive it from the arguments.
var insertHooks = []rivertype.Hook{
	river.HookInsertBeginFunc(func(ctx context.Context, params *rivertype.JobInsertParams) error {
		if key, _ := ctx.Value(uniqueKey{}).(string); key != "" {
			sum := sha256.Sum256([]byte(params.Kind + "\x00" + key))
			params.UniqueKey = sum[:]
			params.UniqueStates = unfinished
		}
		return nil
	}),
}

// unfinished are the states in which a job prevents another with the same key.
var unfinished = uniquestates.UniqueStatesToBitmask([]rivertype.JobState{
	rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable,
	rivertype.JobStateRunning, rivertype.JobStateScheduled,
})
