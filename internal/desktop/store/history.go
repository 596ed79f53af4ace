package store

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"vigil/internal/desktop"
	"vigil/internal/sqldb"
)

// changeNumber distinguishes changes of the same millisecond.
var changeNumber atomic.Uint32

// ChangeID returns an id that sorts by time: a UUID of version 7 for the given
// time. Ids of the same millisecond sort in order of creation.
func ChangeID(at time.Time) string {
	var id uuid.UUID
	_, _ = rand.Read(id[8:]) // never fails
	binary.BigEndian.PutUint64(id[:8], uint64(max(at.UnixMilli(), 0))<<16)
	n := changeNumber.Add(1) & (1<<26 - 1) // 12 bits beside the version, 14 bits beside the variant
	binary.BigEndian.PutUint16(id[6:], 0x7000|uint16(n>>14))
	binary.BigEndian.PutUint16(id[8:], 0x8000|uint16(n&0x3fff))
	return id.String()
}

// AppendChanges implements [desktop.HistoryStore]. Ids increase with time, so
// that newest first is descending id order.
func (s *Store) AppendChanges(ctx context.Context, changes []desktop.Change) error {
	if len(changes) == 0 {
		return nil
	}
	ids := make([]string, len(changes))
	for i, c := range changes {
		ids[i] = ChangeID(c.At)
	}
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecEach(`
			INSERT INTO desktop_change (id, changed_at, kind, component, name, part, from_status, to_status, reasons,
				cause_kind, cause_id, cause_name, group_id)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
			func(yield func([]any) bool) {
				for i, c := range changes {
					row := []any{
						ids[i], millis(c.At), c.Ref.Kind, c.Ref.ID, c.Ref.Name, c.Part, c.From, c.To, toJSON(c.Reasons),
						c.Cause.Kind, c.Cause.ID, c.Cause.Name, cmp.Or(c.Group, ids[i]),
					}
					if !yield(row) {
						return
					}
				}
			})
		return err
	})
}

// storedChange is a change with its id.
type storedChange struct {
	id     string
	change desktop.Change
}

const changeColumns = `id, changed_at, kind, component, name, part, from_status, to_status, reasons, cause_kind, cause_id, cause_name, group_id`

func scanChange(r sqldb.Row) (c storedChange, err error) {
	var reasons string
	err = r.Scan(&c.id, moment{&c.change.At}, &c.change.Ref.Kind, &c.change.Ref.ID, &c.change.Ref.Name,
		&c.change.Part, &c.change.From, &c.change.To, &reasons,
		&c.change.Cause.Kind, &c.change.Cause.ID, &c.change.Cause.Name, &c.change.Group)
	if err == nil {
		err = fromJSON(reasons, &c.change.Reasons)
	}
	return c, err
}

// maxPage is the default and maximum page size.
const maxPage = 1000

// where returns the SQL condition of a filter. cursorColumn is the column that
// f.After is a value of.
func (s *Store) where(f desktop.ChangeFilter, cursorColumn string, args *[]any) string {
	var all []string
	addCondition := func(format string, value any) {
		*args = append(*args, value)
		all = append(all, fmt.Sprintf(format, fmt.Sprintf("$%d", len(*args))))
	}
	if f.Kind != "" {
		addCondition("kind = %s", f.Kind)
	}
	if f.ID != "" {
		addCondition("component = %s", f.ID)
	}
	if !f.Since.IsZero() {
		addCondition("changed_at >= %s", millis(f.Since))
	}
	if !f.Until.IsZero() {
		addCondition("changed_at < %s", millis(f.Until))
	}
	if f.After != "" {
		addCondition(cursorColumn+" < %s", f.After)
	}
	if f.Text != "" {
		// The comparison with the JSON text saves decoding it where no reason can match.
		text := sqldb.Lower([]string{f.Text})[0]
		encoded := toJSON(text)
		*args = append(*args, contains(text), contains(encoded[1:len(encoded)-1]))
		all = append(all, fmt.Sprintf(`(lower(name || ' ' || part || ' ' || from_status || ' ' || to_status || ' ' || cause_name) LIKE $%[1]d ESCAPE '\'
			OR lower(reasons) LIKE $%[2]d ESCAPE '\' AND EXISTS (SELECT 1 FROM %[3]s WHERE lower(reason.value) LIKE $%[1]d ESCAPE '\'))`,
			len(*args)-1, len(*args), reasonRows[s.db.Dialect()]))
	}
	if len(f.Statuses) > 0 {
		all = append(all, "to_status IN "+sqldb.List(args, f.Statuses))
	}
	if len(all) == 0 {
		return "TRUE"
	}
	return strings.Join(all, " AND ")
}

