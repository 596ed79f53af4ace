package posture

import "time"

// ChangeCause says how Vigil learned of a change.
type ChangeCause string

// The causes.
const (
	CausedByCollection ChangeCause = "Collection"
	CausedByEvent      ChangeCause = "Event"
)

// A FeedFilter selects changes of the change feed. Empty members do not filter.
type FeedFilter struct {
	Accounts []string
	Types    []string
	When     Span
}

// A FeedChange is one change of one entity in the change feed of an organisation.
type FeedChange struct {
	ChangeType ChangeType // what happened to the entity
	Entity     EntityID
	Name       string
	EntityType EntityType
	Account    AccountID
	Region     string
	Change     EntityChange // At, Cause and ChangeOrigin; and the differences, if the entity was updated
}

// A FeedPage is one page of the change feed, newest first.
type FeedPage struct {
	Changes []FeedChange
	Next    string // the cursor for Page.After; empty on the last page
}

// A FeedCount is the number of changes within a step of time.
type FeedCount struct {
	From                    time.Time
	Added, Updated, Deleted int
}
