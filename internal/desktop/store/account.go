package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/fault"
	"vigil/internal/secret"
	"vigil/internal/sqldb"
)

// AccountCell returns the database cell of an instant clone account's password.
// The password passed to AddAccount must be sealed for this cell.
func AccountCell(id desktop.ID) secret.Cell { return cell(accountTable, string(id)) }

const accountColumns = `id, domain_sid, username, created_at, updated_at`

func scanAccount(r sqldb.Row) (a desktop.InstantCloneAccount, err error) {
	err = r.Scan(&a.ID, &a.DomainSID, &a.Username, moment{&a.CreatedAt}, moment{&a.UpdatedAt})
	return a, err
}

// Accounts implements [desktop.AccountStore].
func (s *Store) Accounts(ctx context.Context) ([]desktop.InstantCloneAccount, error) {
	return list(ctx, s, scanAccount, `
		SELECT `+accountColumns+`
		FROM desktop_clone_account
		ORDER BY id`)
}

// Account implements [desktop.AccountStore].
func (s *Store) Account(ctx context.Context, id desktop.ID) (desktop.InstantCloneAccount, error) {
	return one(ctx, s, "account", scanAccount, `
		SELECT `+accountColumns+`
		FROM desktop_clone_account
		WHERE id = $1`, id)
}

// AddAccount implements [desktop.AccountStore].
func (s *Store) AddAccount(ctx context.Context, a desktop.InstantCloneAccount, sealed []byte) error {
	_, err := s.change(ctx, `
		INSERT INTO desktop_clone_account (id, domain_sid, username, username_key, sealed, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		a.ID, a.DomainSID, a.Username, strings.ToLower(a.Username), sealed, millis(a.CreatedAt), millis(a.UpdatedAt))
	if errors.Is(err, sqldb.ErrUnique) {
		return fault.New(fault.Conflict, "the domain already has an account with this name")
	}
	return err
}

// ChangePassword implements [desktop.AccountStore].
func (s *Store) ChangePassword(ctx context.Context, id desktop.ID, sealed []byte, at time.Time) error {
	n, err := s.change(ctx, `
		UPDATE desktop_clone_account
		SET sealed = $2, updated_at = $3
		WHERE id = $1`, id, sealed, millis(at))
	return requireChanged(n, err, "account")
}

// SealedPassword implements [desktop.AccountStore].
func (s *Store) SealedPassword(ctx context.Context, id desktop.ID) ([]byte, error) {
	return one(ctx, s, "account", sqldb.Scalar[[]byte], `
		SELECT sealed
		FROM desktop_clone_account
		WHERE id = $1`, id)
}

// RemoveAccount implements [desktop.AccountStore].
func (s *Store) RemoveAccount(ctx context.Context, id desktop.ID) error {
	n, err := s.change(ctx, `DELETE FROM desktop_clone_account WHERE id = $1`, id)
	return requireChanged(n, err, "account")
}
