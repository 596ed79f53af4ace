package secret

import (
	"context"
	"fmt"
)

// batch is how many rows are resealed in one step.
const batch = 200

// Resealer is the part of a Box that a Column calls for each of its values.
type Resealer interface {
	// Reseal returns the value to store instead of sealed, and whether it differs.
	Reseal(ctx context.Context, c Cell, sealed []byte) (fresh []byte, changed bool, err error)
}

// A Column is one field of a table whose values are sealed. Its owner knows how
// to walk it.
type Column interface {
	// Name is unique among columns: "credential.secret".
	Name() string

	// Reseal passes the sealed values of up to limit rows after the given place
	// through r and stores those that changed. A value that somebody else
	// replaced meanwhile must be left alone. It returns the place of the last row
	// visited, or an empty one after the last row, and the number of rows changed.
	Reseal(ctx context.Context, r Resealer, after string, limit int) (next string, changed int, err error)
}

// ResealAll brings the values of all columns under the primary key, in batches.
// Interrupted, it goes on where it stopped when called again. Report, which may
// be nil, is told the number of rows changed after every batch.
func (b *Box) ResealAll(ctx context.Context, marks Bookmarks, report func(column string, changed int), columns ...Column) error {
	if err := b.resealAll(ctx, marks, false, report, columns); err != nil {
		return fmt.Errorf("reseal: %w", err)
	}
	return nil
}

// resealAll walks the columns; anew ignores the bookmarks of earlier walks.
func (b *Box) resealAll(ctx context.Context, marks Bookmarks, anew bool, report func(string, int), columns []Column) error {
	set, err := b.refresh(ctx, 0)
	if err != nil {
		return err
	}
	generation := set.wrapped.Generation
	for _, c := range columns {
		place, done := "", false
		if !anew {
			if place, done, err = marks.Bookmark(ctx, c.Name(), generation); err != nil {
				return err
			}
		}
		for !done {
			var changed int
			place, changed, err = c.Reseal(ctx, b, place, batch)
			if err != nil {
				return fmt.Errorf("%s: %w", c.Name(), err)
			}
			done = place == ""
			if err := marks.SetBookmark(ctx, c.Name(), generation, place, done); err != nil {
				return err
			}
			if report != nil {
				report(c.Name(), changed)
			}
		}
	}
	return nil
}
