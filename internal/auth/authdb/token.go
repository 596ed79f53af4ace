package authdb

import (
	"context"
	"fmt"
	"time"

	"vigil/internal/auth"
	"vigil/internal/fault"
	"vigil/internal/sqldb"
	"vigil/internal/subnet"
)

const tokenColumns = `t.id, t.org_id, t.user_id, t.name, t.hint, t.role, t.created_by, t.created_at,
	t.expires_at, t.revoked_at, t.last_used_at, t.last_address, t.scopes, t.addresses, t.sign_on, t.accounts, t.account_tags`

// tokenRow holds the columns of a token that need conversion after Scan.
type tokenRow struct {
	token                     auth.Token
	role                      string
	created                   int64
	expires, revoked, lastUse *int64
}

func (w *tokenRow) fields() []any {
	t := &w.token
	return []any{&t.ID, &t.Org, &t.User, &t.Name, &t.Hint, &w.role, &t.CreatedBy, &w.created,
		&w.expires, &w.revoked, &w.lastUse, &t.LastAddress, &t.Limits.Scopes, &t.Limits.Addresses, &t.SignOn, &t.Accounts.IDs, &t.Accounts.Tags}
}

func (w *tokenRow) value() (auth.Token, error) {
	t := w.token
	role, err := auth.ParseRole(w.role)
	t.Role, t.CreatedAt = role, sqldb.Time(w.created)
	t.ExpiresAt, t.RevokedAt, t.LastUsedAt = timeOf(w.expires), timeOf(w.revoked), timeOf(w.lastUse)
	return t, err
}

func scanToken(r sqldb.Row) (auth.Token, error) {
	var w tokenRow
	if err := r.Scan(w.fields()...); err != nil {
		return auth.Token{}, err
	}
	return w.value()
}

// CreateToken implements [auth.Store].
func (s *Store) CreateToken(ctx context.Context, t auth.Token, h auth.TokenHash) error {
	err := s.change(ctx, func(tx *sqldb.Tx) error {
		if _, err := readUser(tx, t.Org, t.User); err != nil {
			return err
		}
		// Each single sign-on creates a token: delete the user's earlier ones that are not valid any more.
		if t.SignOn {
			_, err := tx.Exec(`
				DELETE FROM auth_token
				WHERE user_id = $1
				  AND sign_on
				  AND (expires_at < $2 OR revoked_at IS NOT NULL)`, t.User, sqldb.Millis(t.CreatedAt))
			if err != nil {
				return err
			}
		}
		return insertToken(tx, t, h)
	})
	if err != nil {
		return fmt.Errorf("create API token: %w", err)
	}
	return nil
}

