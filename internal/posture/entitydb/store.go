// Package entitydb stores the entities of accounts in SQLite or PostgreSQL and finds
// them with an inverted index. docs/entity-storage.md describes the layout, the cost of
// reads and writes, and the guarantees.
//
// The tables refer to the table "account" of package store: entities are written
// only while their account exists.
package entitydb

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate migrates the schema, and rebuilds the token index if its format has changed.
func Migrate(ctx context.Context, db *sqldb.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	if err := db.Migrate(ctx, "posture_entity", files); err != nil {
		return err
	}
	return reindex(ctx, db)
}

// Store implements [posture.EntityStore], [posture.PartitionStore] and
// [collect.Recorder].
type Store struct {
	db  *sqldb.DB
	now func() time.Time
	ids *idCache
}

// New returns a store over a migrated database.
func New(db *sqldb.DB) *Store {
	return &Store{db: db, now: time.Now, ids: newIDCache()}
}

// At returns the store with another clock, for tests.
func (s *Store) At(now func() time.Time) *Store {
	other := *s
	other.now = now
	return &other
}

// ChangedSince reports whether an entity of the account changed after a time, given
// in milliseconds.
func ChangedSince(tx *sqldb.Tx, ref posture.AccountRef, at int64) (bool, error) {
	p, err := findPartition(tx, ref.Org, ref.Account)
	if sqldb.Missing(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	// Row ids and id hashes both begin with the account number.
	rows := accountSpan(p.accountNo)
	args := []any{rows.from, rows.to, at}
	where := inAccount(tx, &args, p.accountNo)
	return sqldb.QueryOne(tx, sqldb.Scalar[bool], `
		SELECT EXISTS (SELECT 1 FROM entity WHERE row_id BETWEEN $1 AND $2 AND updated > $3`+where+`)
			OR EXISTS (SELECT 1 FROM entity_change WHERE id_hash BETWEEN $1 AND $2 AND at > $3`+where+`)`, args...)
}

// noAccount replaces "no row" by a fault that names the account.
func noAccount(err error, account posture.AccountID) error {
	if sqldb.Missing(err) {
		return fault.New(fault.NotFound, "cloud account %q was not found", account)
	}
	return err
}

// fromJSON decodes a column that was encoded as JSON.
func fromJSON(text []byte, target any) error {
	if err := json.Unmarshal(text, target); err != nil {
		return fmt.Errorf("decode a column into %T: %w", target, err)
	}
	return nil
}
