package secret

import (
	"context"
	"time"
)

// Wrapped is a stored keyset, encrypted by a master key.
type Wrapped struct {
	Generation int64     // 1 for the first, incremented by every change
	Master     string    // name of the master key that encrypts it
	Keyset     []byte    // encrypted
	RotatedAt  time.Time // when the primary key was added
}

// Keyring stores the wrapped keyset of an installation. Any number of processes
// share it. Methods are safe for concurrent use.
type Keyring interface {
	// Keyset returns the current keyset, or fault.NotFound before the first.
	Keyset(ctx context.Context) (Wrapped, error)

	// Replace stores w as the successor of generation w.Generation-1. It fails with
	// fault.Stale if another process was faster.
	Replace(ctx context.Context, w Wrapped) error
}

// Bookmarks store the progress of resealing a column and of the whole rotation, so
// that an interrupted run resumes where it stopped. A bookmark is valid for one
// generation of the keyset.
type Bookmarks interface {
	// Bookmark returns the place to resume from; empty for the beginning.
	Bookmark(ctx context.Context, column string, generation int64) (bookmark string, done bool, err error)

	// SetBookmark replaces the bookmark of the column.
	SetBookmark(ctx context.Context, column string, generation int64, bookmark string, done bool) error
}
