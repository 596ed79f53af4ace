package authdb

import (
	"context"
	"fmt"
	"time"

	"vigil/internal/auth"
	"vigil/internal/fault"
	"vigil/internal/sqldb"
)

const userColumns = `u.id, u.org_id, u.name, u.email, u.role, u.disabled, u.version, u.created_at, u.updated_at, u.issuer, u.subject, u.accounts, u.account_tags`

// userRow holds the columns of a user that need conversion after Scan.
type userRow struct {
	user             auth.User
	role             string
	created, updated int64
}

func (w *userRow) fields() []any {
	u := &w.user
	return []any{&u.ID, &u.Org, &u.Name, &u.Email, &w.role, &u.Disabled, &u.Version, &w.created, &w.updated, &u.Issuer, &u.Subject, &u.Accounts.IDs, &u.Accounts.Tags}
}

func (w *userRow) value() (auth.User, error) {
	u := w.user
	role, err := auth.ParseRole(w.role)
	u.Role, u.CreatedAt, u.UpdatedAt = role, sqldb.Time(w.created), sqldb.Time(w.updated)
	return u, err
}

func scanUser(r sqldb.Row) (auth.User, error) {
	var w userRow
	if err := r.Scan(w.fields()...); err != nil {
		return auth.User{}, err
	}
	return w.value()
}

// seenColumns are the columns of a user and when one of its tokens was last used.
// Sessions of browsers have tokens too.
const seenColumns = userColumns + `, (SELECT MAX(t.last_used_at) FROM auth_token t WHERE t.user_id = u.id)`

func scanSeenUser(r sqldb.Row) (auth.User, error) {
	var w userRow
	var seen *int64
	if err := r.Scan(append(w.fields(), &seen)...); err != nil {
		return auth.User{}, err
	}
	u, err := w.value()
	u.LastSeenAt = timeOf(seen)
	return u, err
}

func noUser() error { return fault.New(fault.NotFound, "the user was not found") }

func insertUser(tx *sqldb.Tx, u auth.User) error {
	n, err := tx.Exec(`
		INSERT INTO auth_user (id, org_id, name, name_key, email, role, disabled, version, created_at, updated_at, issuer, subject, accounts, account_tags)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
		ON CONFLICT DO NOTHING`,
		u.ID, u.Org, u.Name, nameKey(u.Name), u.Email, u.Role.String(), u.Disabled, u.Version,
		sqldb.Millis(u.CreatedAt), sqldb.Millis(u.UpdatedAt), u.Issuer, u.Subject, u.Accounts.IDs, u.Accounts.Tags)
	if err == nil && n == 0 {
		err = nameTaken(u.Name)
	}
	return err
}

func nameTaken(name string) error {
	return fault.New(fault.Conflict, "there is already a user named %q", name)
}

// CreateUser implements [auth.Store].
func (s *Store) CreateUser(ctx context.Context, u auth.User) error {
	if err := s.change(ctx, func(tx *sqldb.Tx) error { return insertUser(tx, u) }); err != nil {
		return fmt.Errorf("create user: %w", err)
	}
	return nil
}

// Users implements [auth.Store].
func (s *Store) Users(ctx context.Context, org auth.OrgID) (all []auth.User, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		all, err = sqldb.Query(tx, scanSeenUser, `
			SELECT `+seenColumns+`
			FROM auth_user u
			WHERE u.org_id = $1
			ORDER BY u.name_key`, org)
		return err
	})
	return all, err
}

// User implements [auth.Store].
func (s *Store) User(ctx context.Context, org auth.OrgID, id auth.UserID) (u auth.User, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		u, err = readUser(tx, org, id)
		return err
	})
	return u, err
}

func readUser(tx *sqldb.Tx, org auth.OrgID, id auth.UserID) (auth.User, error) {
	u, err := sqldb.QueryOne(tx, scanSeenUser, `
		SELECT `+seenColumns+`
		FROM auth_user u
		WHERE u.org_id = $1
		  AND u.id = $2`, org, id)
	if sqldb.Missing(err) {
		err = noUser()
	}
	return u, err
}

// UserBySubject implements [auth.Store].
func (s *Store) UserBySubject(ctx context.Context, org auth.OrgID, issuer, subject string) (u auth.User, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		u, err = sqldb.QueryOne(tx, scanUser, `
			SELECT `+userColumns+`
			FROM auth_user u
			WHERE u.org_id = $1
			  AND u.issuer = $2
			  AND u.subject = $3
			  AND u.subject <> ''`, org, issuer, subject)
		if sqldb.Missing(err) {
			err = noUser()
		}
		return err
	})
	return u, err
}

