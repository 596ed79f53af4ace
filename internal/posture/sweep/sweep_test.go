package sweep_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/store"
	"vigil/internal/posture/sweep"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

const (
	org = posture.OrgID("org")
	id  = posture.AccountID("123456789012")
)

// noJobs discards jobs: the tests call the workers themselves.
type noJobs struct{}

func (noJobs) Validate(*sqldb.Tx, posture.OrgID, posture.AccountID) error { return nil }
func (noJobs) Collect(*sqldb.Tx, posture.OrgID, posture.Run) error        { return nil }

func (noJobs) Judge(*sqldb.Tx, posture.OrgID, posture.AccountID) error  { return nil }
func (noJobs) JudgeRule(*sqldb.Tx, posture.OrgID, posture.RuleID) error { return nil }
func (noJobs) Remove(*sqldb.Tx, posture.OrgID, posture.AccountID) error { return nil }

// cloud is a source with one unit that calls list.
type cloud struct {
	list func(context.Context, collect.Emit) error
}

func (c *cloud) Provider() posture.Provider                                    { return posture.AWS }
func (c *cloud) Declarations() []collect.Declaration                           { return nil }
func (c *cloud) Open(context.Context, posture.Access) (collect.Session, error) { return c, nil }
func (c *cloud) Unit(posture.EntityType, string) (collect.Unit, bool)          { return collect.Unit{}, false }
func (c *cloud) Close()                                                        {}
func (c *cloud) Units(context.Context) ([]collect.Unit, error) {
	return []collect.Unit{{Type: "AWS.S3.Bucket", Region: posture.Global, List: c.list}}, nil
}

// discard is a recorder that stores nothing.
type discard struct{}

func (discard) Begin(context.Context, collect.Scoped) (collect.Recording, error) {
	return discard{}, nil
}
func (discard) Put(context.Context, posture.Entity) error { return nil }
func (discard) Commit(context.Context, bool) error        { return nil }
func (discard) Discard()                                  {}