// insertToken inserts the row of a token.
func insertToken(tx *sqldb.Tx, t auth.Token, h auth.TokenHash) error {
	_, err := tx.Exec(`
		INSERT INTO auth_token (id, org_id, user_id, hash, hint, name, role, created_by, created_at, expires_at, scopes, addresses, sign_on, accounts, account_tags)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		t.ID, t.Org, t.User, h[:], t.Hint, t.Name, t.Role.String(), t.CreatedBy, sqldb.Millis(t.CreatedAt), millis(t.ExpiresAt),
		t.Limits.Scopes, t.Limits.Addresses, t.SignOn, t.Accounts.IDs, t.Accounts.Tags)
	return err
}

// Tokens implements [auth.Store].
func (s *Store) Tokens(ctx context.Context, org auth.OrgID) (all []auth.Token, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		all, err = sqldb.Query(tx, scanToken, `
			SELECT `+tokenColumns+`
			FROM auth_token t
			WHERE t.org_id = $1
			  AND t.revoked_at IS NULL
			  AND NOT t.sign_on
			ORDER BY t.created_at DESC, t.id`, org)
		return err
	})
	return all, err
}

// RevokeToken implements [auth.Store].
func (s *Store) RevokeToken(ctx context.Context, org auth.OrgID, id auth.TokenID, at time.Time) (t auth.Token, err error) {
	err = s.change(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(`
			UPDATE auth_token
			SET revoked_at = $1
			WHERE org_id = $2
			  AND id = $3
			  AND revoked_at IS NULL`, sqldb.Millis(at), org, id)
		if err != nil {
			return err
		}
		if n == 0 {
			return noToken()
		}
		t, err = sqldb.QueryOne(tx, scanToken, `SELECT `+tokenColumns+` FROM auth_token t WHERE t.id = $1`, id)
		return err
	})
	if err != nil {
		return auth.Token{}, fmt.Errorf("revoke API token: %w", err)
	}
	return t, nil
}

// RevokeSignOns implements [auth.Store].
func (s *Store) RevokeSignOns(ctx context.Context, issuer, subject string, keep auth.OrgID, at time.Time) error {
	err := s.change(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`
			UPDATE auth_token
			SET revoked_at = $1
			WHERE sign_on
			  AND revoked_at IS NULL
			  AND user_id IN (SELECT id FROM auth_user WHERE issuer = $2 AND subject = $3 AND org_id <> $4)`,
			sqldb.Millis(at), issuer, subject, keep)
		return err
	})
	if err != nil {
		return fmt.Errorf("revoke sessions of single sign-on: %w", err)
	}
	return nil
}

func noToken() error { return fault.New(fault.NotFound, "the API token was not found") }

// TokenState implements [auth.Store].
func (s *Store) TokenState(ctx context.Context, id auth.TokenID) (auth.TokenState, error) {
	return s.state(ctx, `t.id = $1`, id)
}

// TokenStateByHash implements [auth.Store].
func (s *Store) TokenStateByHash(ctx context.Context, h auth.TokenHash) (auth.TokenState, error) {
	return s.state(ctx, `t.hash = $1`, h[:])
}

func (s *Store) state(ctx context.Context, where string, arg any) (got auth.TokenState, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		got, err = sqldb.QueryOne(tx, scanTokenState, `
			SELECT `+orgColumns+`, `+userColumns+`, `+tokenColumns+`
			FROM auth_token t
			JOIN auth_user u ON u.id = t.user_id
			JOIN auth_org o ON o.id = u.org_id
			WHERE `+where, arg)
		if sqldb.Missing(err) {
			err = noToken()
		}
		return err
	})
	return got, err
}

func scanTokenState(r sqldb.Row) (s auth.TokenState, err error) {
	var (
		created int64
		user    userRow
		token   tokenRow
	)
	fields := append(orgFields(&s.Org, &created), user.fields()...)
	if err = r.Scan(append(fields, token.fields()...)...); err != nil {
		return s, err
	}
	s.Org.CreatedAt = sqldb.Time(created)
	if s.User, err = user.value(); err != nil {
		return s, err
	}
	s.Token, err = token.value()
	return s, err
}

// Used implements [auth.Store].
func (s *Store) Used(ctx context.Context, uses []auth.Use) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		_, err := tx.ExecEach(`
			UPDATE auth_token
			SET last_used_at = $1, last_address = $2
			WHERE id = $3
			  AND (last_used_at IS NULL OR last_used_at < $1)`, func(yield func([]any) bool) {
			for _, u := range uses {
				if !yield([]any{sqldb.Millis(u.At), u.Address, string(u.Token)}) {
					return
				}
			}
		})
		return err
	})
}

// TokenNetworks implements [auth.Store].
func (s *Store) TokenNetworks(ctx context.Context) (all []auth.LoginNetwork, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		all, err = sqldb.Query(tx, scanLoginNetwork, `
			SELECT t.hash, t.last_address
			FROM auth_token t
			WHERE t.revoked_at IS NULL
			  AND NOT t.sign_on
			  AND t.last_used_at IS NOT NULL
			ORDER BY t.last_used_at DESC
			LIMIT $1`, auth.MaxLoginNetworks)
		return err
	})
	return all, err
}

func scanLoginNetwork(r sqldb.Row) (auth.LoginNetwork, error) {
	var hash []byte
	var address string
	err := r.Scan(&hash, &address)
	return auth.LoginNetwork{Account: string(hash), Network: subnet.Of(address)}, err
}
