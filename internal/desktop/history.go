package desktop

import (
	"context"
	"maps"
	"time"
)

// A Change is a status that became another one. A component or part that is
// new, or gone, is no change: the inventory tells of those.
type Change struct {
	At      time.Time
	Ref     Ref
	Part    string // empty: the component itself
	From    string
	To      string
	Reasons []string
	Cause   Ref    // the component that the change is due to, often its own
	Group   string // names the changes that the same cause brought within a minute
}

// A ChangeFilter selects changes; zero members select all.
type ChangeFilter struct {
	Kind  Kind
	ID    ID
	Since time.Time
	Until time.Time // exclusive

	Statuses []string // the new status is one of these
	Text     string   // in names, statuses or reasons, without regard to the case of ASCII letters

	After string // the cursor that the page before ended with
	Limit int
}

// A ChangeGroup is the changes that one cause brought within a minute of each
// other, either for the worse or for the better, oldest first.
type ChangeGroup struct {
	ID      string
	Cause   Ref
	Changes []Change
}

// groupGap is the time between two changes above which they are not of the same
// group.
const groupGap = time.Minute

// A Grouper gives changes their groups as they come. It is not safe for
// concurrent use.
type Grouper struct {
	NewID func(at time.Time) string

	open map[groupKey]openGroup
}

type groupKey struct {
	cause Ref
	good  bool
}

type openGroup struct {
	id   string
	last time.Time
}

// Group sets the group of each change.
func (g *Grouper) Group(changes []Change) {
	if g.open == nil {
		g.open = make(map[groupKey]openGroup)
	}
	for i, c := range changes {
		key := groupKey{c.Cause, HealthOf(c.Ref.Kind, c.Part, c.To) == HealthOK}
		open, ok := g.open[key]
		if !ok || c.At.Sub(open.last) > groupGap {
			open.id = g.NewID(c.At)
		}
		open.last = c.At
		g.open[key] = open
		changes[i].Group = open.id
	}
	if len(changes) == 0 {
		return
	}
	now := changes[len(changes)-1].At
	maps.DeleteFunc(g.open, func(_ groupKey, o openGroup) bool { return now.Sub(o.last) > groupGap })
}

// HistoryStore keeps the changes of statuses.
//
// Methods are safe for concurrent use. Values are copies.
type HistoryStore interface {
	// AppendChanges keeps changes, in their order. It is atomic.
	AppendChanges(ctx context.Context, changes []Change) error

	// Changes returns one page, newest first, and the cursor of the next page,
	// empty on the last.
	Changes(ctx context.Context, f ChangeFilter) (page []Change, next string, err error)

	// ChangeGroups returns one page of groups that have a change which the filter
	// selects, whole, newest first, and the cursor of the next page. The limit
	// counts groups.
	ChangeGroups(ctx context.Context, f ChangeFilter) (page []ChangeGroup, next string, err error)

	// LastStatuses returns the newest status of every component and part whose
	// status ever changed.
	LastStatuses(ctx context.Context) ([]LastStatus, error)

	// ForgetChanges removes the changes before the given time.
	ForgetChanges(ctx context.Context, before time.Time) error
}
