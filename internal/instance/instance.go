// Package instance opens an installation: its database, its encrypted secrets,
// its users, and its audit log. Both servers and the commands use it.
package instance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"vigil/internal/audit"
	"vigil/internal/audit/auditdb"
	"vigil/internal/audit/witness"
	"vigil/internal/auth"
	"vigil/internal/auth/authdb"
	"vigil/internal/config"
	"vigil/internal/diskspace"
	"vigil/internal/fault"
	"vigil/internal/secret"
	"vigil/internal/secret/kms"
	"vigil/internal/secret/secretdb"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbcopy"
)

// Installation is an open installation.
type Installation struct {
	Config   config.Config
	DB       *sqldb.DB
	Keyring  *secretdb.Keyring
	Box      *secret.Box
	Auth     *authdb.Store
	Registry *auth.Registry

	Witnesses *audit.Witnesses // of the audit log
	Audit     *audit.Log
	Space     *diskspace.Watch // of the disk that the data folder is on
}

// Init creates the configured installation: data folder, master key and
// database. It fails with fault.Conflict if there is one.
func Init(ctx context.Context, c config.Config, now func() time.Time) error {
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return fmt.Errorf("create the data folder: %w", err)
	}
	db, err := sqldb.Open(ctx, c.Database, sqldb.Options{})
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	exists, err := db.HasTable(ctx, secretdb.Table)
	switch {
	case err != nil:
		return errors.Join(err, db.Close())
	case exists:
		// The key is not created either: a lost key must be restored, and a new one
		// would hide the loss.
		return errors.Join(fault.New(fault.Conflict, "this database already contains an installation"), db.Close())
	}
	master, err := createMaster(ctx, c.MasterKey)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	i, err := openOn(ctx, c, db, secret.Options{Master: master, Now: now})
	if err != nil {
		return err
	}
	return i.Close()
}

// Open opens the configured installation and migrates its tables. It creates
// nothing: a missing folder, key or database is lost or mistyped, and starting
// without it would look like a server that has lost all data.
//
// It also refuses a database that lacks audit records which were written: see
// [audit.Log.KeepCheckpoint].
func Open(ctx context.Context, c config.Config, now func() time.Time) (*Installation, error) {
	return openComplete(ctx, c, now)
}

// OpenForRewrap is Open for an installation whose keyset may still be encrypted with the
// previous master key; from is the setting that names this key. Box.Rewrap then encrypts the
// keyset with the configured master key.
func OpenForRewrap(ctx context.Context, c config.Config, from string, now func() time.Time) (*Installation, error) {
	previous, err := openMaster(ctx, from)
	if err != nil {
		return nil, err
	}
	return openComplete(ctx, c, now, previous)
}

// openComplete opens an installation that lacks no audit records.
func openComplete(ctx context.Context, c config.Config, now func() time.Time, previous ...secret.Master) (*Installation, error) {
	i, err := open(ctx, c, now, previous...)
	if err != nil {
		return nil, err
	}
	err = i.Audit.KeepCheckpoint(ctx, c.Audit.Checkpoint)
	if err == nil {
		err = i.Witnesses.Compare(ctx)
	}
	if errors.Is(err, audit.ErrTruncated) {
		err = fmt.Errorf("%w; run vigil admin audit verify for details, and vigil admin audit accept-loss to continue with the remaining records", err)
	}
	if err != nil {
		return nil, errors.Join(err, i.Close())
	}
	return i, nil
}

// open opens an installation without the check for missing records.
func open(ctx context.Context, c config.Config, now func() time.Time, previous ...secret.Master) (*Installation, error) {
	master, err := openMaster(ctx, c.MasterKey)
	if err != nil {
		return nil, fmt.Errorf("%w; if there is no installation yet, create one with vigil init", err)
	}
	db, err := sqldb.Open(ctx, c.Database, sqldb.Options{MustExist: true})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w; restore it from a backup with vigil admin restore or, if there is no installation yet, create one with vigil init", err)
	}
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	exists, err := db.HasTable(ctx, secretdb.Table)
	if err == nil && !exists {
		err = fault.New(fault.NotFound, "the database contains no installation; restore it from a backup with vigil admin restore or, if there is no installation yet, create one with vigil init")
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return openOn(ctx, c, db, secret.Options{Master: master, Previous: previous, Now: now})
}

// OpenDespiteLoss is Open for an installation whose newest audit records may be
// missing. Its checkpoint file is left as it is.
func OpenDespiteLoss(ctx context.Context, c config.Config, now func() time.Time) (*Installation, error) {
	return open(ctx, c, now)
}

