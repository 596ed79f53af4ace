package desktop

import (
	"context"
	"maps"
	"time"
)

// A Change is a transition from one status to another. Adding or removing a
// component or part is not a change.
type Change struct {
	At      time.Time
	Ref     Ref
	Part    string // empty for the component itself
	From    string
	To      string
	Reasons []string
	Cause   Ref    // the component that caused the change, often Ref itself
	Group   string // id of the ChangeGroup
}

// A ChangeFilter selects changes; zero fields match all.
type ChangeFilter struct {
	Kind  Kind
	ID    ID
	Since time.Time
	Until time.Time // exclusive

	Statuses []string // the new status is one of these
	Text     string   // in names, statuses or reasons, ignoring the case of ASCII letters

	After string // cursor returned with the previous page
	Limit int
}

// A ChangeGroup is a series of changes with the same cause, each at most a minute
// after the one before, oldest first. The new statuses are all OK, or all not OK.
type ChangeGroup struct {
	ID      string
	Cause   Ref
	Changes []Change
}

// maxGroupGap is the longest time between a change and the next one of its group.
const maxGroupGap = time.Minute

// A Grouper assigns changes to groups as they arrive. It is not safe for
// concurrent use.
type Grouper struct {
	NewID func(at time.Time) string

	open map[groupKey]openGroup
}

type groupKey struct {
	cause   Ref
	healthy bool
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
		if !ok || c.At.Sub(open.last) > maxGroupGap {
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
	maps.DeleteFunc(g.open, func(_ groupKey, o openGroup) bool { return now.Sub(o.last) > maxGroupGap })
}

// HistoryStore stores the changes of statuses.
//
// Methods are safe for concurrent use. Values are copies.
type HistoryStore interface {
	// AppendChanges stores changes in order. It is atomic.
	AppendChanges(ctx context.Context, changes []Change) error

	// Changes returns one page, newest first, and the cursor of the next page,
	// empty on the last.
	Changes(ctx context.Context, f ChangeFilter) (page []Change, next string, err error)

	// ChangeGroups returns one page of groups, newest first, and the cursor of the
	// next page. It returns the groups with at least one change that the filter
	// selects, each with all its changes. The limit counts groups.
	ChangeGroups(ctx context.Context, f ChangeFilter) (page []ChangeGroup, next string, err error)

	// LastStatuses returns the newest status of every component and part whose
	// status ever changed.
	LastStatuses(ctx context.Context) ([]LastStatus, error)

	// ForgetChanges deletes the changes before the given time. Of a component that
	// exists, it keeps the newest change of the component itself and of each part:
	// LastStatuses returns them.
	ForgetChanges(ctx context.Context, before time.Time, exists func(Kind, ID) bool) error
}
