// Package install opens an installation: its database, its sealed secrets, who
// may use it, and the record of what they did. Both servers and the commands
// stand on it.
package install

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"vigil/internal/audit"
	"vigil/internal/audit/auditdb"
	"vigil/internal/auth"
	"vigil/internal/auth/authdb"
	"vigil/internal/auth/websession"
	"vigil/internal/config"
	"vigil/internal/job"
	"vigil/internal/secret"
	"vigil/internal/secret/kms"
	"vigil/internal/secret/secretdb"
	"vigil/internal/sqldb"
)

// Installation is an open installation.
type Installation struct {
	Config   config.Config
	DB       *sqldb.DB
	Keyring  *secretdb.Keyring
	Box      *secret.Box
	Auth     *authdb.Store
	Registry *auth.Registry
	Audit    *audit.Log
}

// Open opens the installation that the settings describe, makes what is missing
// and brings its tables up to date.
func Open(ctx context.Context, c config.Config, now func() time.Time) (*Installation, error) {
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	master, err := openMaster(ctx, c.MasterKey)
	if err != nil {
		return nil, err
	}
	db, err := sqldb.Open(ctx, c.Database, sqldb.Options{})
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	i := &Installation{Config: c, DB: db, Keyring: secretdb.NewKeyring(db), Auth: authdb.NewStore(db)}
	if err := i.open(ctx, master, now); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return i, nil
}

func (i *Installation) open(ctx context.Context, master secret.Master, now func() time.Time) (err error) {
	for _, migrate := range []func(context.Context, *sqldb.DB) error{secretdb.Migrate, authdb.Migrate, websession.Migrate, auditdb.Migrate, job.Migrate} {
		if err := migrate(ctx, i.DB); err != nil {
			return fmt.Errorf("bring the tables up to date: %w", err)
		}
	}
	if i.Box, err = secret.NewBox(ctx, i.Keyring, secret.Options{Master: master, Now: now}); err != nil {
		return err
	}
	i.Registry = auth.NewRegistry(i.Auth, now)
	i.Audit, err = audit.Open(ctx, auditdb.NewStore(i.DB), i.Box, now)
	return err
}

// SealedColumns lists what must be resealed when keys are rotated.
func (i *Installation) SealedColumns() []secret.Column {
	var all []secret.Column
	for _, c := range slices.Concat(authdb.SealedColumns(i.DB), auditdb.SealedColumns(i.DB)) {
		all = append(all, c)
	}
	return all
}

// Close closes the installation.
func (i *Installation) Close() error { return i.DB.Close() }

// openMaster finds the master key that a setting names.
func openMaster(ctx context.Context, setting string) (secret.Master, error) {
	kind, rest, _ := strings.Cut(setting, ":")
	switch kind {
	case "file":
		return secret.MasterFromFile(rest, true)
	case "env":
		return secret.MasterFromEnv(rest)
	}
	return kms.Open(ctx, setting, kms.Options{})
}

// Rewrap wraps the keys for stored secrets with the master key of the settings,
// instead of the one that from names.
func Rewrap(ctx context.Context, c config.Config, from string, now func() time.Time) error {
	master, err := openMaster(ctx, c.MasterKey)
	if err != nil {
		return err
	}
	previous, err := openMaster(ctx, from)
	if err != nil {
		return err
	}
	db, err := sqldb.Open(ctx, c.Database, sqldb.Options{})
	if err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	box, err := secret.NewBox(ctx, secretdb.NewKeyring(db), secret.Options{Master: master, Previous: []secret.Master{previous}, Now: now})
	if err == nil {
		err = box.Rewrap(ctx)
	}
	return errors.Join(err, db.Close())
}
