package instance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vigil/internal/audit/auditdb"
	"vigil/internal/auth/authdb"
	"vigil/internal/auth/websession"
	"vigil/internal/config"
	"vigil/internal/fault"
	"vigil/internal/idempotency"
	"vigil/internal/job"
	"vigil/internal/secret/secretdb"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbcopy"
)

// MigrateAll migrates the tables that both servers use.
func MigrateAll(ctx context.Context, db *sqldb.DB) error {
	for _, migrate := range migrations {
		if err := migrate(ctx, db); err != nil {
			return fmt.Errorf("migrate the tables: %w", err)
		}
	}
	return nil
}

// A Migrate migrates tables to their current schema.
type Migrate = func(context.Context, *sqldb.DB) error

// migrations are those of the tables that both servers use.
var migrations = []Migrate{secretdb.Migrate, authdb.Migrate, websession.Migrate, auditdb.Migrate, job.Migrate, idempotency.Migrate}

// CheckMaster returns an error if the configured master key cannot be used. It
// does not create one.
func CheckMaster(ctx context.Context, c config.Config) error {
	_, err := openMaster(ctx, c.MasterKey)
	return err
}

// CheckDatabase checks the configured database without changing it, and returns
// when the newest migration was applied. It fails with fs.ErrNotExist without a
// database file, with fault.NotFound without an installation, and with
// sqldb.ErrPending when migrations are pending. The caller passes the migrations of its
// own tables as more.
func CheckDatabase(ctx context.Context, c config.Config, more ...Migrate) (changed time.Time, err error) {
	db, err := sqldb.Open(ctx, c.Database, sqldb.Options{MustExist: true, ReadOnly: true})
	if err != nil {
		return changed, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	exists, err := db.HasTable(ctx, secretdb.Table)
	if err != nil {
		return changed, err
	}
	if !exists {
		return changed, fault.New(fault.NotFound, "the database contains no installation")
	}
	if err := dbcopy.Check(ctx, db); err != nil {
		return changed, err
	}
	err = db.Read(ctx, func(tx *sqldb.Tx) error {
		millis, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT max(applied_at) FROM schema_migration`)
		changed = sqldb.Time(millis)
		return err
	})
	// The database is opened read-only, so these fail if they have anything to do.
	for _, migrate := range append(migrations[:len(migrations):len(migrations)], more...) {
		if err == nil {
			err = migrate(ctx, db)
		}
	}
	return changed, err
}
