package store

import (
	"context"

	"vigil/internal/secret"
	"vigil/internal/sqldb"
)

// Entry returns a secret of the vault, which inventories refer to as
// "vault:<name>".
func (s *Store) Entry(ctx context.Context, name string) (string, error) {
	sealed, err := one(ctx, s, "entry in the vault", sqldb.Scalar[[]byte], `SELECT sealed FROM desktop_vault WHERE id = $1`, name)
	if err != nil {
		return "", err
	}
	plaintext, err := s.box.Open(ctx, cell(vaultTable, name), sealed)
	return string(plaintext), err
}

// SetEntry stores or replaces a secret in the vault.
func (s *Store) SetEntry(ctx context.Context, name string, value secret.Text) error {
	sealed, err := s.box.Seal(ctx, cell(vaultTable, name), []byte(value.Reveal()))
	if err != nil {
		return err
	}
	_, err = s.change(ctx, `
		INSERT INTO desktop_vault (id, sealed, updated_at)
		VALUES ($1, $2, $3)
		ON CONFLICT (id) DO UPDATE
		SET sealed = excluded.sealed, updated_at = excluded.updated_at`, name, sealed, millis(s.now()))
	return err
}

// Entries returns the names of the secrets in the vault.
func (s *Store) Entries(ctx context.Context) ([]string, error) {
	return list(ctx, s, sqldb.Scalar[string], `SELECT id FROM desktop_vault ORDER BY id`)
}

// DeleteEntry deletes a secret of the vault.
func (s *Store) DeleteEntry(ctx context.Context, name string) error {
	n, err := s.change(ctx, `DELETE FROM desktop_vault WHERE id = $1`, name)
	return requireChanged(n, err, "entry in the vault")
}
