// Package store stores the state of the posture server in SQLite or PostgreSQL.
//
// [Store] implements the store interfaces of package posture and of packages that use
// it, such as notify; [Streams] implements posture.StreamStore. Entities are in package entitydb.
// Jobs that follow from a change are enqueued in the transaction of the change: see
// [Jobs]. The suite in storetest runs on both databases.
//
// Both databases use the same SQL; see package sqldb. Secrets are encrypted before they
// reach the database. Each is bound to its cell; see package secret.
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

// Distribute spreads the tables of entities over the nodes of a Citus cluster, in a number
// of shards. It calls report before each table, unless report is nil.
func Distribute(ctx context.Context, db *sqldb.DB, shards int, report func(table string, rows int64)) error {
	return db.Distribute(ctx, entitydb.Distribution(), shards, report)
}

// Migrate migrates the tables of the posture server. Each group of tables has its own
// numbering.
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

// A Sealer encrypts and decrypts values of one cell of the database.
type Sealer interface {
	Seal(ctx context.Context, c secret.Cell, plaintext []byte) ([]byte, error)
	Open(ctx context.Context, c secret.Cell, sealed []byte) ([]byte, error)
}

// Jobs enqueues the jobs that follow from a change, in the transaction of the change.
type Jobs interface {
	// Validate enqueues the validation of an account.
	Validate(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID) error

	// Judge enqueues the evaluation of all rules over an account.
	Judge(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID) error

	// JudgeRule enqueues the evaluation of a changed rule.
	JudgeRule(tx *sqldb.Tx, org posture.OrgID, id posture.RuleID) error

	// Remove enqueues the deletion of the remaining data of a removed account.
	Remove(tx *sqldb.Tx, org posture.OrgID, id posture.AccountID) error

	// Collect enqueues the execution of a run.
	Collect(tx *sqldb.Tx, org posture.OrgID, r posture.Run) error
}

// Store implements the stores of package posture. It embeds the store of entities.
type Store struct {
	*entitydb.Store
	db   *sqldb.DB
	box  Sealer
	jobs Jobs
	now  func() time.Time
}

// New returns a store over a migrated database.
func New(db *sqldb.DB, box Sealer, jobs Jobs) *Store {
	return &Store{Store: entitydb.New(db), db: db, box: box, jobs: jobs, now: time.Now}
}

// At returns the store with another clock, for tests.
func (s *Store) At(now func() time.Time) *Store {
	other := *s
	other.now, other.Store = now, s.Store.At(now)
	return &other
}

// toJSON encodes a value. The values that this package stores can always be encoded.
func toJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("store: encode %T: %v", v, err))
	}
	return string(text)
}

// fromJSON decodes a column that toJSON encoded.
func fromJSON(text string, target any) error {
	if err := json.Unmarshal([]byte(text), target); err != nil {
		return fmt.Errorf("decode a column into %T: %w", target, err)
	}
	return nil
}

// notFoundIfMissing replaces "no row" by a fault.NotFound with a message.
func notFoundIfMissing(err error, format string, args ...any) error {
	if sqldb.Missing(err) {
		return fault.New(fault.NotFound, format, args...)
	}
	return err
}
