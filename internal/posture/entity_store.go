package posture

import (
	"context"
	"time"
)

// A Scope is what one unit of collection covers: all entities of a type in a
// region of an account, or in all regions where the region is Global.
type Scope struct {
	Org     OrgID
	Account AccountID
	Type    EntityType
	Region  string
}

// EntityFilter chooses entities. Empty members do not filter, values are compared
// without regard to case.
type EntityFilter struct {
	Accounts  []string
	Names     []string
	Types     []string
	Providers []string
	Regions   []string
	Services  []string
	Where     Condition // nil for none
}

// Matches reports whether the filter lets an entity through.
func (f EntityFilter) Matches(e *Entity) bool {
	return among(f.Accounts, string(e.Account)) && among(f.Names, e.Name) && among(f.Types, string(e.Type)) &&
		among(f.Providers, string(e.Provider)) && among(f.Regions, e.Region) && among(f.Services, e.Service) &&
		(f.Where == nil || f.Where.Of(e) == Yes)
}

// among reports whether set is empty or has v, without regard to case.
func among(set []string, v string) bool {
	for _, each := range set {
		if same(each, v) {
			return true
		}
	}
	return len(set) == 0
}

// An EntityPage is one page of entities.
type EntityPage struct {
	Entities []Entity
	Total    int    // how many there are on all pages
	Next     string // the place of the next page, for Page.After; empty on the last
}

// An Aggregation asks for the values of an attribute and how many entities have
// each.
type Aggregation struct {
	Of    Attribute
	Limit int                    // how many values at most, the most frequent first; 0 for all
	Sub   map[string]Aggregation // asked again of the entities of each value
}

// Limits of aggregations: how deep they may be nested, and how many one call may
// ask for, those within others included. Each is a walk through all entities, or
// a table for every bucket of the one around it.
const (
	MaxAggregationDepth = 5
	MaxAggregations     = 100
)

// A Bucket is one value of an aggregation.
type Bucket struct {
	Count int
	Sub   map[string]Buckets
}

// Buckets are the values of an aggregation.
type Buckets map[string]Bucket

// Coverage says how current the entities of one scope are.
type Coverage struct {
	Type       EntityType
	Region     string    // of the unit: Global for collectors that run once per account
	Regions    []string  // where its entities are
	Succeeded  time.Time // when all of it was last read; zero for never
	Failed     time.Time // when it was last tried in vain; zero for never
	Why        string    // it failed
	Generation int64     // of the account when it last succeeded
}

// Current reports whether the last try succeeded.
func (c Coverage) Current() bool {
	return !c.Succeeded.IsZero() && !c.Failed.After(c.Succeeded)
}

// Covers reports whether an entity of this type and region belongs to the scope.
func (c Coverage) Covers(t EntityType, region string) bool {
	if c.Type != t {
		return false
	}
	if c.Region == Global || c.Region == region {
		return true
	}
	for _, r := range c.Regions {
		if r == region {
			return true
		}
	}
	return false
}

// EntityStore keeps the entities of accounts and what happened to them. How they
// come in with a collection is said by package collect.
//
// Methods are safe for concurrent use. Values passed in and out are copies. What
// belongs to another organisation is answered as if it did not exist.
type EntityStore interface {
	// Entity returns an entity, or fault.NotFound.
	Entity(ctx context.Context, org OrgID, id EntityID) (Entity, error)

	// EntitiesOf returns those of the entities of an account that exist.
	EntitiesOf(ctx context.Context, org OrgID, account AccountID, ids []EntityID) (map[EntityID]Entity, error)

	// Entities returns one page of the entities that f lets through, and how
	// many there are. An entity that exists unchanged throughout is on one page.
	Entities(ctx context.Context, org OrgID, f EntityFilter, p Page) (EntityPage, error)

	// Aggregate counts the entities that f lets through, in all and by what the
	// aggregations ask.
	Aggregate(ctx context.Context, org OrgID, f EntityFilter, as map[string]Aggregation) (total int, found map[string]Buckets, err error)

	// ChangeLog returns what happened to an entity, newest first, also to one
	// that is gone. It fails with fault.NotFound for one that never was.
	ChangeLog(ctx context.Context, org OrgID, id EntityID) ([]EntityChange, error)

	// Replace saves what was read of single entities of a scope after an event:
	// those found are replaced or added, those gone and not found are removed,
	// in one transaction. Others of the scope stay as they are.
	Replace(ctx context.Context, s Scope, found []Entity, gone []EntityID) error

	// ScopeFailed notes that a scope could not be read, and why.
	ScopeFailed(ctx context.Context, s Scope, why string) error

	// Coverage says how current each scope of an account is.
	Coverage(ctx context.Context, org OrgID, account AccountID) ([]Coverage, error)

	// ForgetChanges removes the change logs of entities that were gone before a
	// time.
	ForgetChanges(ctx context.Context, before time.Time) error
}

// ChangesKept is how long the change log of what is gone is kept.
const ChangesKept = 90 * 24 * time.Hour

// PartitionChanges are the differences between two generations of an account.
type PartitionChanges struct {
	Generation int64 // that they lead to
	Changed    []Entity
	Gone       []EntityID
}

// A Snapshot is a copy of an account's graph in a form that is quick to load.
type Snapshot struct {
	Generation int64
	Data       []byte
}

// PartitionStore keeps what graphs of accounts are made of. Each account has a
// generation, which grows with every change that is committed to its entities
// and never shrinks, not even when the account is removed and added again.
type PartitionStore interface {
	// Generation returns the current generation of an account, 0 for one that
	// was never collected. It fails with fault.NotFound without the account.
	Generation(ctx context.Context, org OrgID, account AccountID) (int64, error)

	// EachEntity calls f for every entity of an account, as they were at the
	// generation that it returns.
	EachEntity(ctx context.Context, org OrgID, account AccountID, f func(Entity) error) (int64, error)

	// ChangesSince returns what changed after a generation. It reports false
	// when that was too long ago to tell.
	ChangesSince(ctx context.Context, org OrgID, account AccountID, generation int64) (PartitionChanges, bool, error)

	// Snapshot returns the snapshot that was last saved, with generation 0 when
	// there is none.
	Snapshot(ctx context.Context, org OrgID, account AccountID) (Snapshot, error)

	// SaveSnapshot keeps a snapshot unless there is a newer one.
	SaveSnapshot(ctx context.Context, org OrgID, account AccountID, s Snapshot) error
}
