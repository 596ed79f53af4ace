package job_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"vigil/internal/job"
	"vigil/internal/sqldb"
)

// TestProcessWithoutRoles checks that a process without roles has none, not the role "".
func TestProcessWithoutRoles(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		seen := make(chan []job.Member, 1000)
		q := newQueue(t, db, job.Config{Queues: map[string]int{}, Members: func(all []job.Member) { seen <- all }})
		if err := q.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stop(t, q) })
		if all := next(t, seen); len(all) != 1 || len(all[0].Roles) != 0 {
			t.Errorf("members %+v, want one without roles", all)
		}
	})
}

// TestProcessesSeeEachOther has one process execute jobs and another, which has no
// queues, only insert them. The second one sees both.
func TestProcessesSeeEachOther(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, db *sqldb.DB) {
		seen := make(chan []job.Member, 1000)
		worker := newQueue(t, db, job.Config{Heartbeat: quick, Roles: []string{"work"}})
		front := newQueue(t, db, job.Config{Heartbeat: quick, Roles: []string{"front"}, Queues: map[string]int{}, Members: func(all []job.Member) {
			select {
			case seen <- all:
			default:
			}
		}})
		done := make(chan string, 9)
		start(t, worker, func(_ context.Context, j job.Job[greet]) error {
			done <- j.Args.Name
			return nil
		})
		if err := front.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stop(t, front) })
		insert(t, db, front, "x", job.Options{})
		if name := next(t, done); name != "x" {
			t.Errorf("did %q, want x", name)
		}
		for deadline := time.Now().Add(patience); ; { // each heartbeat sends members
			var roles []string
			for _, m := range next(t, seen) {
				roles = append(roles, m.Roles...)
			}
			slices.Sort(roles)
			if slices.Equal(roles, []string{"front", "work"}) {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("saw the roles %q only", roles)
			}
		}
	})
}
