// Package sweep keeps the picture of every account up to date: it starts
// collections, works on them, and ends those that lost their worker.
package sweep

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/collect"
)

// Store is what a Sweep needs to keep.
type Store interface {
	posture.OnboardingStore
	posture.RunStore
	Coverage(ctx context.Context, org posture.OrgID, id posture.AccountID) ([]posture.Coverage, error)
	ScopeFailed(ctx context.Context, s posture.Scope, why string) error
}

// Sweep collects accounts.
type Sweep struct {
	Store  Store
	Runner *collect.Runner
	Log    *slog.Logger
	Now    func() time.Time
	NewID  func() string

	Deadline time.Duration // longest time of a run
	Lease    time.Duration // a run whose worker was not heard of for this long has lost it
}

// Start begins a collection of an account. It fails with fault.NotFound for an
// account that is not there or has no credential, and with fault.Conflict while
// one goes on.
func (s *Sweep) Start(ctx context.Context, org posture.OrgID, id posture.AccountID, scope posture.RunScope) (posture.Run, error) {
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
		Collectors: map[posture.EntityType]posture.CollectorResult{},
	}
	return r, s.Store.StartRun(ctx, org, r, now.Add(queued))
}

// queued is how long a run may wait for a worker: the queue does not lose it, and
// where many accounts are added at once the last wait for long.
const queued = 24 * time.Hour

// Work works on a run that was started. A run that is over is left alone. Again
// says that another worker began it and is gone: the run ends as Timeout, and
// another takes its place.
func (s *Sweep) Work(ctx context.Context, org posture.OrgID, id string, again bool) error {
	// An error would bring the job back with again set, and the run would end for
	// a database that was away for a moment.
	return collect.RetryUnavailable(ctx, func() error { return s.work(ctx, org, id, again) })
}

func (s *Sweep) work(ctx context.Context, org posture.OrgID, id string, again bool) error {
	r, err := s.Store.Run(ctx, org, id)
	if fault.Is(err, fault.NotFound) || err == nil && r.Status != posture.RunStarted {
		return nil
	}
	if err != nil {
		return err
	}
	if again {
		return s.replace(ctx, org, r)
	}
	access, err := s.Store.Access(ctx, org, r.Account)
	if fault.Is(err, fault.NotFound) { // unlinked or removed meanwhile
		return s.end(ctx, org, r, collect.Outcome{Status: posture.RunFailed, Reason: "the account has no credential any more"})
	}
	if err != nil {
		return err
	}
	return s.run(ctx, org, r, access)
}

// errStopped ends a run that somebody wants stopped.
var errStopped = errors.New("the run was stopped")

// run collects while it keeps the lease. The run's deadline is not the job's:
// what was read until then is kept and reported.
func (s *Sweep) run(ctx context.Context, org posture.OrgID, r posture.Run, access posture.Access) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ctx, cancel := context.WithTimeout(ctx, s.Deadline)
	defer cancel()

	k := &keeper{sweep: s, org: org, run: r, stop: stop}
	k.renew(ctx)
	var keeping sync.WaitGroup
	done := make(chan struct{})
	keeping.Go(func() { k.keep(ctx, done) })
	outcome := s.Runner.Run(ctx, access, r.Scope, k.progress)
	close(done)
	keeping.Wait()

	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errStopped):
		outcome.Status, outcome.Reason = posture.RunFailed, errStopped.Error()
	case cause != nil && !errors.Is(cause, context.DeadlineExceeded):
		return cause // the process stops: whoever takes the job up goes on
	}
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	return collect.RetryUnavailable(saving, func() error { return s.end(saving, org, k.snapshot(), outcome) })
}

// endTime is how long recording the end of a run may take: the database may be away.
const endTime = 5 * time.Minute

// end records the outcome of a run.
func (s *Sweep) end(ctx context.Context, org posture.OrgID, r posture.Run, o collect.Outcome) error {
	if err := s.doubt(ctx, org, r, o); err != nil {
		return err
	}
	now := s.Now()
	r.Status, r.End, r.Updated, r.Reason = o.Status, now, now, o.Reason
	if o.Collectors != nil {
		r.Collectors, r.Entities, r.Units, r.Done = o.Collectors, o.Entities, o.Units, o.Units
	}
	err := s.Store.EndRun(ctx, org, r, posture.NextRun(org, r.Account, now), func(a posture.Account) posture.Account {
		if o.Account != "" && a.Status.Value != posture.AccountDraft {
			a = a.WithStatus(o.Account, o.Reason, now)
		}
		return a.WithRun(r.Status, now)
	})
	if fault.Is(err, fault.NotFound) {
		return nil // somebody else ended it
	}
	return err
}

// doubt notes what a run did not read to the end, before anybody judges by it: a
// rule that looks at it neither raises nor resolves until it is read. A run that
// was cut short, or could not begin, has read what was saved since it started and
// nothing else.
func (s *Sweep) doubt(ctx context.Context, org posture.OrgID, r posture.Run, o collect.Outcome) error {
	unread := map[posture.Scope]string{} // why
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
	for scope, why := range unread {
		err := s.Store.ScopeFailed(ctx, scope, why)
		if fault.Is(err, fault.NotFound) {
			return nil // the account is gone
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// replace ends a run that lost its worker and starts another in its place.
func (s *Sweep) replace(ctx context.Context, org posture.OrgID, r posture.Run) error {
	s.Log.WarnContext(ctx, "run lost its worker", "account", r.Account, "run", r.ID)
	err := s.end(ctx, org, r, collect.Outcome{Status: posture.RunTimeout, Reason: "the run lost its worker"})
	if err != nil {
		return err
	}
	_, err = s.Start(ctx, org, r.Account, r.Scope)
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) {
		return nil // another has begun, or the account is gone
	}
	return err
}

// Tend ends runs that lost their workers, starts those that are due and forgets
// old ones.
func (s *Sweep) Tend(ctx context.Context) error {
	now := s.Now()
	expired, err := s.Store.ExpiredRuns(ctx, now)
	if err != nil {
		return err
	}
	for id, org := range expired {
		r, err := s.Store.Run(ctx, org, id)
		if err == nil {
			err = s.replace(ctx, org, r)
		}
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	due, err := s.Store.DueAccounts(ctx, now, dueAtOnce)
	if err != nil {
		return err
	}
	for _, ref := range due {
		_, err := s.Start(ctx, ref.Org, ref.Account, posture.RunScope{})
		if err != nil && !fault.Is(err, fault.Conflict) && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	return s.Store.ForgetRuns(ctx, now.Add(-posture.History))
}

// dueAtOnce bounds how many runs one call of Tend starts.
const dueAtOnce = 200
