package posture

import (
	"context"
	"time"
)

// A View is a saved search: a screen of the console and its query, with a name.
type View struct {
	ID      string
	Owner   string // id of the user
	Shared  bool   // visible to the whole organisation
	Name    string
	Screen  string // of the console: findings
	Query   string // of the URL: level=High&sort=-risk
	Updated time.Time
}

// MaxViews is how many views one user may have.
const MaxViews = 200

// ViewStore stores saved views.
//
// Methods are safe for concurrent use. Views of other organisations, and unshared views
// of other users, are reported as not found.
type ViewStore interface {
	// Views returns a user's own views and shared ones, by name.
	Views(ctx context.Context, org OrgID, user string) ([]View, error)

	// SaveView adds a view or replaces the one with the same id and owner. It fails
	// with fault.NotFound if the id belongs to another user, and with fault.Conflict if
	// the user has MaxViews.
	SaveView(ctx context.Context, org OrgID, v View) error

	// DeleteView removes a view of a user, or fails with fault.NotFound.
	DeleteView(ctx context.Context, org OrgID, user, id string) error
}
