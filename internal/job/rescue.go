package job

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivertype"

	"vigil/internal/sqldb"
)

// leaseBeats is the number of heartbeats after which a lease expires.
const leaseBeats = 6

// A job that is stored as running in this process, and does not run, is rescued when
// lostBeats consecutive heartbeats have found it so and lostAfter has passed since the
// first of them. River needs this time to start a job that it has fetched, or to store the
// end of one. Time alone does not suffice: it also passes while the process is suspended.
const (
	lostBeats = 3
	lostAfter = 4 * time.Second
)

// maintain renews the lease, inserts scheduled jobs and rescues the jobs of dead
// processes at every heartbeat, and admits jobs, until ctx ends.
func (q *Queue) maintain(ctx context.Context) {
	tasks := []maintenance{
		{"renew its lease", q.keepLease},
		{"list the living processes", q.reportMembers},
		{"insert scheduled jobs", q.insertDue},
		{"restore the turns of jobs", q.restoreTurns},
		{"rescue the jobs of dead processes", q.rescue},
	}
	admission := maintenance{"admit jobs", q.admit}
	tick := time.NewTicker(q.conf.Heartbeat)
	defer tick.Stop()
	var admit <-chan time.Time // nil without quotas: it is never ready
	if len(q.conf.ShareLimits) > 0 {
		ticker := time.NewTicker(admitInterval)
		defer ticker.Stop()
		admit = ticker.C
	}
	for {
		for _, task := range tasks {
			q.do(ctx, task)
		}
		for beat := false; !beat; {
			q.do(ctx, admission)
			select {
			case <-ctx.Done():
				return
			case <-admit:
			case <-tick.C:
				beat = true
			}
		}
	}
}

// maintenance is a task of maintain.
type maintenance struct {
	what string
	run  func(context.Context) error
}

func (q *Queue) do(ctx context.Context, task maintenance) {
	if err := task.run(ctx); err != nil && ctx.Err() == nil {
		q.log.ErrorContext(ctx, "the job queue cannot "+task.what, "error", err)
	}
}

// keepLease renews the lease of this process. If the lease had expired, other
// processes have taken its jobs, so it cancels them.
func (q *Queue) keepLease(ctx context.Context) error {
	held, err := q.renewLease(ctx)
	if err != nil {
		q.reachableSince = time.Now().Add(q.conf.Heartbeat)
	}
	if err != nil || held {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, cancel := range q.active {
		cancel(errLeaseExpired)
	}
	q.log.ErrorContext(ctx, "lease of the job queue expired, other processes took its jobs", "cancelled", len(q.active))
	return nil
}

// renewLease renews or inserts the lease of this process, and reports whether it
// still held one.
func (q *Queue) renewLease(ctx context.Context) (held bool, err error) {
	err = q.db.Write(ctx, func(tx *sqldb.Tx) error {
		now, err := clock(tx)
		if err != nil {
			return err
		}
		n, err := tx.Exec("UPDATE job_worker SET seen_at = $2 WHERE id = $1", q.id, now)
		held = n == 1
		if err != nil || held {
			return err
		}
		_, err = tx.Exec("INSERT INTO job_worker (id, seen_at, roles) VALUES ($1, $2, $3)", q.id, now, strings.Join(q.conf.Roles, ","))
		return err
	})
	return held, err
}

// reportMembers calls Config.Members with the living processes.
func (q *Queue) reportMembers(ctx context.Context) error {
	if q.conf.Members == nil {
		return nil
	}
	var living []Member
	err := q.db.Read(ctx, func(tx *sqldb.Tx) error {
		now, err := clock(tx)
		if err != nil {
			return err
		}
		living, err = sqldb.Query(tx, scanMember, "SELECT id, roles FROM job_worker WHERE seen_at > $1", now-(leaseBeats*q.conf.Heartbeat).Milliseconds())
		return err
	})
	if err == nil {
		q.conf.Members(living)
	}
	return err
}

// Living returns the number of processes on a database whose lease has not expired. They
// must have the default heartbeat.
func Living(ctx context.Context, db *sqldb.DB) (n int64, err error) {
	err = db.Read(ctx, func(tx *sqldb.Tx) error {
		now, err := clock(tx)
		if err == nil {
			n, err = sqldb.QueryOne(tx, sqldb.Scalar[int64], "SELECT count(*) FROM job_worker WHERE seen_at > $1", now-(leaseBeats*defaultHeartbeat).Milliseconds())
		}
		return err
	})
	return n, err
}

func scanMember(r sqldb.Row) (m Member, err error) {
	var roles string
	err = r.Scan(&m.ID, &roles)
	if roles != "" {
		m.Roles = strings.Split(roles, ",")
	}
	return m, err
}

// clock returns the time of the database in milliseconds, which is the same for all
// processes.
func clock(tx *sqldb.Tx) (int64, error) {
	text := "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)"
	if tx.Dialect() == sqldb.Postgres {
		text = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"
	}
	return sqldb.QueryOne(tx, sqldb.Scalar[int64], text)
}

// rescue finds the jobs that no living process runs, and returns them to their queues.
func (q *Queue) rescue(ctx context.Context) error {
	var orphans []*rivertype.JobRow
	var dead []string
	find := func(tx *sqldb.Tx, running []*rivertype.JobRow) (err error) {
		orphans, dead, err = q.orphans(tx, running)
		return err
	}
	err := q.db.Read(ctx, func(tx *sqldb.Tx) error {
		running, err := q.runningJobs(tx)
		if err != nil {
			return err
		}
		q.countLost(running)
		return find(tx, running)
	})
	if err != nil || len(orphans)+len(dead) == 0 {
		return err
	}
	// Find the orphans again under the lock: another process may have rescued them meanwhile.
	err = q.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := tx.Lock("job_rescue"); err != nil {
			return err
		}
		running, err := q.runningJobs(tx)
		if err != nil {
			return err
		}
		if err := find(tx, running); err != nil {
			return err
		}
		return q.putBack(tx, orphans, dead)
	})
	if err == nil && len(orphans) > 0 {
		q.log.WarnContext(ctx, "jobs that no process runs were returned to their queues", "jobs", len(orphans))
	}
	return err
}

