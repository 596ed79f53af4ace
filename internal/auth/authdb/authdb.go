// Package authdb stores organisations, users, API tokens and signing keys in
// the database.
package authdb

import (
	"context"
	"embed"
	"io/fs"
	"strings"
	"time"

	"vigil/internal/auth"
	"vigil/internal/secret/secretdb"
	"vigil/internal/sqldb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate migrates the tables to the current schema.
func Migrate(ctx context.Context, db *sqldb.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	return db.Migrate(ctx, "auth", files)
}

// Store implements [auth.Store] and [auth.KeyStore].
type Store struct{ db *sqldb.DB }

var (
	_ auth.Store    = (*Store)(nil)
	_ auth.KeyStore = (*Store)(nil)
)

// NewStore returns the store of a database.
func NewStore(db *sqldb.DB) *Store { return &Store{db} }

// SealedColumns returns the columns to reseal when master keys are rotated.
func SealedColumns(db *sqldb.DB) []secretdb.Column {
	return []secretdb.Column{{DB: db, Table: auth.SigningKeyTable, Row: "id", Field: "sealed"}}
}

// Generation implements [auth.Store].
func (s *Store) Generation(ctx context.Context) (n int64, err error) {
	err = s.db.Read(ctx, func(tx *sqldb.Tx) error {
		return tx.QueryRow(`SELECT generation FROM auth_generation`).Scan(&n)
	})
	return n, err
}

// change runs fn in a transaction that increments the generation, so that other
// processes invalidate their caches. The update comes first: on PostgreSQL its
// row lock serialises such transactions, so that what fn reads stays valid
// until it writes.
func (s *Store) change(ctx context.Context, fn func(tx *sqldb.Tx) error) error {
	return s.db.Write(ctx, func(tx *sqldb.Tx) error {
		if _, err := tx.Exec(`UPDATE auth_generation SET generation = generation + 1`); err != nil {
			return err
		}
		return fn(tx)
	})
}

// nameKey returns the case-folded name, which must be unique.
func nameKey(name string) string { return strings.ToLower(name) }

// millis and timeOf convert the zero time to NULL and back.
func millis(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return sqldb.Millis(t)
}

func timeOf(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return sqldb.Time(*ms)
}
