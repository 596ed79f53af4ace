package limit

import (
	"context"
	"maps"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// Runs restricts collections.
type Runs struct{ Store posture.RunStore }

var _ posture.RunStore = Runs{}

// StartRun implements [posture.RunStore].
func (s Runs) StartRun(ctx context.Context, org posture.OrgID, r posture.Run, lease time.Time) error {
	if err := CheckAccount(ctx, r.Account); err != nil {
		return err
	}
	return s.Store.StartRun(ctx, org, r, lease)
}

// Run implements [posture.RunStore].
func (s Runs) Run(ctx context.Context, org posture.OrgID, id string) (posture.Run, error) {
	r, err := s.Store.Run(ctx, org, id)
	if err == nil && !Allows(ctx, r.Account) {
		return posture.Run{}, fault.New(fault.NotFound, "collection %q was not found", id)
	}
	return r, err
}

// Runs implements [posture.RunStore].
func (s Runs) Runs(ctx context.Context, org posture.OrgID, f posture.RunFilter, p posture.Page) ([]posture.Run, int, error) {
	f.Accounts = within(ctx, f.Accounts)
	return s.Store.Runs(ctx, org, f, p)
}

// Schedules implements [posture.RunStore].
func (s Runs) Schedules(ctx context.Context, org posture.OrgID, only posture.AccountID) (map[posture.AccountID]posture.Schedule, error) {
	all, err := s.Store.Schedules(ctx, org, only)
	maps.DeleteFunc(all, func(id posture.AccountID, _ posture.Schedule) bool { return !Allows(ctx, id) })
	return all, err
}

// RenewRun implements [posture.RunStore].
func (s Runs) RenewRun(ctx context.Context, org posture.OrgID, r posture.Run, lease time.Time) (bool, error) {
	if err := refuse(ctx); err != nil {
		return false, err
	}
	return s.Store.RenewRun(ctx, org, r, lease)
}

// EndRun implements [posture.RunStore].
func (s Runs) EndRun(ctx context.Context, org posture.OrgID, r posture.Run, change func(posture.OnboardingTx, posture.Account) (posture.Account, error)) error {
	if err := refuse(ctx); err != nil {
		return err
	}
	return s.Store.EndRun(ctx, org, r, change)
}

// StopRun implements [posture.RunStore].
func (s Runs) StopRun(ctx context.Context, org posture.OrgID, account posture.AccountID, id string) error {
	if !Allows(ctx, account) {
		account = none // the result is as for an account that does not exist
	}
	return s.Store.StopRun(ctx, org, account, id)
}

// ExpiredRuns implements [posture.RunStore].
func (s Runs) ExpiredRuns(ctx context.Context, now time.Time) (map[string]posture.OrgID, error) {
	if err := refuse(ctx); err != nil {
		return nil, err
	}
	return s.Store.ExpiredRuns(ctx, now)
}

// DueAccounts implements [posture.RunStore].
func (s Runs) DueAccounts(ctx context.Context, now time.Time, limit int) ([]posture.AccountRef, error) {
	if err := refuse(ctx); err != nil {
		return nil, err
	}
	return s.Store.DueAccounts(ctx, now, limit)
}

// ForgetRuns implements [posture.RunStore].
func (s Runs) ForgetRuns(ctx context.Context, before time.Time) error {
	if err := refuse(ctx); err != nil {
		return err
	}
	return s.Store.ForgetRuns(ctx, before)
}

// Starter starts collections.
type Starter interface {
	Start(ctx context.Context, org posture.OrgID, id posture.AccountID, scope posture.RunScope) (posture.Run, error)
}

// Collections restricts the start of collections.
type Collections struct{ Starter Starter }

// Start starts a collection of an account.
func (s Collections) Start(ctx context.Context, org posture.OrgID, id posture.AccountID, scope posture.RunScope) (posture.Run, error) {
	if err := CheckAccount(ctx, id); err != nil {
		return posture.Run{}, err
	}
	return s.Starter.Start(ctx, org, id, scope)
}
