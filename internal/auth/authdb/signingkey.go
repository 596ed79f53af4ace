package authdb

import (
	"context"
	"fmt"

	"vigil/internal/auth"
	"vigil/internal/fault"
	"vigil/internal/sqldb"
)

// SigningKeys implements [auth.KeyStore].
func (s *Store) SigningKeys(ctx context.Context, realm string) (keys []auth.SigningKey, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		keys, err = sqldb.Query(tx, scanSigningKey, `
			SELECT realm, number, id, public, sealed, created_at, active_at
			FROM auth_signing_key
			WHERE realm = $1
			ORDER BY number`, realm)
		return err
	})
	return keys, err
}

func scanSigningKey(r sqldb.Row) (k auth.SigningKey, err error) {
	var created, active int64
	err = r.Scan(&k.Realm, &k.Number, &k.ID, &k.Public, &k.Sealed, &created, &active)
	k.CreatedAt, k.ActiveAt = sqldb.Time(created), sqldb.Time(active)
	return k, err
}

// AddSigningKey implements [auth.KeyStore]. It calls no commit hook for a key that
// nobody requested, because such a key is not the change that a request makes.
func (s *Store) AddSigningKey(ctx context.Context, k auth.SigningKey, requested bool) error {
	if !requested {
		ctx = sqldb.WithoutCommitHook(ctx)
	}
	err := s.db.Write(ctx, func(tx *sqldb.Tx) error {
		n, err := tx.Exec(`
			INSERT INTO auth_signing_key (realm, number, id, public, sealed, created_at, active_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7)
			ON CONFLICT DO NOTHING`,
			k.Realm, k.Number, k.ID, k.Public, k.Sealed, sqldb.Millis(k.CreatedAt), sqldb.Millis(k.ActiveAt))
		if err == nil && n == 0 {
			err = fault.New(fault.Stale, "signing key %d of %s already exists", k.Number, k.Realm)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("add signing key: %w", err)
	}
	return nil
}

// DropSigningKeys implements [auth.KeyStore]. It calls no commit hook.
func (s *Store) DropSigningKeys(ctx context.Context, realm string, below int64) error {
	return s.db.Write(sqldb.WithoutCommitHook(ctx), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`DELETE FROM auth_signing_key WHERE realm = $1 AND number < $2`, realm, below)
		return err
	})
}
