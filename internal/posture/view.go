package posture

import (
	"context"
	"time"
)

// A View is an address of the console that somebody gave a name.
type View struct {
	ID      string
	Owner   string // id of the user
	Shared  bool   // everybody in the organisation sees it
	Name    string
	Screen  string // the screen of the console: findings
	Query   string // of its address: level=High&sort=-risk
	Updated time.Time
}

// MaxViews is how many views one user may have.
const MaxViews = 200

// ViewStore keeps saved views.
//
// Methods are safe for concurrent use. What belongs to another organisation, or
// to another user and is not shared, is answered as if it did not exist.
type ViewStore interface {
	// Views returns a user's own views and those that others share, by name.
	Views(ctx context.Context, org OrgID, user string) ([]View, error)

	// SaveView adds a view or replaces one of the same id and owner. It fails with
	// fault.NotFound when the id is another user's, and with fault.Conflict when
	// the user has MaxViews.
	SaveView(ctx context.Context, org OrgID, v View) error

	// DeleteView removes a view of a user, or fails with fault.NotFound.
	DeleteView(ctx context.Context, org OrgID, user, id string) error
}
