package desktop

import (
	"context"
	"time"
)

// A Change is a status that became another one.
type Change struct {
	At      time.Time
	Ref     Ref
	Part    string // empty: the component itself
	From    string // empty: there was none before
	To      string // empty: the component or part is gone
	Reasons []string
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
