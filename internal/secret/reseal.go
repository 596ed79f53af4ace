package secret

import (
	"context"
	"fmt"
)

// batch is the number of rows that one call of Column.Reseal visits.
const batch = 200

// Resealer is the part of a Box that a Column calls for each of its values.
type Resealer interface {
	// Reseal returns the value to store instead of sealed, and whether it differs.
	Reseal(ctx context.Context, c Cell, sealed []byte) (fresh []byte, changed bool, err error)
}

// A Column is a column of sealed values.
type Column interface {
	// Name is unique among columns: "credential.secret".
	Name() string

	// Reseal passes the sealed values of up to limit rows after the given place to
	// r and stores those that changed. It must not overwrite a value that was
	// replaced concurrently. It returns the place of the last visited row, or ""
	// after the last row, and the number of changed rows.
	Reseal(ctx context.Context, r Resealer, after string, limit int) (next string, changed int, err error)
}

// ResealAll reseals the values of all columns with the primary key, in batches.
// An interrupted run is resumed by the next call. Report, which may be nil, is
// called with the number of changed rows after every batch.
func (b *Box) ResealAll(ctx context.Context, marks Bookmarks, report func(column string, changed int), columns ...Column) error {
	if err := b.resealAll(ctx, marks, report, columns); err != nil {
		return fmt.Errorf("reseal: %w", err)
	}
	return nil
}

func (b *Box) resealAll(ctx context.Context, marks Bookmarks, report func(string, int), columns []Column) error {
	set, err := b.refresh(ctx, 0)
	if err != nil {
		return err
	}
	generation := set.wrapped.Generation
	for _, c := range columns {
		bookmark, done, err := marks.Bookmark(ctx, c.Name(), generation)
		if err != nil {
			return err
		}
		for !done {
			var changed int
			bookmark, changed, err = c.Reseal(ctx, b, bookmark, batch)
			if err != nil {
				return fmt.Errorf("%s: %w", c.Name(), err)
			}
			done = bookmark == ""
			if err := marks.SetBookmark(ctx, c.Name(), generation, bookmark, done); err != nil {
				return err
			}
			if report != nil {
				report(c.Name(), changed)
			}
		}
	}
	return nil
}
