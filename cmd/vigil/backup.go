package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"vigil/internal/config"
	"vigil/internal/fault"
	"vigil/internal/instance"
	"vigil/internal/sqldb"
)

type backupCmd struct {
	settingsFlags
	File string `arg:"" type:"path" help:"File to write; it must not exist."`
}

// Run implements the command.
func (c *backupCmd) Run(e *environment) error {
	return c.operate(e, "backup", func(in *operation) error {
		in.target("file", c.File)
		if err := in.DB.Backup(in.ctx, c.File); err != nil {
			return err
		}
		fmt.Fprintln(e.stdout, "backup written; its secrets are encrypted: keep the master key, and keep it separately from the backup")
		return nil
	})
}

type verifyCmd struct {
	settingsFlags
	File string `arg:"" type:"existingfile" help:"Backup to check."`
}

// Run implements the command.
func (c *verifyCmd) Run(e *environment) error {
	conf, err := c.effective()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(conf.DataDir, "verify-")
	if err != nil {
		return err
	}
	return errors.Join(verifyBackup(e, conf, c.File, filepath.Join(dir, "copy.db")), os.RemoveAll(dir))
}

// verifyBackup copies a backup, and checks with the copy that a server can use it: the
// file is intact, its tables can be migrated to this version, the master key decrypts its
// secrets, and its audit log is complete.
func verifyBackup(e *environment, conf config.Config, backup, target string) error {
	if err := copyFile(target, backup); err != nil {
		return err
	}
	conf.Database = "sqlite:" + target
	db, err := sqldb.Open(e.ctx, conf.Database, sqldb.Options{MustExist: true})
	if err == nil {
		err = errors.Join(db.IntegrityCheck(e.ctx), db.Close())
	}
	if err != nil {
		return fmt.Errorf("%s is damaged or not a backup: %w", backup, err)
	}
	in, err := instance.OpenDespiteLoss(e.ctx, conf, time.Now)
	if err != nil {
		return fmt.Errorf("%s cannot be used: %w", backup, err)
	}
	return errors.Join(describeBackup(e, in), in.Close())
}

// describeBackup checks an opened copy of a backup and prints what it holds.
func describeBackup(e *environment, in *instance.Installation) error {
	if err := migrateServers(e.ctx, in.DB); err != nil {
		return err
	}
	report, err := in.Audit.Verify(e.ctx)
	if err != nil {
		return err
	}
	if b := report.Broken; b != nil {
		return fault.New(fault.Conflict, "the audit log of the backup is broken at record %d: %s", b.Number, b.Problem)
	}
	tables, err := in.DB.Tables(e.ctx)
	if err != nil {
		return err
	}
	var rows int64
	for _, t := range tables {
		rows += t.Rows
	}
	records := "no audit records"
	if report.Records > 0 {
		records = fmt.Sprintf("audit records %d to %d", report.First, report.Last)
	}
	fmt.Fprintf(e.stdout, "the backup is intact: %d rows in %d tables, %s\n", rows, len(tables), records)
	return nil
}

type restoreCmd struct {
	settingsFlags
	File string `arg:"" type:"existingfile" help:"Backup to restore."`
}

// Run implements the command. The database is replaced only after the backup was checked.
func (c *restoreCmd) Run(e *environment) error {
	conf, err := c.effective()
	if err != nil {
		return err
	}
	database, ok := sqldb.SQLiteFile(conf.Database)
	if !ok {
		return fault.New(fault.Invalid, "only a SQLite database can be restored: restore PostgreSQL with pg_restore, or copy the backup to an empty database with vigil admin store copy --from sqlite:%s", c.File)
	}
	if err := requireNoServer(e.ctx, conf, database); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(database), "restore-") // on the disk of the database
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	prepared := filepath.Join(dir, "copy.db")
	if err := verifyBackup(e, conf, c.File, prepared); err != nil {
		return err
	}
	kept := database + ".replaced-" + time.Now().UTC().Format("20060102T150405Z")
	if err := replaceDatabase(database, prepared, kept); err != nil {
		return err
	}
	return c.despiteLoss(e, func(in *instance.Installation) error {
		if _, err := in.AcceptLoss(e.ctx); err != nil {
			return err
		}
		return recorded(e.ctx, in, "restore", func(o *operation) error {
			o.target("file", c.File)
			fmt.Fprintf(e.stdout, "the database is restored, and the servers can start; the replaced one is %s\n", kept)
			return nil
		})
	})
}

// requireNoServer fails if a server uses the SQLite database. It accepts a missing or damaged database that nothing has open,
// because no server can start with that.
func requireNoServer(ctx context.Context, conf config.Config, file string) error {
	db, err := sqldb.Open(ctx, conf.Database, sqldb.Options{MustExist: true, ReadOnly: true})
	if err == nil {
		err = requireStopped(ctx, db)
		if !fault.Is(err, fault.Conflict) {
			err = nil
		}
		if err := errors.Join(err, db.Close()); err != nil {
			return err
		}
	}
	// A desktop server has no lease, as it runs no jobs. The leases in a damaged database cannot be read, but a server that
	// opened it before may still use it.
	if open, err := sqldb.InUse(ctx, file); err == nil && open {
		return fault.New(fault.Conflict, "a server or another program has the database %s open: stop the servers first", file)
	}
	return nil
}

// replaceDatabase moves a SQLite database with its write-ahead log aside and puts another
// one in its place.
func replaceDatabase(database, replacement, kept string) error {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(database+suffix, kept+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(replacement, database)
}

// copyFile copies a file to a new one that only its owner may read.
func copyFile(target, source string) (err error) {
	from, err := os.Open(source)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	return to.Sync()
}
