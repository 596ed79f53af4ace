// Package secretdb stores the keyset of package secret in the database. It reseals
// sealed values in columns of the database, with the primary key of the keyset.
package secretdb

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"vigil/internal/fault"
	"vigil/internal/secret"
	"vigil/internal/sqldb"
)

// Table is the name of the table that contains the keyset. If a database has this
// table, it contains an installation.
const Table = "secret_keyset"

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate migrates the tables to the current schema.
func Migrate(ctx context.Context, db *sqldb.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	return db.Migrate(ctx, "secret", files)
}

// Keyring implements [secret.Keyring] and [secret.Bookmarks].
type Keyring struct{ db *sqldb.DB }

// NewKeyring returns the keyring of a database.
func NewKeyring(db *sqldb.DB) *Keyring { return &Keyring{db} }

// Keyset returns the current keyset.
func (k *Keyring) Keyset(ctx context.Context) (w secret.Wrapped, err error) {
	err = k.db.Read(ctx, func(tx *sqldb.Tx) error {
		var rotated int64
		err := tx.QueryRow(`
			SELECT generation, master, keyset, rotated_at
			FROM secret_keyset`).Scan(&w.Generation, &w.Master, &w.Keyset, &rotated)
		w.RotatedAt = sqldb.Time(rotated)
		return err
	})
	if sqldb.Missing(err) {
		return secret.Wrapped{}, fault.New(fault.NotFound, "no keyset exists yet")
	}
	return w, err
}

// Replace stores the next generation of the keyset.
func (k *Keyring) Replace(ctx context.Context, w secret.Wrapped) error {
	if w.Generation == 1 {
		ctx = sqldb.WithoutCommitHook(ctx) // it is created on first use; only an operator replaces it
	}
	return k.db.Write(ctx, func(tx *sqldb.Tx) error {
		statement := `
			UPDATE secret_keyset
			SET generation = $1, master = $2, keyset = $3, rotated_at = $4
			WHERE id = 1
			  AND generation = $1 - 1`
		if w.Generation == 1 {
			statement = `
				INSERT INTO secret_keyset (id, generation, master, keyset, rotated_at)
				VALUES (1, $1, $2, $3, $4)
				ON CONFLICT DO NOTHING`
		}
		n, err := tx.Exec(statement, w.Generation, w.Master, w.Keyset, sqldb.Millis(w.RotatedAt))
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.New(fault.Stale, "generation %d of the keyset is not the next one", w.Generation)
		}
		return nil
	})
}

// Bookmark returns the place from which to resume resealing a column, and whether
// the whole column is resealed. The place is empty if nothing is stored for the
// generation.
func (k *Keyring) Bookmark(ctx context.Context, column string, generation int64) (bookmark string, done bool, err error) {
	err = k.db.Read(ctx, func(tx *sqldb.Tx) error {
		return tx.QueryRow(`
			SELECT place, done
			FROM secret_bookmark
			WHERE column_name = $1
			  AND generation = $2`, column, generation).Scan(&bookmark, &done)
	})
	if sqldb.Missing(err) {
		return "", false, nil
	}
	return bookmark, done, err
}

// SetBookmark stores the place from which to resume resealing a column, and whether
// the whole column is resealed.
func (k *Keyring) SetBookmark(ctx context.Context, column string, generation int64, bookmark string, done bool) error {
	err := k.db.Write(sqldb.WithoutCommitHook(ctx), func(tx *sqldb.Tx) error {
		_, err := tx.Exec(`
			INSERT INTO secret_bookmark (column_name, generation, place, done)
			VALUES ($1, $2, $3, $4)
			ON CONFLICT (column_name) DO UPDATE
			SET generation = excluded.generation, place = excluded.place, done = excluded.done`,
			column, generation, bookmark, done)
		return err
	})
	if err != nil {
		return fmt.Errorf("set bookmark of %s: %w", column, err)
	}
	return nil
}
