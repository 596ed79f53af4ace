package store

import (
	"context"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

func viewNotFound() error { return fault.New(fault.NotFound, "the view was not found") }

// Views implements [posture.ViewStore].
func (s *Store) Views(ctx context.Context, org posture.OrgID, user string) (all []posture.View, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		all, err = sqldb.Query(tx, func(row sqldb.Row) (v posture.View, err error) {
			var updated int64
			err = row.Scan(&v.ID, &v.Owner, &v.Shared, &v.Name, &v.Screen, &v.Query, &updated)
			v.Updated = sqldb.Time(updated)
			return v, err
		}, `
			SELECT id, owner, shared, name, screen, query, updated
			FROM saved_view
			WHERE org = $1 AND (owner = $2 OR shared)
			ORDER BY name, id`, org, user)
		return err
	})
	return all, err
}

// SaveView implements [posture.ViewStore].
func (s *Store) SaveView(ctx context.Context, org posture.OrgID, v posture.View) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		n, err := sqldb.QueryOne(tx, sqldb.Scalar[int], `SELECT count(*) FROM saved_view WHERE org = $1 AND owner = $2 AND id <> $3`, org, v.Owner, v.ID)
		if err != nil {
			return err
		}
		if n >= posture.MaxViews {
			return fault.New(fault.Conflict, "you have %d saved views; delete one first", n)
		}
		saved, err := tx.Exec(`
			INSERT INTO saved_view (org, id, owner, shared, name, screen, query, updated)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
			ON CONFLICT (org, id) DO UPDATE
			SET shared = excluded.shared, name = excluded.name, screen = excluded.screen, query = excluded.query, updated = excluded.updated
			WHERE saved_view.owner = excluded.owner`,
			org, v.ID, v.Owner, v.Shared, v.Name, v.Screen, v.Query, sqldb.Millis(v.Updated))
		if err == nil && saved == 0 {
			err = viewNotFound()
		}
		return err
	})
}

// DeleteView implements [posture.ViewStore].
func (s *Store) DeleteView(ctx context.Context, org posture.OrgID, user, id string) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(`DELETE FROM saved_view WHERE org = $1 AND owner = $2 AND id = $3`, org, user, id)
		if err == nil && n == 0 {
			err = viewNotFound()
		}
		return err
	})
}
