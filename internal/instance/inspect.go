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

// MigrateAll brings the tables up to date that both servers stand on.
func MigrateAll(ctx context.Context, db *sqldb.DB) error {
	for _, migrate := range migrations {
		if err := migrate(ctx, db); err != nil {
			return fmt.Errorf("bring the tables up to date: %w", err)
		}
	}
	return nil
}

// A Migrate brings tables up to date.
type Migrate = func(context.Context, *sqldb.DB) error

// migrations are those of the tables that both servers stand on.
var migrations = []Migrate{secretdb.Migrate, authdb.Migrate, websession.Migrate, auditdb.Migrate, job.Migrate, idempotency.Migrate}

// CheckMaster reports what is wrong with the master key of the settings. It makes
// none.
func CheckMaster(ctx context.Context, c config.Config) error {
	_, err := openMaster(ctx, c.MasterKey, false)
	return err
}

// CheckDatabase looks at the database of the settings and changes nothing. It
// returns when the newest change of tables was applied. The error is
// fs.ErrNotExist without a database file, fault.NotFound without an installation,
// and sqldb.ErrPending when the tables, or those of more, are not up to date.
func CheckDatabase(ctx context.Context, c config.Config, more ...Migrate) (changed time.Time, err error) {
	db, err := sqldb.Open(ctx, c.Database, sqldb.Options{MustExist: true, ReadOnly: true})
	if err != nil {
		return changed, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	there, err := db.HasTable(ctx, secretdb.Table)
	if err != nil {
		return changed, err
	}
	if !there {
		return changed, fault.New(fault.NotFound, "the database has no installation in it")
	}
	if err := dbcopy.Check(ctx, db); err != nil {
		return changed, err
	}
	err = db.Read(ctx, func(tx *sqldb.Tx) error {
		at, err := sqldb.QueryOne(tx, sqldb.Scalar[int64], `SELECT max(applied_at) FROM schema_migration`)
		changed = sqldb.Time(at)
		return err
	})
	for _, migrate := range append(migrations[:len(migrations):len(migrations)], more...) {
		if err == nil {
			err = migrate(ctx, db)
		}
	}
	return changed, err
}