// AcceptLoss records that audit records are missing, so that Open works again. If none are
// missing, it records nothing and returns false. It is for an installation that was opened
// by [OpenDespiteLoss].
func (i *Installation) AcceptLoss(ctx context.Context) (lost bool, err error) {
	published, unreachable := i.Witnesses.Known(ctx)
	lost, err = i.Audit.AcceptLoss(ctx, i.Config.Audit.Checkpoint, published...)
	if err != nil {
		return false, err
	}
	switch {
	case lost:
		// Otherwise the witnesses would report the loss at the next start.
		return true, i.Witnesses.Replace(ctx)
	case unreachable != nil:
		return false, fault.New(fault.Unavailable, "a checkpoint store could not be reached, and may reveal a loss: %v", unreachable)
	}
	return false, nil
}

// RunAudit prunes the audit log and publishes its checkpoints to the witnesses,
// until ctx is done.
func (i *Installation) RunAudit(ctx context.Context, log *slog.Logger) {
	var wait sync.WaitGroup
	defer wait.Wait()
	wait.Go(func() {
		i.Witnesses.Publish(ctx, log, cmp.Or(i.Config.Audit.CheckpointEvery, time.Minute))
	})
	i.Audit.Run(ctx, log, i.AuditRetention())
}

// AuditRetention returns the configured retention of the audit log.
func (i *Installation) AuditRetention() audit.Retention {
	return audit.Retention{Age: i.Config.Audit.Kept, Records: i.Config.Audit.MaxRecords}
}

// OpenOrInit opens the installation, or creates it. It is for the demo,
// benchmarks and tests.
func OpenOrInit(ctx context.Context, c config.Config, now func() time.Time) (*Installation, error) {
	if err := Init(ctx, c, now); err != nil && !fault.Is(err, fault.Conflict) {
		return nil, err
	}
	return Open(ctx, c, now)
}

// openOn opens the installation in a database. It closes the database on
// failure.
func openOn(ctx context.Context, c config.Config, db *sqldb.DB, o secret.Options) (*Installation, error) {
	i := &Installation{Config: c, DB: db, Space: diskspace.New(c.DataDir, c.MinFreeMB<<20), Keyring: secretdb.NewKeyring(db), Auth: authdb.NewStore(db)}
	if err := i.open(ctx, o); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return i, nil
}

func (i *Installation) open(ctx context.Context, o secret.Options) (err error) {
	if err := dbcopy.Adopt(ctx, i.DB); err != nil {
		return err
	}
	if err := MigrateAll(ctx, i.DB); err != nil {
		return err
	}
	if i.Box, err = secret.NewBox(ctx, i.Keyring, o); err != nil {
		return err
	}
	i.Registry = auth.NewRegistry(i.Auth, o.Now)
	i.Registry.TokenLife = i.Config.TokenLife
	host, _ := os.Hostname()
	witnesses, err := witness.New(witness.Options{URL: i.Config.Audit.CheckpointURL, Token: i.Config.Audit.CheckpointToken, Syslog: i.Config.Audit.CheckpointSyslog, Host: host})
	if err != nil {
		return err
	}
	if i.Audit, err = audit.Open(ctx, auditdb.NewStore(i.DB), i.Box, o.Now); err != nil {
		return err
	}
	i.Witnesses = audit.NewWitnesses(i.Audit, witnesses...)
	return nil
}

// SealedColumns returns the columns to reseal when master keys are rotated.
func (i *Installation) SealedColumns() []secret.Column {
	var all []secret.Column
	for _, c := range slices.Concat(authdb.SealedColumns(i.DB), auditdb.SealedColumns(i.DB)) {
		all = append(all, c)
	}
	return all
}

// Close closes the installation.
func (i *Installation) Close() error { return errors.Join(i.Audit.Close(), i.DB.Close()) }

// openMaster opens the configured master key, which must exist.
func openMaster(ctx context.Context, setting string) (secret.Master, error) {
	kind, rest, _ := strings.Cut(setting, ":")
	switch kind {
	case "file":
		const create = false
		return secret.MasterFromFile(rest, create)
	case "env":
		return secret.MasterFromEnv(rest)
	}
	return kms.Open(ctx, setting, kms.Options{})
}

// createMaster is openMaster, but creates the key file if it is missing. A key in the environment or in
// a key management service must exist.
func createMaster(ctx context.Context, setting string) (secret.Master, error) {
	if path, ok := strings.CutPrefix(setting, "file:"); ok {
		const create = true
		return secret.MasterFromFile(path, create)
	}
	return openMaster(ctx, setting)
}
