package secret

import (
	"context"
	"time"
)

// Wrapped is a keyset as it is stored: encrypted by a master key.
type Wrapped struct {
	Generation int64     // 1 for the first, one more with every change
	Master     string    // name of the master key that wraps it
	Keyset     []byte    // encrypted
	RotatedAt  time.Time // when the primary key was added
}

// Keyring stores the one wrapped keyset of an installation. Any number of
// processes share it. Methods are safe for concurrent use.
type Keyring interface {
	// Keyset returns the current keyset, or fault.NotFound before the first.
	Keyset(ctx context.Context) (Wrapped, error)

	// Replace stores w as the successor of generation w.Generation-1. It fails
	// with fault.Stale if another process was faster.
	Replace(ctx context.Context, w Wrapped) error
}

// Bookmarks remember how far a walk over a column has come, so that one that
// was interrupted goes on where it stopped. A bookmark belongs to a generation
// of the keyset; there is none in the next generation.
type Bookmarks interface {
	// Bookmark returns the place to go on from; empty means the beginning.
	Bookmark(ctx context.Context, column string, generation int64) (place string, done bool, err error)

	// SetBookmark replaces the bookmark of the column.
	SetBookmark(ctx context.Context, column string, generation int64, place string, done bool) error
}