// newSweep returns a sweep over an active account whose only unit calls list.
func newSweep(t *testing.T, db *sqldb.DB, list func(context.Context, collect.Emit) error) *sweep.Sweep {
	t.Helper()
	if err := store.Migrate(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	s := store.New(db, secrettest.NewBox(t), noJobs{})
	now := time.Now()
	err := s.Onboard(t.Context(), org, func(tx posture.OnboardingTx) error {
		a := posture.Account{ID: id, Provider: posture.AWS, Name: "a"}.WithStream(posture.StreamDisconnected, now).WithStatus(posture.AccountActive, "", now)
		c := posture.Credential{ID: "c", Provider: posture.AWS}
		return errors.Join(tx.AddAccount(a), tx.SaveCredential(c, nil), tx.AddLink(posture.NewLink(a, c, now)))
	})
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	return &sweep.Sweep{
		Store: s, Log: slog.New(slog.DiscardHandler), Now: time.Now, NewID: func() string { return fmt.Sprintf("run-%d", n.Add(1)) },
		Deadline: time.Minute, Lease: 40 * time.Millisecond,
		Runner: &collect.Runner{Sources: map[posture.Provider]collect.Source{posture.AWS: &cloud{list}}, Recorder: discard{}, Parallel: 2, Log: slog.New(slog.DiscardHandler)},
	}
}

func start(t *testing.T, s *sweep.Sweep) posture.Run {
	t.Helper()
	r, err := s.Start(t.Context(), org, id, posture.RunScope{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func loadRun(t *testing.T, s *sweep.Sweep, run string) posture.Run {
	t.Helper()
	r, err := s.Store.Run(t.Context(), org, run)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func noEntities(context.Context, collect.Emit) error { return nil }

func TestRunUpdatesItsAccount(t *testing.T) {
	t.Parallel()
	dbtest.Run(t, func(t *testing.T, db *sqldb.DB) {
		s := newSweep(t, db, noEntities)
		r := start(t, s)
		if _, err := s.Start(t.Context(), org, id, posture.RunScope{}); !fault.Is(err, fault.Conflict) {
			t.Errorf("a second run: %v", err)
		}
		if err := s.Work(t.Context(), org, r.ID, false); err != nil {
			t.Fatal(err)
		}
		if got := loadRun(t, s, r.ID); got.Status != posture.RunCompleted || got.End.Before(got.Start) || got.Done != 1 {
			t.Errorf("run %+v", got)
		}
		a, err := s.Store.Account(t.Context(), org, id)
		if err != nil || a.LastRun != posture.RunCompleted || a.Rollup.Value != posture.RollupHealthy {
			t.Errorf("account %s, %s, %v", a.LastRun, a.Rollup.Value, err)
		}
		if err := s.Work(t.Context(), org, r.ID, true); err != nil { // a late second attempt
			t.Errorf("working on a run that is over: %v", err)
		}
	})
}

func TestRunThatLostItsWorkerIsReplaced(t *testing.T) {
	t.Parallel()
	for name, replace := range map[string]func(*sweep.Sweep, string) error{
		"the queue retries the job": func(s *sweep.Sweep, run string) error { return s.Work(t.Context(), org, run, true) },
		"its lease expires": func(s *sweep.Sweep, _ string) error {
			s.Now = func() time.Time { return time.Now().Add(time.Hour) }
			return s.Maintain(t.Context())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, crash := context.WithCancel(t.Context())
			s := newSweep(t, dbtest.Open(t, dbtest.SQLite(t)), func(ctx context.Context, _ collect.Emit) error {
				crash()
				<-ctx.Done()
				return ctx.Err()
			})
			r := start(t, s)
			if err := s.Work(ctx, org, r.ID, false); !errors.Is(err, context.Canceled) {
				t.Fatalf("Work = %v", err)
			}
			if err := replace(s, r.ID); err != nil {
				t.Fatal(err)
			}
			if got := loadRun(t, s, r.ID); got.Status != posture.RunTimeout {
				t.Errorf("the lost run is %s", got.Status)
			}
			if got := loadRun(t, s, "run-2"); got.Status != posture.RunStarted {
				t.Errorf("the replacement is %s", got.Status)
			}
		})
	}
}

// TestRunsDoNotReplaceNewerStatuses changes the account while its run waits or reads it.
func TestRunsDoNotReplaceNewerStatuses(t *testing.T) {
	t.Parallel()
	refused := func(at time.Time) func(posture.OnboardingTx) error {
		return func(tx posture.OnboardingTx) error {
			a, err := tx.Account(id)
			return errors.Join(err, tx.SaveAccount(a.WithStatus(posture.AccountValidationFailed, "refused", at)))
		}
	}
	link := func(tx posture.OnboardingTx) error {
		c := posture.Credential{ID: "newer", Provider: posture.AWS}
		return errors.Join(tx.SaveCredential(c, nil), tx.AddLink(posture.NewLink(posture.Account{ID: id, Provider: posture.AWS}, c, time.Now().Add(time.Second))))
	}
	unlink := func(tx posture.OnboardingTx) error { return tx.RemoveLink(id, "c") }
	edit := func(tx posture.OnboardingTx) error {
		return tx.SaveCredential(posture.Credential{ID: "c", Provider: posture.AWS, ETag: "newer"}, nil)
	}
	began := time.Now().Add(time.Hour) // after the status of the new account
	for name, tt := range map[string]struct {
		queued, reading func(posture.OnboardingTx) error
		result          error // of the run
		want            posture.AccountStatus
	}{
		"nothing changed":                                 {want: posture.AccountActive},
		"the run is refused":                              {result: collect.ErrIdentity, want: posture.AccountValidationFailed},
		"the account is refused while the run waits":      {queued: refused(began.Add(time.Millisecond)), want: posture.AccountActive},
		"the same credential is refused during the run":   {reading: refused(began.Add(time.Minute)), want: posture.AccountValidationFailed},
		"a newer credential is accepted during the run":   {reading: link, result: collect.ErrIdentity, want: posture.AccountActive},
		"the credential is corrected during the run":      {reading: edit, result: collect.ErrIdentity, want: posture.AccountActive},
		"the credential is unlinked during the run":       {reading: unlink, result: collect.ErrIdentity, want: posture.AccountActive},
		"the credential is corrected while the run waits": {queued: edit, result: collect.ErrIdentity, want: posture.AccountValidationFailed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s *sweep.Sweep
			change := func(f func(posture.OnboardingTx) error) {
				if f == nil {
					return
				}
				if err := s.Store.Onboard(t.Context(), org, f); err != nil {
					t.Error(err)
				}
			}
			s = newSweep(t, dbtest.Open(t, dbtest.SQLite(t)), func(context.Context, collect.Emit) error {
				change(tt.reading)
				return tt.result
			})
			s.Lease = time.Minute
			s.Now = func() time.Time { return began }
			r := start(t, s)
			change(tt.queued)
			s.Now = func() time.Time { return began.Add(time.Second) }
			if err := s.Work(t.Context(), org, r.ID, false); err != nil {
				t.Fatal(err)
			}
			if got := loadRun(t, s, r.ID); got.Status == posture.RunStarted {
				t.Error("the run has not ended")
			}
			if a, err := s.Store.Account(t.Context(), org, id); err != nil || a.Status.Value != tt.want {
				t.Errorf("the account is %s: %s, %v; want %s", a.Status.Value, a.Reason, err, tt.want)
			}
		})
	}
}

// TestQueuedRunIsNotLost leaves a run in the queue for hours, as happens when many
// accounts are added at once.
func TestQueuedRunIsNotLost(t *testing.T) {
	t.Parallel()
	s := newSweep(t, dbtest.Open(t, dbtest.SQLite(t)), noEntities)
	r := start(t, s)
	s.Now = func() time.Time { return time.Now().Add(3 * time.Hour) }
	if err := s.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := loadRun(t, s, r.ID); got.Status != posture.RunStarted {
		t.Errorf("the run is %s", got.Status)
	}
	if err := s.Work(t.Context(), org, r.ID, false); err != nil {
		t.Fatal(err)
	}
	if got := loadRun(t, s, r.ID); got.Status != posture.RunCompleted {
		t.Errorf("the run ended as %s", got.Status)
	}
}

// TestWorkerRenewsItsLease works on a run for longer than its lease.
func TestWorkerRenewsItsLease(t *testing.T) {
	t.Parallel()
	var s *sweep.Sweep
	s = newSweep(t, dbtest.Open(t, dbtest.SQLite(t)), func(ctx context.Context, _ collect.Emit) error {
		first := loadRun(t, s, "run-1").Updated
		for !loadRun(t, s, "run-1").Updated.After(first.Add(2 * s.Lease)) {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			expired, err := s.Store.ExpiredRuns(ctx, time.Now())
			if err != nil || len(expired) > 0 {
				return fmt.Errorf("expired %v, %w", expired, err)
			}
		}
		return nil
	})
	s.Lease = time.Second // the test queries the store often, so a short lease could expire
	r := start(t, s)
	if err := s.Work(t.Context(), org, r.ID, false); err != nil {
		t.Fatal(err)
	}
	if got := loadRun(t, s, r.ID); got.Status != posture.RunCompleted {
		t.Errorf("run %+v", got)
	}
}

func TestStoppedRunEndsAsFailed(t *testing.T) {
	t.Parallel()
	var s *sweep.Sweep
	s = newSweep(t, dbtest.Open(t, dbtest.SQLite(t)), func(ctx context.Context, _ collect.Emit) error {
		if err := s.Store.StopRun(ctx, org, id, "run-1"); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	})
	r := start(t, s)
	if err := s.Work(t.Context(), org, r.ID, false); err != nil {
		t.Fatal(err)
	}
	if got := loadRun(t, s, r.ID); got.Status != posture.RunFailed || got.Reason != "the run was stopped" {
		t.Errorf("run %s: %s", got.Status, got.Reason)
	}
}

func TestRunEndsAtItsDeadline(t *testing.T) {
	t.Parallel()
	s := newSweep(t, dbtest.Open(t, dbtest.SQLite(t)), func(ctx context.Context, _ collect.Emit) error {
		<-ctx.Done()
		return ctx.Err()
	})
	s.Deadline = 20 * time.Millisecond
	r := start(t, s)
	if err := s.Work(t.Context(), org, r.ID, false); err != nil {
		t.Fatal(err)
	}
	if got := loadRun(t, s, r.ID); got.Status != posture.RunTimeout || got.Collectors["AWS.S3.Bucket"].Status != posture.CollectorTimeout {
		t.Errorf("run %s, collectors %v", got.Status, got.Collectors)
	}
}

// TestShutdownLeavesTheRunStarted cancels the worker's context, as a shutdown of the
// process does.
func TestShutdownLeavesTheRunStarted(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	s := newSweep(t, dbtest.Open(t, dbtest.SQLite(t)), func(ctx context.Context, _ collect.Emit) error {
		stop()
		<-ctx.Done()
		return ctx.Err()
	})
	r := start(t, s)
	if err := s.Work(ctx, org, r.ID, false); !errors.Is(err, context.Canceled) {
		t.Errorf("Work = %v", err)
	}
	if got := loadRun(t, s, r.ID); got.Status != posture.RunStarted {
		t.Errorf("run %s", got.Status)
	}
}

func TestDueAccountsAreStarted(t *testing.T) {
	t.Parallel()
	s := newSweep(t, dbtest.Open(t, dbtest.SQLite(t)), noEntities)
	r := start(t, s)
	if err := s.Work(t.Context(), org, r.ID, false); err != nil {
		t.Fatal(err)
	}
	if err := s.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, total, _ := s.Store.Runs(t.Context(), org, posture.RunFilter{}, posture.Page{}); total != 1 {
		t.Errorf("%d runs right after one has ended", total)
	}
	s.Now = func() time.Time { return time.Now().Add(posture.Interval + time.Hour) }
	if err := s.Maintain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := loadRun(t, s, "run-2"); got.Status != posture.RunStarted {
		t.Errorf("the second run is %s", got.Status)
	}
}

// TestRunThatNeverBeganSaysWhy leaves runs in the queue for a day. Only the one that a worker began has lost its worker.
func TestRunThatNeverBeganSaysWhy(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		began, low bool
		want       string
	}{
		"the disk is low":   {low: true, want: "the run did not begin within 24 hours: the disk is short of space"},
		"no worker took it": {want: "the run did not begin within 24 hours: no worker took it"},
		"a worker began it": {began: true, low: true, want: "the run lost its worker"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSweep(t, dbtest.Open(t, dbtest.SQLite(t)), noEntities)
			s.LowSpace = func() bool { return tt.low }
			r := start(t, s)
			now := r.Start.Add(time.Minute)
			if tt.began {
				r.Updated = now
				if _, err := s.Store.RenewRun(t.Context(), org, r, now); err != nil {
					t.Fatal(err)
				}
			}
			s.Now = func() time.Time { return now.Add(24 * time.Hour) }
			if err := s.Maintain(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := loadRun(t, s, r.ID); got.Status != posture.RunTimeout || got.Reason != tt.want {
				t.Errorf("the run is %s: %s; want %s: %s", got.Status, got.Reason, posture.RunTimeout, tt.want)
			}
		})
	}
}

// TestNoRunBeginsWhileTheDiskIsLow leaves a run in the queue until the disk has space
// again, and then an account that is due.
func TestNoRunBeginsWhileTheDiskIsLow(t *testing.T) {
	t.Parallel()
	s := newSweep(t, dbtest.Open(t, dbtest.SQLite(t)), noEntities)
	low := true
	s.LowSpace = func() bool { return low }
	r := start(t, s)
	if err := s.Work(t.Context(), org, r.ID, false); !errors.Is(err, sweep.ErrLowSpace) {
		t.Fatalf("Work = %v", err)
	}
	if got := loadRun(t, s, r.ID); got.Status != posture.RunStarted {
		t.Errorf("the run is %s", got.Status)
	}
	low = false
	if err := s.Work(t.Context(), org, r.ID, false); err != nil {
		t.Fatal(err)
	}
	if got := loadRun(t, s, r.ID); got.Status != posture.RunCompleted {
		t.Errorf("the run ended as %s", got.Status)
	}

	s.Now = func() time.Time { return time.Now().Add(posture.Interval + time.Hour) }
	for _, low = range []bool{true, false} { // sets what LowSpace returns
		if err := s.Maintain(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := 2
		if low {
			want = 1
		}
		if _, total, err := s.Store.Runs(t.Context(), org, posture.RunFilter{}, posture.Page{}); total != want || err != nil {
			t.Errorf("low %t: %d runs, %v; want %d", low, total, err, want)
		}
	}
}
