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

const (
	missedBeats = 6  // after which a process is taken for dead
	lostBeats   = 30 // after which a job that this process does not run is put back
)

// tend shows signs of life and looks after schedules and dead processes, until
// ctx ends.
func (q *Queue) tend(ctx context.Context) {
	chores := []struct {
		what string
		do   func(context.Context) error
	}{
		{"show a sign of life", q.liveOn},
		{"list the living processes", q.reportMembers},
		{"insert repeated jobs", q.insertDue},
		{"restore the turns of jobs", q.restoreTurns},
		{"rescue jobs of the dead", q.rescue},
	}
	tick := time.NewTicker(q.conf.Beat)
	defer tick.Stop()
	for {
		for _, c := range chores {
			if err := c.do(ctx); err != nil && ctx.Err() == nil {
				q.log.ErrorContext(ctx, "the job queue cannot "+c.what, "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// liveOn shows a sign of life. If others took this process for dead meanwhile,
// its jobs are theirs now, so it breaks them off.
func (q *Queue) liveOn(ctx context.Context) error {
	known, err := q.beat(ctx)
	if err != nil {
		q.reachedSince = time.Now().Add(q.conf.Beat)
	}
	if err != nil || known {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, cancel := range q.active {
		cancel(errLost)
	}
	q.log.ErrorContext(ctx, "the job queue was taken for dead: its jobs were given to others", "broken_off", len(q.active))
	return nil
}

// beat records that this process lives. It reports whether it was on record.
func (q *Queue) beat(ctx context.Context) (known bool, err error) {
	err = q.db.Write(ctx, func(tx *sqldb.Tx) error {
		now, err := clock(tx)
		if err != nil {
			return err
		}
		n, err := tx.Exec("UPDATE job_worker SET seen_at = $2 WHERE id = $1", q.id, now)
		if known = n == 1; err != nil || known {
			return err
		}
		_, err = tx.Exec("INSERT INTO job_worker (id, seen_at, roles) VALUES ($1, $2, $3)", q.id, now, strings.Join(q.conf.Roles, ","))
		return err
	})
	return known, err
}

// reportMembers tells Config.Members which processes live.
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
		living, err = sqldb.Query(tx, scanMember, "SELECT id, roles FROM job_worker WHERE seen_at > $1", now-(missedBeats*q.conf.Beat).Milliseconds())
		return err
	})
	if err == nil {
		q.conf.Members(living)
	}
	return err
}

func scanMember(r sqldb.Row) (m Member, err error) {
	var roles string
	err = r.Scan(&m.ID, &roles)
	m.Roles = strings.Split(roles, ",")
	return m, err
}

// clock returns the time of the database in milliseconds, the one clock that
// all processes share.
func clock(tx *sqldb.Tx) (int64, error) {
	text := "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER)"
	if tx.Dialect() == sqldb.Postgres {
		text = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"
	}
	return sqldb.QueryOne(tx, sqldb.Scalar[int64], text)
}

// rescue puts the jobs of dead processes back into their queues. After the database
// was away, it first gives the others the time to show that they live.
func (q *Queue) rescue(ctx context.Context) error {
	if time.Since(q.reachedSince) < missedBeats*q.conf.Beat {
		return nil
	}
	var orphans []*rivertype.JobRow
	var dead []string
	look := func(tx *sqldb.Tx) (err error) {
		orphans, dead, err = q.orphans(tx)
		return err
	}
	if err := q.db.Read(ctx, look); err != nil || len(orphans)+len(dead) == 0 {
		return err
	}
	err := q.db.Write(ctx, func(tx *sqldb.Tx) error {
		if err := tx.Lock("job_rescue"); err != nil {
			return err
		}
		if err := look(tx); err != nil {
			return err
		}
		return q.putBack(tx, orphans, dead)
	})
	if err == nil && len(orphans) > 0 {
		q.log.WarnContext(ctx, "took up jobs whose worker went away", "jobs", len(orphans))
	}
	return err
}

// orphans returns the running jobs that no living process runs, and the
// processes that died.
func (q *Queue) orphans(tx *sqldb.Tx) (jobs []*rivertype.JobRow, dead []string, err error) {
	now, err := clock(tx)
	if err != nil {
		return nil, nil, err
	}
	alive := []string{q.id} // even if it is off the record: then it breaks off first
	for w, err := range sqldb.Each(tx, func(r sqldb.Row) (w struct {
		id   string
		seen int64
	}, err error) {
		err = r.Scan(&w.id, &w.seen)
		return w, err
	}, "SELECT id, seen_at FROM job_worker") {
		if err != nil {
			return nil, nil, err
		}
		switch {
		case w.id == q.id:
		case now-w.seen < (missedBeats * q.conf.Beat).Milliseconds():
			alive = append(alive, w.id)
		default:
			dead = append(dead, w.id)
		}
	}
	running, err := q.running(tx)
	if err != nil {
		return nil, nil, err
	}
	lost := q.lost(running)
	for _, j := range running {
		if !slices.Contains(alive, runner(j)) || slices.Contains(lost, j.ID) {
			jobs = append(jobs, j)
		}
	}
	return jobs, dead, nil
}

// running returns all jobs that are on record as running.
func (q *Queue) running(tx *sqldb.Tx) ([]*rivertype.JobRow, error) {
	return q.driver.UnwrapExecutor(tx.SQL()).JobGetStuck(tx.Context(), &riverdriver.JobGetStuckParams{
		Max:          10_000,
		StuckHorizon: time.Now().Add(time.Hour), // all of them, and clocks differ
	})
}

// runner returns the process that runs a job.
func runner(j *rivertype.JobRow) string {
	if len(j.AttemptedBy) == 0 {
		return ""
	}
	return j.AttemptedBy[len(j.AttemptedBy)-1]
}

// lost returns the jobs that are on record as run by this process and have not
// been for a while: River could not record their end, or broke off while it
// took them.
func (q *Queue) lost(running []*rivertype.JobRow) (ids []int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	from := map[int64]time.Time{}
	for _, j := range running {
		if _, ok := q.active[attempt{j.ID, j.Attempt}]; ok || runner(j) != q.id {
			continue
		}
		since, ok := q.lostFrom[j.ID]
		if !ok {
			since = now
		}
		from[j.ID] = since
		if now.Sub(since) > lostBeats*q.conf.Beat {
			ids = append(ids, j.ID)
		}
	}
	q.lostFrom = from
	return ids
}

// putBack has jobs done again whose worker is gone, unless that was their last
// attempt, and strikes the dead off the record.
func (q *Queue) putBack(tx *sqldb.Tx, jobs []*rivertype.JobRow, dead []string) error {
	now := time.Now()
	p := &riverdriver.JobRescueManyParams{}
	for _, j := range jobs {
		note, err := json.Marshal(rivertype.AttemptError{At: now, Attempt: j.Attempt, Error: "the worker went away"})
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
		// Its place as the one that looks after River's own chores is free, too.
		if _, err := tx.Exec("DELETE FROM river_leader WHERE leader_id = $1", id); err != nil {
			return err
		}
	}
	return nil
}

// signOff strikes this process off the record, and puts back what it leaves.
func (q *Queue) signOff(ctx context.Context) error {
	return q.db.Write(ctx, func(tx *sqldb.Tx) error {
		running, err := q.running(tx)
		if err != nil {
			return err
		}
		mine := slices.DeleteFunc(running, func(j *rivertype.JobRow) bool { return runner(j) != q.id })
		return q.putBack(tx, mine, []string{q.id})
	})
}
