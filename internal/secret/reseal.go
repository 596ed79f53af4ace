package secret

import (
	"context"
	"fmt"
	"time"
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

// rotation is the name of the bookmark of the whole rotation. Those of columns
// have the names of the columns, which contain a dot.
const rotation = "rotation"

// begun is the bookmark of a rotation that has added its key. In a generation
// without a rotation, the bookmark is empty.
const begun = "begun"

// BeginRotation adds a key as [Box.Rotate] does, unless ResealAll has not
// completed for the key of an earlier call: then that rotation is to be continued,
// and no key is added. It returns the time at which the key was added, and whether
// this call added it.
//
// ResealAll must follow. It can miss values: other processes may encrypt with the
// earlier key for up to MaxAge more, and store such a value even later. A rotation that was
// interrupted before its bookmark was stored, or by [Box.Rewrap], is not continued.
func (b *Box) BeginRotation(ctx context.Context, marks Bookmarks) (at time.Time, added bool, err error) {
	set, err := b.refresh(ctx, 0)
	if err != nil {
		return time.Time{}, false, fmt.Errorf("begin a rotation: %w", err)
	}
	bookmark, done, err := marks.Bookmark(ctx, rotation, set.wrapped.Generation)
	if err != nil {
		return time.Time{}, false, fmt.Errorf("begin a rotation: %w", err)
	}
	if bookmark == begun && !done {
		return set.wrapped.RotatedAt, false, nil
	}
	if err := b.Rotate(ctx); err != nil {
		return time.Time{}, false, err
	}
	wrapped := b.current.Load().wrapped
	if err := marks.SetBookmark(ctx, rotation, wrapped.Generation, begun, false); err != nil {
		return time.Time{}, false, fmt.Errorf("begin a rotation: %w", err)
	}
	return wrapped.RotatedAt, true, nil
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
	return marks.SetBookmark(ctx, rotation, generation, begun, true)
}
