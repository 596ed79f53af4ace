package limit

import (
	"context"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
)

// Entities restricts entities and their change logs.
type Entities struct{ Store posture.EntityStore }

var _ posture.EntityStore = Entities{}

// Entity implements [posture.EntityStore].
func (s Entities) Entity(ctx context.Context, org posture.OrgID, id posture.EntityID) (posture.Entity, error) {
	e, err := s.Store.Entity(ctx, org, id)
	if err == nil && !Allows(ctx, e.Account) {
		return posture.Entity{}, fault.New(fault.NotFound, "entity %q was not found", id)
	}
	return e, err
}

// EntitiesOf implements [posture.EntityStore].
func (s Entities) EntitiesOf(ctx context.Context, org posture.OrgID, account posture.AccountID, ids []posture.EntityID) (map[posture.EntityID]posture.Entity, error) {
	if !Allows(ctx, account) {
		return map[posture.EntityID]posture.Entity{}, nil
	}
	return s.Store.EntitiesOf(ctx, org, account, ids)
}

// Entities implements [posture.EntityStore].
func (s Entities) Entities(ctx context.Context, org posture.OrgID, f posture.EntityFilter, p posture.Page) (posture.EntityPage, error) {
	f.Accounts = within(ctx, f.Accounts)
	return s.Store.Entities(ctx, org, f, p)
}

// SortedEntities implements [posture.EntityStore].
func (s Entities) SortedEntities(ctx context.Context, org posture.OrgID, f posture.EntityFilter, by posture.EntitySort, p posture.Page) (posture.EntityPage, error) {
	f.Accounts = within(ctx, f.Accounts)
	return s.Store.SortedEntities(ctx, org, f, by, p)
}

// Aggregate implements [posture.EntityStore].
func (s Entities) Aggregate(ctx context.Context, org posture.OrgID, f posture.EntityFilter, aggregations map[string]posture.Aggregation) (int, map[string]posture.Buckets, error) {
	f.Accounts = within(ctx, f.Accounts)
	return s.Store.Aggregate(ctx, org, f, aggregations)
}

// AggregationCost implements [posture.EntityStore].
func (s Entities) AggregationCost(ctx context.Context, org posture.OrgID, f posture.EntityFilter, aggregations map[string]posture.Aggregation) (int, error) {
	f.Accounts = within(ctx, f.Accounts)
	return s.Store.AggregationCost(ctx, org, f, aggregations)
}

// ChangeLog implements [posture.EntityStore]. The account of a deleted entity is
// not known, so limited callers get the change logs of existing entities only.
func (s Entities) ChangeLog(ctx context.Context, org posture.OrgID, id posture.EntityID) ([]posture.EntityChange, error) {
	if _, limited := From(ctx); limited {
		if _, err := s.Entity(ctx, org, id); err != nil {
			return nil, err
		}
	}
	return s.Store.ChangeLog(ctx, org, id)
}

// Feed implements [posture.EntityStore].
func (s Entities) Feed(ctx context.Context, org posture.OrgID, f posture.FeedFilter, p posture.Page) (posture.FeedPage, error) {
	f.Accounts = within(ctx, f.Accounts)
	return s.Store.Feed(ctx, org, f, p)
}

// FeedCounts implements [posture.EntityStore].
func (s Entities) FeedCounts(ctx context.Context, org posture.OrgID, f posture.FeedFilter, step time.Duration) ([]posture.FeedCount, error) {
	f.Accounts = within(ctx, f.Accounts)
	return s.Store.FeedCounts(ctx, org, f, step)
}

// Replace implements [posture.EntityStore].
func (s Entities) Replace(ctx context.Context, scope posture.Scope, origin posture.ChangeOrigin, found []posture.Entity, gone []posture.EntityID) error {
	if err := refuse(ctx); err != nil {
		return err
	}
	return s.Store.Replace(ctx, scope, origin, found, gone)
}

// ScopeFailed implements [posture.EntityStore].
func (s Entities) ScopeFailed(ctx context.Context, scope posture.Scope, why string) error {
	if err := refuse(ctx); err != nil {
		return err
	}
	return s.Store.ScopeFailed(ctx, scope, why)
}

// Coverage implements [posture.EntityStore].
func (s Entities) Coverage(ctx context.Context, org posture.OrgID, account posture.AccountID) ([]posture.Coverage, error) {
	if !Allows(ctx, account) {
		return nil, nil
	}
	return s.Store.Coverage(ctx, org, account)
}

// ForgetChanges implements [posture.EntityStore].
func (s Entities) ForgetChanges(ctx context.Context, before time.Time) error {
	if err := refuse(ctx); err != nil {
		return err
	}
	return s.Store.ForgetChanges(ctx, before)
}
