// Package sweep schedules collections: it starts the runs of accounts, executes them,
// and replaces those that lost their worker.
//
// [Sweep.Start] stores a run, for which the store enqueues a job. The job calls
// [Sweep.Work], which holds the lease of the run while collect.Runner reads the account.
// [Sweep.Maintain] is called periodically: it replaces runs whose lease has expired, starts
// due ones and deletes old ones.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// Store is the storage that a Sweep needs.
type Store interface {
	posture.OnboardingStore
	posture.RunStore
	posture.PlanStore
	Coverage(ctx context.Context, org posture.OrgID, id posture.AccountID) ([]posture.Coverage, error)
	ScopeFailed(ctx context.Context, s posture.Scope, reason string) error
}

// Sweep collects accounts.
type Sweep struct {
	Store  Store
	Runner *collect.Runner
	Log    *slog.Logger
	Now    func() time.Time
	NewID  func() string

	Deadline time.Duration // of a run
	Lease    time.Duration // a run whose lease was not renewed for this long has lost its worker

	// LowSpace reports whether the disk is short of space: no run begins meanwhile, because a
	// collection can write much. Nil means that there is always enough.
	LowSpace func() bool
}

// ErrLowSpace is returned by Work if the run has to wait until the disk has space.
var ErrLowSpace = errors.New("the disk is short of space")

func (s *Sweep) lowSpace() bool { return s.LowSpace != nil && s.LowSpace() }

// Start starts a run of an account that a user requested. It fails with fault.NotFound if the account does
// not exist, and with fault.Conflict if the account is a draft or has a run in
// progress.
func (s *Sweep) Start(ctx context.Context, org posture.OrgID, id posture.AccountID, scope posture.RunScope) (posture.Run, error) {
	return s.StartAs(ctx, posture.RunRequested, org, id, scope)
}

// StartAs is Start with an urgency.
func (s *Sweep) StartAs(ctx context.Context, u posture.Urgency, org posture.OrgID, id posture.AccountID, scope posture.RunScope) (posture.Run, error) {
	a, err := s.Store.Account(ctx, org, id)
	if err != nil {
		return posture.Run{}, err
	}
	if a.Status.Value == posture.AccountDraft {
		return posture.Run{}, fault.New(fault.Conflict, "cloud account %q is a draft: link a credential to it first", id)
	}
	now := s.Now()
	r := posture.Run{
		ID: s.NewID(), Provider: a.Provider, Account: id, Scope: scope, Status: posture.RunStarted, Start: now, Updated: now,
		Collectors: map[posture.EntityType]posture.CollectorResult{}, Urgency: u,
	}
	return r, s.Store.StartRun(ctx, org, r, now.Add(maxQueueTime))
}

// StartFirst starts a run of an account that was linked or validated, unless its
// collections are paused.
func (s *Sweep) StartFirst(ctx context.Context, org posture.OrgID, id posture.AccountID) error {
	a, err := s.Store.Account(ctx, org, id)
	if err != nil {
		return err
	}
	plan, err := s.Store.CollectionPlan(ctx, org)
	if err != nil || a.Collection.Plan(plan).Paused {
		return err
	}
	_, err = s.StartAs(ctx, posture.RunFirst, org, id, posture.RunScope{})
	return err
}

// maxQueueTime is how long a run may wait for a worker. It is long, because the job queue is
// durable and jobs queue up when many accounts are added.
const maxQueueTime = 24 * time.Hour

// Work executes a run. It does nothing if the run has ended. If retry is set, another
// worker began the run and is lost: the run ends as Timeout and Work starts another
// one. If the disk is short of space, Work changes nothing and returns ErrLowSpace.
func (s *Sweep) Work(ctx context.Context, org posture.OrgID, id string, retry bool) error {
	// Retry here while the database is unavailable: if Work failed, the queue would
	// retry the job with retry set, which ends the run.
	return collect.RetryUnavailable(ctx, func() error { return s.work(ctx, org, id, retry) })
}

func (s *Sweep) work(ctx context.Context, org posture.OrgID, id string, retry bool) error {
	r, err := s.Store.Run(ctx, org, id)
	if fault.Is(err, fault.NotFound) || err == nil && r.Status != posture.RunStarted {
		return nil
	}
	if err != nil {
		return err
	}
	if retry {
		return s.replace(ctx, org, r, lostWorker)
	}
	if s.lowSpace() {
		return ErrLowSpace
	}
	now := s.Now()
	access, err := s.Store.Access(ctx, org, r.Account)
	if fault.Is(err, fault.NotFound) { // unlinked or removed meanwhile
		return s.end(ctx, org, r, collect.Outcome{Status: posture.RunFailed, Reason: "the account has no credential any more"}, attempt{})
	}
	if err != nil {
		return err
	}
	return s.run(ctx, org, r, attempt{access, now})
}

// An attempt is the work on a run by one worker.
type attempt struct {
	access posture.Access
	began  time.Time // later than the start of the run, which may have waited in the queue
}

// superseded reports whether the status of an account is newer than what the attempt
// found out: the account was unlinked or validated meanwhile, or has a new credential.
// Comparing the time of the status does not suffice, because a validation with the same
// result keeps that time: the credential is compared too.
func (t attempt) superseded(tx posture.OnboardingTx, a posture.Account) (bool, error) {
	if a.Status.Value == posture.AccountDraft || a.Status.Since.After(t.began) {
		return true, nil
	}
	current, err := t.access.Current(tx)
	return !current, err
}

// errStopped is the cause of cancellation if a user stopped the run.
var errStopped = errors.New("the run was stopped")

