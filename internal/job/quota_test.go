package job_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/fault"
	"vigil/internal/job"
	"vigil/internal/sqldb"
)

// TestShareLimitHoldsInAllProcesses has two processes execute many jobs of one
// organisation with a quota of three. No more run at a time, a job of another
// organisation runs beside them, and urgent jobs come first.
func TestShareLimitHoldsInAllProcesses(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		const limit = 3
		started, release := make(chan string, 100), make(chan struct{})
		var running, most atomic.Int64 // jobs of the large organisation
		h := func(_ context.Context, j job.Job[greet]) error {
			if j.Args.Name != "small" {
				n := running.Add(1)
				defer running.Add(-1)
				for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
				}
			}
			started <- j.Args.Name
			<-release
			return nil
		}
		conf := job.Config{Heartbeat: quick, Queues: map[string]int{"collect": 8}, ShareLimits: map[string]int{"collect": limit}}
		first, second := newQueue(t, db, conf), newQueue(t, db, conf)
		for i := range 12 {
			insert(t, db, first, fmt.Sprint("backfill ", i), job.Options{Queue: "collect", Share: "large", Priority: 3})
		}
		insert(t, db, second, "urgent", job.Options{Queue: "collect", Share: "large", Priority: 1})
		insert(t, db, second, "small", job.Options{Queue: "collect", Share: "small", Priority: 3})
		start(t, first, h)
		start(t, second, h)
		names := map[string]bool{}
		for range limit + 1 {
			names[next(t, started)] = true
		}
		if diff := cmp.Diff(map[string]bool{"urgent": true, "backfill 0": true, "backfill 1": true, "small": true}, names); diff != "" {
			t.Errorf("jobs that run first (-want +got):\n%s", diff)
		}
		close(release)
		waitForState(t, db, map[string]int{"completed": 14})
		if most.Load() != limit {
			t.Errorf("%d jobs of one organisation ran at the same time, want %d", most.Load(), limit)
		}
	})
}

// TestPendingJobsAreAdmittedWithoutQuota checks that a process without a quota executes the
// pending jobs that a process with a quota has inserted.
func TestPendingJobsAreAdmittedWithoutQuota(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		q := newQueue(t, db, job.Config{Queues: map[string]int{}, ShareLimits: map[string]int{"collect": 1}})
		insert(t, db, q, "a", job.Options{Queue: "collect", Share: "x"})
		insert(t, db, q, "b", job.Options{Queue: "collect", Share: "x"})
		done := make(chan string, 2)
		start(t, newQueue(t, db, job.Config{Heartbeat: quick, Queues: map[string]int{"collect": 2}}), func(_ context.Context, j job.Job[greet]) error {
			done <- j.Args.Name
			return nil
		})
		next(t, done)
		next(t, done)
	})
}

// TestShareLimitOfTheDefaultQueue checks that the quota of the default queue holds for jobs that name no queue.
func TestShareLimitOfTheDefaultQueue(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		q := newQueue(t, db, job.Config{ShareLimits: map[string]int{"default": 1}})
		insert(t, db, q, "a", job.Options{Share: "x"})
		waitForState(t, db, map[string]int{"pending": 1})
	})
}

// TestFullQueueRefusesJobs checks that no more than MaxWaiting jobs of the same share and priority
// can wait.
func TestFullQueueRefusesJobs(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		for name, limits := range map[string]map[string]int{
			"available": nil,            // the state of jobs that wait in a queue without a quota
			"pending":   {"collect": 1}, // their state in a queue with a quota
		} {
			q := newQueue(t, db, job.Config{ShareLimits: limits})
			try := func(share string, priority int) error {
				return db.Write(t.Context(), func(tx *sqldb.Tx) error {
					_, err := q.Insert(tx, greet{name}, job.Options{Queue: "collect", Share: name + share, Priority: priority, MaxWaiting: 2})
					return err
				})
			}
			for _, tt := range []struct {
				share    string
				priority int
				refused  bool
			}{
				{"a", 1, false},
				{"a", 1, false},
				{"a", 1, true},
				{"a", 2, false}, // another priority
				{"b", 1, false}, // another share
			} {
				err := try(tt.share, tt.priority)
				if tt.refused && !fault.Is(err, fault.Limited) || !tt.refused && err != nil {
					t.Errorf("%s: insert for %s with priority %d: %v, want it refused: %t", name, tt.share, tt.priority, err, tt.refused)
				}
			}
		}
	})
}
