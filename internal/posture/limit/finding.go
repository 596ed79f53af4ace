package limit

import (
	"context"
	"time"

	"vigil/internal/posture"
)

// Findings restricts findings and verdicts.
type Findings struct{ Store posture.FindingStore }

var _ posture.FindingStore = Findings{}

// Observe implements [posture.FindingStore].
func (s Findings) Observe(ctx context.Context, org posture.OrgID, j posture.Judgement) (int64, error) {
	if err := refuse(ctx); err != nil {
		return 0, err
	}
	return s.Store.Observe(ctx, org, j)
}

// Finding implements [posture.FindingStore].
func (s Findings) Finding(ctx context.Context, org posture.OrgID, id posture.FindingID) (posture.Finding, string, error) {
	f, blob, err := s.Store.Finding(ctx, org, id)
	if err == nil && !Allows(ctx, f.Account) {
		return posture.Finding{}, "", posture.FindingNotFound(id)
	}
	return f, blob, err
}

// Findings implements [posture.FindingStore].
func (s Findings) Findings(ctx context.Context, org posture.OrgID, f posture.FindingFilter, sorts []posture.FindingSort, p posture.Page, now time.Time) (posture.FindingPage, error) {
	f.Accounts = within(ctx, f.Accounts)
	return s.Store.Findings(ctx, org, f, sorts, p, now)
}

// AggregateFindings implements [posture.FindingStore].
func (s Findings) AggregateFindings(ctx context.Context, org posture.OrgID, f posture.FindingFilter, aggregations map[string]posture.Aggregation, now time.Time) (int, map[string]posture.Buckets, error) {
	f.Accounts = within(ctx, f.Accounts)
	return s.Store.AggregateFindings(ctx, org, f, aggregations, now)
}

// FindingAggregationCost implements [posture.FindingStore].
func (s Findings) FindingAggregationCost(ctx context.Context, org posture.OrgID, f posture.FindingFilter, aggregations map[string]posture.Aggregation, now time.Time) (int, error) {
	f.Accounts = within(ctx, f.Accounts)
	return s.Store.FindingAggregationCost(ctx, org, f, aggregations, now)
}

// Suppress implements [posture.FindingStore].
func (s Findings) Suppress(ctx context.Context, org posture.OrgID, id posture.FindingID, sup *posture.Suppression, by string, now time.Time) (posture.Finding, error) {
	if err := s.check(ctx, org, id); err != nil {
		return posture.Finding{}, err
	}
	return s.Store.Suppress(ctx, org, id, sup, by, now)
}

// check fails if the context may not see a finding. The account of a finding never
// changes, so the result stays true until the caller uses it.
func (s Findings) check(ctx context.Context, org posture.OrgID, id posture.FindingID) error {
	if _, limited := From(ctx); !limited {
		return nil
	}
	_, _, err := s.Finding(ctx, org, id)
	return err
}

// FindingHistory implements [posture.FindingStore].
func (s Findings) FindingHistory(ctx context.Context, org posture.OrgID, id posture.FindingID) ([]posture.FindingEvent, error) {
	if err := s.check(ctx, org, id); err != nil {
		return nil, err
	}
	return s.Store.FindingHistory(ctx, org, id)
}

// SuppressAll implements [posture.FindingStore].
func (s Findings) SuppressAll(ctx context.Context, org posture.OrgID, f posture.FindingFilter, sup *posture.Suppression, by string, now time.Time) (matched, changed int, err error) {
	f.Accounts = within(ctx, f.Accounts)
	return s.Store.SuppressAll(ctx, org, f, sup, by, now)
}

// Trends implements [posture.FindingStore].
func (s Findings) Trends(ctx context.Context, org posture.OrgID, f posture.FindingFilter, interval, by string, now time.Time) (posture.Trends, error) {
	f.Accounts = within(ctx, f.Accounts)
	return s.Store.Trends(ctx, org, f, interval, by, now)
}

// Verdicts implements [posture.FindingStore].
func (s Findings) Verdicts(ctx context.Context, org posture.OrgID, rules []posture.RuleID, accounts []posture.AccountID) ([]posture.RuleVerdict, error) {
	return s.Store.Verdicts(ctx, org, rules, within(ctx, accounts))
}

// Posture implements [posture.FindingStore].
func (s Findings) Posture(ctx context.Context, org posture.OrgID, rules []posture.RuleID) (map[posture.RuleID]posture.ControlPosture, error) {
	if err := refuse(ctx); err != nil {
		return nil, err
	}
	return s.Store.Posture(ctx, org, rules)
}
