package authdb

import (
	"context"
	"fmt"

	"vigil/internal/auth"
	"vigil/internal/fault"
	"vigil/internal/sqldb"
)

const orgColumns = `o.id, o.name, o.disabled, o.created_at`

func orgFields(o *auth.Org, created *int64) []any {
	return []any{&o.ID, &o.Name, &o.Disabled, created}
}

func scanOrg(r sqldb.Row) (o auth.Org, err error) {
	var created int64
	err = r.Scan(orgFields(&o, &created)...)
	o.CreatedAt = sqldb.Time(created)
	return o, err
}

// CreateOrg implements [auth.Store].
func (s *Store) CreateOrg(ctx context.Context, o auth.Org, first auth.User) error {
	err := s.change(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(`
			INSERT INTO auth_org (id, name, name_key, disabled, created_at)
			VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT DO NOTHING`,
			o.ID, o.Name, nameKey(o.Name), o.Disabled, sqldb.Millis(o.CreatedAt))
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.New(fault.Conflict, "there is already an organisation named %q", o.Name)
		}
		return insertUser(tx, first)
	})
	if err != nil {
		return fmt.Errorf("create organisation: %w", err)
	}
	return nil
}

// Orgs implements [auth.Store].
func (s *Store) Orgs(ctx context.Context) (all []auth.Org, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		all, err = sqldb.Query(tx, scanOrg, `
			SELECT `+orgColumns+`
			FROM auth_org o
			ORDER BY o.name_key`)
		return err
	})
	return all, err
}

// SetOrgDisabled implements [auth.Store].
func (s *Store) SetOrgDisabled(ctx context.Context, id auth.OrgID, disabled bool) error {
	return s.change(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(`UPDATE auth_org SET disabled = $1 WHERE id = $2`, disabled, id)
		if err == nil && n == 0 {
			err = fault.New(fault.NotFound, "there is no such organisation")
		}
		return err
	})
}
