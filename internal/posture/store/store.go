// Package store keeps the posture server's state in SQLite or PostgreSQL.
//
// One SQL text serves both; package sqldb says how it is written. Secret values
// are sealed before they reach the database and bound to the place they are
// stored in.
package store

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"time"

	"vigil/internal/fault"
	"vigil/internal/posture"
	"vigil/internal/posture/entitydb"
	"vigil/internal/secret"
	"vigil/internal/sqldb"
)

//go:embed migrations/*.sql
var migrations embed.FS

//go:embed migrations/finding/*.sql
var findingMigrations embed.FS

//go:embed migrations/stream/*.sql
var streamMigrations embed.FS

//go:embed migrations/notify/*.sql
var notifyMigrations embed.FS

// Migrate brings the tables of the posture server up to date. Each group of
// tables is numbered by itself.
func Migrate(ctx context.Context, db *sqldb.DB) error {
	if err := entitydb.Migrate(ctx, db); err != nil {
		return err
	}
	for _, group := range []struct {
		space, dir string
		files      fs.FS
	}{
		{"posture", "migrations", migrations},
		{"posture_finding", "migrations/finding", findingMigrations},
		{"posture_stream", "migrations/stream", streamMigrations},
		{"posture_notify", "migrations/notify", notifyMigrations},
	} {
		files, err := fs.Sub(group.files, group.dir)
		if err != nil {
			return err
		}
		if err := db.Migrate(ctx, group.space, files); err != nil {
			return err
		}
	}
	if err := claimExternalIDs(ctx, db); err != nil {
		return fmt.Errorf("claim external ids: %w", err)
	}
	return nil
}

// A Sealer encrypts values for one cell of the database and opens them there.
type Sealer interface {
	Seal(ctx context.Context, c secret.Cell, plain []byte) ([]byte, error)
	Open(ctx context.Context, c secret.Cell, sealed []byte) ([]byte, error)
}

// Jobs takes the work that a change causes into the transaction of the change.
type Jobs interface {
	// Validate asks for an account's link to be tried.
	Validate(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID) error

	// Judge asks for the rules to be evaluated over an account.
	Judge(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID) error

	// JudgeRule asks for a rule that has changed to be evaluated anew.
	JudgeRule(tx *sqldb.Tx, org posture.OrgID, id posture.RuleID) error

	// Remove asks for the rest of an account that was removed to be removed.
	Remove(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID) error

	// Collect asks for a run that has begun to be worked on.
	Collect(tx *sqldb.Tx, org posture.OrgID, run string) error
}

// Store implements the stores of package posture; that of entities is embedded.
type Store struct {
	*entitydb.Store
	db   *sqldb.DB
	box  Sealer
	jobs Jobs
	now  func() time.Time
}

// New returns a store over a database whose tables are up to date.
func New(db *sqldb.DB, box Sealer, jobs Jobs) *Store {
	return &Store{Store: entitydb.New(db), db: db, box: box, jobs: jobs, now: time.Now}
}

// At returns the store with another clock.
func (s *Store) At(now func() time.Time) *Store {
	other := *s
	other.now, other.Store = now, s.Store.At(now)
	return &other
}

// toJSON encodes a value of our own, which cannot fail.
func toJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("store: encode %T: %v", v, err))
	}
	return string(text)
}

// fromJSON decodes a column that toJSON wrote.
func fromJSON(text string, into any) error {
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return fmt.Errorf("decode a column into %T: %w", into, err)
	}
	return nil
}

// missing turns "no row" into a fault that names what is not there.
func missing(err error, format string, args ...any) error {
	if sqldb.Missing(err) {
		return fault.New(fault.NotFound, format, args...)
	}
	return err
}
