package desktop

import (
	"context"
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
}

// changesOf lists the statuses that differ between two records of a component.
func changesOf(at time.Time, before, after Record) []Change {
	was := make(map[string]string)
	for _, s := range before.Statuses() {
		was[s.Part] = s.Status
	}
	var out []Change
	for _, s := range after.Statuses() {
		if from, ok := was[s.Part]; ok && from != s.Status {
			out = append(out, Change{
				At: at, Ref: after.Ref(), Part: s.Part, From: from, To: s.Status, Reasons: after.Fresh().Reasons,
			})
		}
	}
	return out
}

// A ChangeFilter selects changes; zero members select all.
type ChangeFilter struct {
	Kind  Kind
	ID    ID
	Since time.Time
	Until time.Time // exclusive
	After string    // the cursor that the page before ended with
	Limit int
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

	// ForgetChanges removes the changes before the given time.
	ForgetChanges(ctx context.Context, before time.Time) error
}