// orphans returns the running jobs that no living process runs, and the processes that
// died. After an outage of the database it first gives the other processes time to renew
// their leases. Until then it treats all processes as alive.
func (q *Queue) orphans(tx *sqldb.Tx, running []*rivertype.JobRow) (jobs []*rivertype.JobRow, dead []string, err error) {
	now, err := clock(tx)
	if err != nil {
		return nil, nil, err
	}
	trusted := time.Since(q.reachableSince) >= leaseBeats*q.conf.Heartbeat
	var alive []string
	for l, err := range sqldb.Each(tx, scanLease, "SELECT id, seen_at FROM job_worker") {
		if err != nil {
			return nil, nil, err
		}
		switch {
		case l.process == q.id:
		case !trusted, now-l.seen < (leaseBeats * q.conf.Heartbeat).Milliseconds():
			alive = append(alive, l.process)
		default:
			dead = append(dead, l.process)
		}
	}
	for _, j := range running {
		switch r := runner(j); {
		case r == q.id: // its lease does not matter: if it had expired, keepLease has cancelled the jobs
			if q.lost[attempt{j.ID, j.Attempt}].isLost(time.Now()) {
				jobs = append(jobs, j)
			}
		case trusted && !slices.Contains(alive, r):
			jobs = append(jobs, j)
		}
	}
	return jobs, dead, nil
}

// lease is a stored lease of a process.
type lease struct {
	process string
	seen    int64 // when it was last renewed, in milliseconds
}

func scanLease(r sqldb.Row) (l lease, err error) {
	err = r.Scan(&l.process, &l.seen)
	return l, err
}

// runningJobs returns all jobs stored as running.
func (q *Queue) runningJobs(tx *sqldb.Tx) ([]*rivertype.JobRow, error) {
	return q.driver.UnwrapExecutor(tx.SQL()).JobGetStuck(tx.Context(), &riverdriver.JobGetStuckParams{
		Max:          10_000,
		StuckHorizon: time.Now().Add(time.Hour), // all of them, even if clocks differ
	})
}

// runner returns the id of the process that runs a job.
func runner(j *rivertype.JobRow) string {
	if len(j.AttemptedBy) == 0 {
		return ""
	}
	return j.AttemptedBy[len(j.AttemptedBy)-1]
}

// countLost counts the consecutive heartbeats at which an attempt is stored as running in
// this process but does not run. Either River could not store the end of the attempt, because
// the database was unavailable for longer than River tries, or River was interrupted while it
// fetched the job.
func (q *Queue) countLost(running []*rivertype.JobRow) {
	q.mu.Lock()
	defer q.mu.Unlock()
	lost := map[attempt]missing{}
	for _, j := range running {
		a := attempt{j.ID, j.Attempt}
		if _, ok := q.active[a]; !ok && runner(j) == q.id {
			m := q.lost[a]
			if m.beats++; m.beats == 1 {
				m.since = time.Now()
			}
			lost[a] = m
		}
	}
	q.lost = lost
}

// missing says since when, and at how many heartbeats, an attempt did not run.
type missing struct {
	since time.Time
	beats int
}

func (m missing) isLost(now time.Time) bool {
	return m.beats >= lostBeats && now.Sub(m.since) >= lostAfter
}

// putBack returns jobs to their queues, discards those without attempts left, and
// deletes the leases of dead processes.
func (q *Queue) putBack(tx *sqldb.Tx, jobs []*rivertype.JobRow, dead []string) error {
	now := time.Now()
	p := &riverdriver.JobRescueManyParams{}
	for _, j := range jobs {
		note, err := json.Marshal(rivertype.AttemptError{At: now, Attempt: j.Attempt, Error: "the process that ran the job is gone"})
		if err != nil {
			return err
		}
		state, ended := rivertype.JobStateAvailable, (*time.Time)(nil)
		if j.Attempt >= j.MaxAttempts {
			state, ended = rivertype.JobStateDiscarded, &now
		}
		p.ID = append(p.ID, j.ID)
		p.Error = append(p.Error, note)
		p.FinalizedAt = append(p.FinalizedAt, ended)
		p.ScheduledAt = append(p.ScheduledAt, now)
		p.State = append(p.State, string(state))
	}
	if len(jobs) > 0 {
		if _, err := q.driver.UnwrapExecutor(tx.SQL()).JobRescueMany(tx.Context(), p); err != nil {
			return err
		}
	}
	for _, id := range dead {
		if _, err := tx.Exec("DELETE FROM job_worker WHERE id = $1", id); err != nil {
			return err
		}
		// River may elect another leader for its maintenance at once.
		if _, err := tx.Exec("DELETE FROM river_leader WHERE leader_id = $1", id); err != nil {
			return err
		}
	}
	return nil
}

// deleteLease deletes the lease of this process and returns its jobs to their queues.
func (q *Queue) deleteLease(ctx context.Context) error {
	return q.db.Write(ctx, func(tx *sqldb.Tx) error {
		running, err := q.runningJobs(tx)
		if err != nil {
			return err
		}
		ownJobs := slices.DeleteFunc(running, func(j *rivertype.JobRow) bool { return runner(j) != q.id })
		return q.putBack(tx, ownJobs, []string{q.id})
	})
}
