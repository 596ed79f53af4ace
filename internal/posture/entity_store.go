package posture

import (
	"context"
	"time"
)

// A Scope is the unit of collection: all entities of a type in one region of an
// account, or in all regions if Region is Global.
type Scope struct {
	Org     OrgID
	Account AccountID
	Type    EntityType
	Region  string
}

// EntityFilter selects entities. Empty members do not filter. Values are compared
// ignoring case.
type EntityFilter struct {
	Accounts  []string
	Names     []string
	Types     []string
	Providers []string
	Regions   []string
	Services  []string
	NameWords []string  // each must be the beginning of a word of the name; see SearchWords
	Where     Condition // nil for none
}

// Matches reports whether the filter selects an entity.
func (f EntityFilter) Matches(e *Entity) bool {
	return isEmptyOrContainsFold(f.Accounts, string(e.Account)) && isEmptyOrContainsFold(f.Names, e.Name) && isEmptyOrContainsFold(f.Types, string(e.Type)) &&
		isEmptyOrContainsFold(f.Providers, string(e.Provider)) && isEmptyOrContainsFold(f.Regions, e.Region) && isEmptyOrContainsFold(f.Services, e.Service) &&
		hasNameWords(e.Name, f.NameWords) &&
		(f.Where == nil || f.Where.Of(e) == Yes)
}

// isEmptyOrContainsFold reports whether set is empty or contains v, ignoring case.
func isEmptyOrContainsFold(set []string, v string) bool {
	for _, each := range set {
		if equalFold(each, v) {
			return true
		}
	}
	return len(set) == 0
}

// MaxSortedEntities is the largest number of entities that can be listed in an order other
// than that of the store.
const MaxSortedEntities = 50_000

// An EntitySort is an order of entities: by an attribute, or by a time. Entities without
// a value are last in both directions.
type EntitySort struct {
	By      Attribute
	Updated bool // by the time of the last change, instead of By
	Desc    bool
}

// An EntityPage is one page of entities.
type EntityPage struct {
	Entities []Entity
	Total    int    // on all pages
	Next     string // the cursor for Page.After; empty on the last page
}

// An Aggregation counts entities by the values of an attribute.
type Aggregation struct {
	Of    Attribute
	Limit int                    // of values returned, the most frequent first; 0 for all
	Sub   map[string]Aggregation // aggregations within each value
}

// Limits of aggregations: the nesting depth, and the number in one call including
// nested ones. Each aggregation scans all entities; a nested one also needs a table for
// every bucket of its parent.
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

// Coverage says when the entities of a scope were last read.
type Coverage struct {
	Type       EntityType
	Region     string    // of the scope: Global for collectors that run once per account
	Regions    []string  // regions of its entities
	Succeeded  time.Time // when it was last read completely; zero for never
	Failed     time.Time // when the last failed attempt was; zero for never
	Why        string    // reason of the failure
	Generation int64     // of the account at the time of Succeeded
}

// Current reports whether the last attempt succeeded.
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

// EntityStore stores the entities of accounts and their change logs. Package collect
// has the interface through which collections write them.
//
// Methods are safe for concurrent use. Values passed in and out are copies. Records of
// other organisations are reported as not found.
type EntityStore interface {
	// Entity returns an entity, or fault.NotFound.
	Entity(ctx context.Context, org OrgID, id EntityID) (Entity, error)

	// EntitiesOf returns the entities of an account with the given ids, omitting ids
	// that do not exist.
	EntitiesOf(ctx context.Context, org OrgID, account AccountID, ids []EntityID) (map[EntityID]Entity, error)

	// Entities returns one page of the entities that f selects. An entity that does not
	// change while a client reads the pages is on exactly one page.
	Entities(ctx context.Context, org OrgID, f EntityFilter, p Page) (EntityPage, error)

	// SortedEntities returns one page of the entities that f selects in an order. It reads
	// all of them for every page, and fails with fault.Invalid if there are more than
	// MaxSortedEntities.
	SortedEntities(ctx context.Context, org OrgID, f EntityFilter, s EntitySort, p Page) (EntityPage, error)

	// Aggregate counts the entities that f selects, in total and by the aggregations.
	Aggregate(ctx context.Context, org OrgID, f EntityFilter, aggregations map[string]Aggregation) (total int, found map[string]Buckets, err error)

	// AggregationCost returns the number of rows that Aggregate reads at most. Counts
	// that are stored cost nothing.
	AggregationCost(ctx context.Context, org OrgID, f EntityFilter, aggregations map[string]Aggregation) (rows int, err error)

	// ChangeLog returns the changes of an entity, newest first, also of a deleted one.
	// It fails with fault.NotFound if the entity never existed.
	ChangeLog(ctx context.Context, org OrgID, id EntityID) ([]EntityChange, error)

	// Feed returns one page of the changes of all entities of an organisation, newest
	// first. It has at most the first thousand changes of a commit, and no entities that
	// the first collection of a scope found.
	Feed(ctx context.Context, org OrgID, f FeedFilter, p Page) (FeedPage, error)

	// FeedCounts counts the changes that f selects in steps of time, oldest first. Steps
	// without a change are omitted.
	FeedCounts(ctx context.Context, org OrgID, f FeedFilter, step time.Duration) ([]FeedCount, error)

	// Replace saves single entities of a scope that were read after an event, in one
	// transaction: it adds or replaces those in found and deletes those in removed
	// that are not in found. It does not change other entities of the scope. The
	// origin is what the event says about the change.
	Replace(ctx context.Context, s Scope, origin ChangeOrigin, found []Entity, removed []EntityID) error

	// ScopeFailed records that a scope could not be read, and why.
	ScopeFailed(ctx context.Context, s Scope, reason string) error

	// Coverage returns the coverage of each scope of an account.
	Coverage(ctx context.Context, org OrgID, account AccountID) ([]Coverage, error)

	// ForgetChanges deletes the change logs of entities that were deleted before a
	// time, and the change feed before that time.
	ForgetChanges(ctx context.Context, before time.Time) error
}

// ChangesKept is the default of how long the change logs of deleted entities and the
// change feed are kept.
const ChangesKept = 90 * 24 * time.Hour

// PartitionChanges are the differences between two generations of a partition, which is
// the entities of one account (the partitionKey of graph queries).
type PartitionChanges struct {
	Generation int64 // the newer one
	Changed    []Entity
	Gone       []EntityID // deleted
}

// A Snapshot is an account's graph, serialised so that it loads quickly.
type Snapshot struct {
	Generation int64
	Data       []byte
}

// PartitionStore stores the input of account graphs. Each account has a generation
// number, which increases with every committed change of its entities. It never
// decreases, not even if the account is removed and added again.
type PartitionStore interface {
	// Generation returns the current generation of an account, 0 if it was never
	// collected. It fails with fault.NotFound if the account does not exist.
	Generation(ctx context.Context, org OrgID, account AccountID) (int64, error)

	// EachEntity calls f for every entity of an account in a consistent read, and
	// returns the generation of that read.
	EachEntity(ctx context.Context, org OrgID, account AccountID, f func(Entity) error) (int64, error)

	// ChangesSince returns the changes after a generation. It returns false if the
	// change log does not reach back that far.
	ChangesSince(ctx context.Context, org OrgID, account AccountID, generation int64) (PartitionChanges, bool, error)

	// Snapshot returns the last saved snapshot; its generation is 0 if there is none.
	Snapshot(ctx context.Context, org OrgID, account AccountID) (Snapshot, error)

	// SaveSnapshot saves a snapshot unless a newer one exists.
	SaveSnapshot(ctx context.Context, org OrgID, account AccountID, s Snapshot) error
}