// reasonRows is a table expression: one row per reason of a change, in a column named
// value. PostgreSQL cannot decode \u0000, which is therefore replaced by a space. Before,
// each \\ is replaced by \u005c, so that \\u0000, a backslash and letters, is not replaced.
var reasonRows = map[sqldb.Dialect]string{
	sqldb.SQLite: `json_each(reasons) AS reason`,
	sqldb.Postgres: `(
		SELECT value COLLATE "C" AS value
		FROM json_array_elements_text(CAST(replace(replace(nullif(reasons, 'null'), '\\', '\u005c'), '\u0000', ' ') AS json))) AS reason`,
}

// contains returns the pattern of LIKE for texts that contain the given one.
func contains(text string) string { return "%" + likeEscape.Replace(text) + "%" }

var likeEscape = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// Changes implements [desktop.HistoryStore].
func (s *Store) Changes(ctx context.Context, f desktop.ChangeFilter) ([]desktop.Change, string, error) {
	limit := min(maxPage, cmp.Or(f.Limit, maxPage))
	var args []any
	condition := s.where(f, "id", &args)
	args = append(args, limit+1)
	rows, err := list(ctx, s, scanChange, `
		SELECT `+changeColumns+`
		FROM desktop_change
		WHERE `+condition+fmt.Sprintf(`
		ORDER BY id DESC
		LIMIT $%d`, len(args)), args...)
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
		if r.change.Group == r.id {
			page[i].Group = "" // it was stored without a group
		}
	}
	return page, next, nil
}

// ChangeGroups implements [desktop.HistoryStore].
func (s *Store) ChangeGroups(ctx context.Context, f desktop.ChangeFilter) (page []desktop.ChangeGroup, next string, err error) {
	limit := min(maxPage, cmp.Or(f.Limit, maxPage))
	var args []any
	condition := s.where(f, "group_id", &args)
	args = append(args, limit+1)
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		ids, err := sqldb.Query(tx, sqldb.Scalar[string], `
			SELECT DISTINCT group_id
			FROM desktop_change
			WHERE `+condition+fmt.Sprintf(`
			ORDER BY group_id DESC
			LIMIT $%d`, len(args)), args...)
		if err != nil || len(ids) == 0 {
			return err
		}
		if len(ids) > limit {
			ids = ids[:limit]
			next = ids[limit-1]
		}
		var members []any
		rows, err := sqldb.Query(tx, scanChange, `
			SELECT `+changeColumns+`
			FROM desktop_change
			WHERE group_id IN `+sqldb.List(&members, ids)+`
			ORDER BY group_id DESC, id`, members...)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if len(page) == 0 || page[len(page)-1].ID != r.change.Group {
				page = append(page, desktop.ChangeGroup{ID: r.change.Group, Cause: r.change.Cause})
			}
			g := &page[len(page)-1]
			g.Changes = append(g.Changes, r.change)
		}
		return nil
	})
	return page, next, err
}

// LastStatuses implements [desktop.HistoryStore].
func (s *Store) LastStatuses(ctx context.Context) ([]desktop.LastStatus, error) {
	return list(ctx, s, func(r sqldb.Row) (v desktop.LastStatus, err error) {
		err = r.Scan(&v.Kind, &v.ID, &v.Part, &v.Status, moment{&v.Since})
		return v, err
	}, `
		SELECT kind, component, part, to_status, changed_at
		FROM desktop_change
		WHERE id IN (SELECT max(id) FROM desktop_change GROUP BY kind, component, part)`)
}

// ForgetChanges implements [desktop.HistoryStore].
func (s *Store) ForgetChanges(ctx context.Context, before time.Time, exists func(desktop.Kind, desktop.ID) bool) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`
			DELETE FROM desktop_change
			WHERE changed_at < $1
			  AND EXISTS (
				SELECT 1
				FROM desktop_change AS later
				WHERE later.kind = desktop_change.kind
				  AND later.component = desktop_change.component
				  AND later.part = desktop_change.part
				  AND later.id > desktop_change.id)`, millis(before))
		if err != nil {
			return err
		}
		old, err := sqldb.Query(tx, func(r sqldb.Row) (ref desktop.Ref, err error) {
			err = r.Scan(&ref.Kind, &ref.ID)
			return ref, err
		}, `SELECT DISTINCT kind, component FROM desktop_change WHERE changed_at < $1`, millis(before))
		if err != nil {
			return err
		}
		_, err = tx.ExecEach(`DELETE FROM desktop_change WHERE kind = $1 AND component = $2 AND changed_at < $3`,
			func(yield func([]any) bool) {
				for _, ref := range old {
					if exists(ref.Kind, ref.ID) {
						continue
					}
					if !yield([]any{ref.Kind, ref.ID, millis(before)}) {
						return
					}
				}
			})
		return err
	})
}