// run collects while it renews the lease. The run has its own deadline, shorter than
// the job's, so that what was read until then is stored and reported.
func (s *Sweep) run(ctx context.Context, org posture.OrgID, r posture.Run, t attempt) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ctx, cancel := context.WithTimeout(ctx, s.Deadline)
	defer cancel()

	k := &leaseKeeper{sweep: s, org: org, run: r, stop: stop}
	k.renew(ctx)
	var keeping sync.WaitGroup
	done := make(chan struct{})
	keeping.Go(func() { k.keep(ctx, done) })
	outcome := s.Runner.Run(ctx, t.access, r.Scope, func(p collect.Progress) { k.progress.Store(&p) })
	close(done)
	keeping.Wait()

	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errStopped):
		outcome.Status, outcome.Reason = posture.RunFailed, errStopped.Error()
	case cause != nil && !errors.Is(cause, context.DeadlineExceeded):
		return cause // the process shuts down; another worker will continue
	}
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	return collect.RetryUnavailable(saving, func() error { return s.end(saving, org, k.snapshot(), outcome, t) })
}

// endTime is the time limit for recording the end of a run while the database is
// unavailable.
const endTime = 5 * time.Minute

// end records the outcome of a run, and the status of the account that the attempt has
// found out, if any.
func (s *Sweep) end(ctx context.Context, org posture.OrgID, r posture.Run, o collect.Outcome, t attempt) error {
	if err := s.markUnread(ctx, org, r, o); err != nil {
		return err
	}
	now := s.Now()
	r.Status, r.End, r.Updated, r.Reason = o.Status, now, now, o.Reason
	if o.Collectors != nil {
		r.Collectors, r.Entities, r.Units, r.Done = o.Collectors, o.Entities, o.Units, o.Units
	}
	err := s.Store.EndRun(ctx, org, r, func(tx posture.OnboardingTx, a posture.Account) (posture.Account, error) {
		if o.Account != "" {
			superseded, err := t.superseded(tx, a)
			if err != nil {
				return a, err
			}
			if !superseded {
				a = a.WithStatus(o.Account, o.Reason, now)
			}
		}
		return a.WithRun(r.Status, now), nil
	})
	if fault.Is(err, fault.NotFound) {
		return nil // another worker ended it
	}
	return err
}

// markUnread marks the scopes that a run did not read completely as failed, before
// rules are evaluated: a rule that uses them neither raises nor resolves findings. If
// the run failed or timed out, these are all scopes that were not saved since its
// start.
func (s *Sweep) markUnread(ctx context.Context, org posture.OrgID, r posture.Run, o collect.Outcome) error {
	unread := map[posture.Scope]string{} // reason by scope
	for _, u := range o.Unread {
		unread[posture.Scope{Org: org, Account: r.Account, Type: u.Type, Region: u.Region}] = u.Why
	}
	if o.Status == posture.RunFailed || o.Status == posture.RunTimeout {
		all, err := s.Store.Coverage(ctx, org, r.Account)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		for _, c := range all {
			if r.Scope.Covers(c.Type, c.Region) && c.Succeeded.Before(r.Start) && c.Failed.Before(r.Start) {
				unread[posture.Scope{Org: org, Account: r.Account, Type: c.Type, Region: c.Region}] = o.Reason
			}
		}
	}
	for scope, reason := range unread {
		err := s.Store.ScopeFailed(ctx, scope, reason)
		if fault.Is(err, fault.NotFound) {
			return nil // the account was removed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const lostWorker = "the run lost its worker"

// whyExpired returns the reason why the lease of a run has expired.
func (s *Sweep) whyExpired(r posture.Run) string {
	if r.Updated.After(r.Start) { // a worker renewed the lease
		return lostWorker
	}
	cause := "no worker took it"
	if s.lowSpace() {
		cause = "the disk is short of space"
	}
	return fmt.Sprintf("the run did not begin within %d hours: %s", maxQueueTime/time.Hour, cause)
}

// replace ends a run that cannot continue, for a reason, and starts a new one.
func (s *Sweep) replace(ctx context.Context, org posture.OrgID, r posture.Run, reason string) error {
	s.Log.WarnContext(ctx, "run replaced", "account", r.Account, "run", r.ID, "reason", reason)
	err := s.end(ctx, org, r, collect.Outcome{Status: posture.RunTimeout, Reason: reason}, attempt{})
	if err != nil {
		return err
	}
	_, err = s.StartAs(ctx, posture.RunScheduled, org, r.Account, r.Scope)
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) {
		return nil // another run has started, or the account was removed
	}
	return err
}

// Maintain replaces runs that lost their workers or found none for a day, starts those that are due and deletes
// old ones. While the disk is short of space, due runs wait.
func (s *Sweep) Maintain(ctx context.Context) error {
	now := s.Now()
	expired, err := s.Store.ExpiredRuns(ctx, now)
	if err != nil {
		return err
	}
	for id, org := range expired {
		r, err := s.Store.Run(ctx, org, id)
		if err == nil {
			err = s.replace(ctx, org, r, s.whyExpired(r))
		}
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	if !s.lowSpace() {
		if err := s.startDue(ctx, now); err != nil {
			return err
		}
	}
	return s.Store.ForgetRuns(ctx, now.Add(-posture.History))
}

// startDue starts the runs that are due.
func (s *Sweep) startDue(ctx context.Context, now time.Time) error {
	due, err := s.Store.DueAccounts(ctx, now, dueAtOnce)
	if err != nil {
		return err
	}
	for _, ref := range due {
		_, err := s.StartAs(ctx, posture.RunScheduled, ref.Org, ref.Account, posture.RunScope{})
		if err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return nil
}

// dueAtOnce limits the runs that one call of Maintain starts.
const dueAtOnce = 200