// ReplaceUser implements [auth.Store].
func (s *Store) ReplaceUser(ctx context.Context, u auth.User) error {
	err := s.change(ctx, func(tx *sqldb.Tx) error {
		if _, err := readVersion(tx, u.Org, u.ID, u.Version-1); err != nil {
			return err
		}
		before, err := adminsWithToken(tx, u.Org)
		if err != nil {
			return err
		}
		rivals, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `
			SELECT count(*)
			FROM auth_user
			WHERE org_id = $1
			  AND name_key = $2
			  AND id <> $3`, u.Org, nameKey(u.Name), u.ID)
		if err != nil {
			return err
		}
		if rivals > 0 {
			return nameTaken(u.Name)
		}
		_, err = tx.Exec(`
			UPDATE auth_user
			SET name = $1, name_key = $2, email = $3, role = $4, disabled = $5, version = $6, updated_at = $7, accounts = $8, account_tags = $9
			WHERE org_id = $10
			  AND id = $11`,
			u.Name, nameKey(u.Name), u.Email, u.Role.String(), u.Disabled, u.Version, sqldb.Millis(u.UpdatedAt), u.Accounts.IDs, u.Accounts.Tags, u.Org, u.ID)
		if err != nil {
			return err
		}
		return keepAdmin(tx, u.Org, before)
	})
	if err != nil {
		return fmt.Errorf("change user: %w", err)
	}
	return nil
}

// DeleteUser implements [auth.Store].
func (s *Store) DeleteUser(ctx context.Context, org auth.OrgID, id auth.UserID, version int64) (u auth.User, err error) {
	err = s.change(ctx, func(tx *sqldb.Tx) error {
		if u, err = readVersion(tx, org, id, version); err != nil {
			return err
		}
		before, err := adminsWithToken(tx, org)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(`DELETE FROM auth_user WHERE org_id = $1 AND id = $2`, org, id); err != nil {
			return err
		}
		return keepAdmin(tx, org, before)
	})
	if err != nil {
		return auth.User{}, fmt.Errorf("remove user: %w", err)
	}
	return u, nil
}

// readVersion reads a user. It fails with fault.Stale unless version is 0 or
// the current version.
func readVersion(tx *sqldb.Tx, org auth.OrgID, id auth.UserID, version int64) (auth.User, error) {
	u, err := readUser(tx, org, id)
	if err == nil && version != 0 && u.Version != version {
		err = fault.New(fault.Stale, "the user has changed since it was read; read it again")
	}
	return u, err
}

// adminsWithToken counts the admins who can log in: enabled, with an API token
// that is valid now, grants the role, and is not limited to scopes without
// administration.
func adminsWithToken(tx *sqldb.Tx, org auth.OrgID) (int64, error) {
	return sqldb.QueryOne(tx, sqldb.Scalar[int64], `
		SELECT count(DISTINCT u.id)
		FROM auth_user u
		JOIN auth_token t ON t.user_id = u.id
		WHERE u.org_id = $1
		  AND u.role = $2
		  AND NOT u.disabled
		  AND t.role = $2
		  AND t.revoked_at IS NULL
		  AND NOT t.sign_on
		  AND (t.scopes = '' OR t.scopes LIKE '%administration%')
		  AND (t.expires_at IS NULL OR t.expires_at > $3)`, org, auth.Admin.String(), sqldb.Millis(time.Now()))
}

// keepAdmin returns an error if a change leaves the organisation without an enabled
// admin, or without an admin who can log in. The parameter before is the number that
// adminsWithToken returned before the change: if it is 0, no admin could log in before
// either, and only the first condition is checked.
func keepAdmin(tx *sqldb.Tx, org auth.OrgID, before int64) error {
	after, err := adminsWithToken(tx, org)
	if err != nil {
		return err
	}
	if before > 0 && after == 0 {
		return fault.New(fault.Conflict, "no admin could log in any more; first create an API token with the role admin for another admin")
	}
	n, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `
		SELECT count(*)
		FROM auth_user
		WHERE org_id = $1
		  AND role = $2
		  AND NOT disabled`, org, auth.Admin.String())
	if err == nil && n == 0 {
		err = fault.New(fault.Conflict, "the last admin of the organisation must stay one")
	}
	return err
}
