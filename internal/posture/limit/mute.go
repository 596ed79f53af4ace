package limit

import (
	"context"
	"slices"
	"time"

	"vigil/internal/posture"
)

// Mutes restricts mute rules: a limited caller sees those without accounts,
// and those whose accounts are all within the limit.
type Mutes struct{ Store posture.MuteStore }

var _ posture.MuteStore = Mutes{}

func visible(ctx context.Context, m posture.MuteRule) bool {
	return !slices.ContainsFunc(m.Scope.Accounts, func(id posture.AccountID) bool { return !Allows(ctx, id) })
}

// MuteRules implements [posture.MuteStore].
func (s Mutes) MuteRules(ctx context.Context, org posture.OrgID) ([]posture.MuteRule, error) {
	all, err := s.Store.MuteRules(ctx, org)
	return slices.DeleteFunc(all, func(m posture.MuteRule) bool { return !visible(ctx, m) }), err
}

// MuteRule implements [posture.MuteStore].
func (s Mutes) MuteRule(ctx context.Context, org posture.OrgID, id posture.MuteRuleID) (posture.MuteRule, error) {
	m, err := s.Store.MuteRule(ctx, org, id)
	if err == nil && !visible(ctx, m) {
		return posture.MuteRule{}, posture.MuteRuleNotFound(id)
	}
	return m, err
}

// PreviewMute implements [posture.MuteStore].
func (s Mutes) PreviewMute(ctx context.Context, org posture.OrgID, scope posture.MuteScope, now time.Time) (posture.MutePreview, error) {
	scope.Accounts = within(ctx, scope.Accounts)
	return s.Store.PreviewMute(ctx, org, scope, now)
}

// AddMuteRule implements [posture.MuteStore].
func (s Mutes) AddMuteRule(ctx context.Context, org posture.OrgID, m posture.MuteRule) (int, error) {
	if err := refuse(ctx); err != nil {
		return 0, err
	}
	return s.Store.AddMuteRule(ctx, org, m)
}

// ReplaceMuteRule implements [posture.MuteStore].
func (s Mutes) ReplaceMuteRule(ctx context.Context, org posture.OrgID, m posture.MuteRule, check func(string) error) (int, posture.MuteRule, error) {
	if err := refuse(ctx); err != nil {
		return 0, posture.MuteRule{}, err
	}
	return s.Store.ReplaceMuteRule(ctx, org, m, check)
}

// DeleteMuteRule implements [posture.MuteStore].
func (s Mutes) DeleteMuteRule(ctx context.Context, org posture.OrgID, id posture.MuteRuleID, check func(string) error, at time.Time) (int, posture.MuteRule, error) {
	if err := refuse(ctx); err != nil {
		return 0, posture.MuteRule{}, err
	}
	return s.Store.DeleteMuteRule(ctx, org, id, check, at)
}

// Views restricts saved views: the addresses in shared views of others may name
// accounts, so limited callers see their own only.
type Views struct{ Store posture.ViewStore }

var _ posture.ViewStore = Views{}

// Views implements [posture.ViewStore].
func (s Views) Views(ctx context.Context, org posture.OrgID, user string) ([]posture.View, error) {
	all, err := s.Store.Views(ctx, org, user)
	if _, limited := From(ctx); limited {
		all = slices.DeleteFunc(all, func(v posture.View) bool { return v.Owner != user })
	}
	return all, err
}

// SaveView implements [posture.ViewStore].
func (s Views) SaveView(ctx context.Context, org posture.OrgID, v posture.View) error {
	return s.Store.SaveView(ctx, org, v)
}

// DeleteView implements [posture.ViewStore].
func (s Views) DeleteView(ctx context.Context, org posture.OrgID, user, id string) error {
	return s.Store.DeleteView(ctx, org, user, id)
}
