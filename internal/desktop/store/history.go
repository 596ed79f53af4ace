package store

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"vigil/internal/desktop"
	"vigil/internal/sqldb"
)

// AppendChanges implements [desktop.HistoryStore]. The ids grow with time, so
// that the newest first is their order backwards.
func (s *Store) AppendChanges(ctx context.Context, changes []desktop.Change) error {
	if len(changes) == 0 {
		return nil
	}
	ids := make([]string, len(changes))
	for i := range ids {
		id, err := uuid.NewV7()
		if err != nil {
			return err
		}
		ids[i] = id.String()
	}
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecEach(`
			INSERT INTO desktop_change (id, changed_at, kind, component, name, part, from_status, to_status, reasons)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			func(yield func([]any) bool) {
				for i, c := range changes {
					row := []any{ids[i], millis(c.At), c.Ref.Kind, c.Ref.ID, c.Ref.Name, c.Part, c.From, c.To, toJSON(c.Reasons)}
					if !yield(row) {
						return
					}
				}
			})
		return err
	})
}

// stored is a change with its id.
type stored struct {
	id     string
	change desktop.Change
}

func scanChange(r sqldb.Row) (c stored, err error) {
	var reasons string
	err = r.Scan(&c.id, moment{&c.change.At}, &c.change.Ref.Kind, &c.change.Ref.ID, &c.change.Ref.Name,
		&c.change.Part, &c.change.From, &c.change.To, &reasons)
	if err == nil {
		err = fromJSON(reasons, &c.change.Reasons)
	}
	return c, err
}

// maxPage is the size of a page where none is asked for.
const maxPage = 1000

// Changes implements [desktop.HistoryStore].
func (s *Store) Changes(ctx context.Context, f desktop.ChangeFilter) ([]desktop.Change, string, error) {
	limit := min(maxPage, cmp.Or(f.Limit, maxPage))
	rows, err := list(ctx, s, scanChange, `
		SELECT id, changed_at, kind, component, name, part, from_status, to_status, reasons
		FROM desktop_change
		WHERE ($1 = '' OR kind = $1)
		  AND ($2 = '' OR component = $2)
		  AND changed_at >= $3
		  AND (CAST($4 AS BIGINT) = 0 OR changed_at < $4)
		  AND ($5 = '' OR id < $5)
		ORDER BY id DESC
		LIMIT $6`, f.Kind, f.ID, millis(f.Since), millis(f.Until), f.After, limit+1)
	if err != nil {
		return nil, "", err
	}
	next := ""
	if len(rows) > limit {
		rows = rows[:limit]
		next = rows[limit-1].id
	}
	page := make([]desktop.Change, len(rows))
	for i, r := range rows {
		page[i] = r.change
	}
	return page, next, nil
}

// ForgetChanges implements [desktop.HistoryStore].
func (s *Store) ForgetChanges(ctx context.Context, before time.Time) error {
	_, err := s.exec(ctx, `DELETE FROM desktop_change WHERE changed_at < $1`, millis(before))
	return err
}
