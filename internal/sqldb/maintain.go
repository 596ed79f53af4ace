package sqldb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Check fails if the database does not answer. It does not wait for writers.
func (db *DB) Check(ctx context.Context) error {
	return db.Read(ctx, func(tx *Tx) error {
		var result int
		return tx.QueryRow("SELECT 1").Scan(&result)
	})
}

// HasTable reports whether the database has a table with this name.
func (db *DB) HasTable(ctx context.Context, name string) (found bool, err error) {
	err = db.Read(ctx, func(tx *Tx) error {
		found, err = tx.HasTable(name)
		return err
	})
	return found, err
}

// HasTable is [DB.HasTable] in a transaction.
func (tx *Tx) HasTable(name string) (bool, error) {
	text := `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = $1`
	if tx.db.dialect == Postgres {
		text = `SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = current_schema() AND tablename = $1`
	}
	n, err := QueryOne(tx, Scalar[int64], text, name)
	return n > 0, err
}

// IntegrityCheck reads a whole SQLite database and fails if it is damaged. On
// PostgreSQL it does nothing.
func (db *DB) IntegrityCheck(ctx context.Context) error {
	if db.dialect != SQLite {
		return nil
	}
	return db.Read(ctx, func(tx *Tx) error {
		found, err := Query(tx, Scalar[string], "PRAGMA integrity_check")
		if err != nil {
			return fmt.Errorf("check integrity: %w", err)
		}
		if text := strings.Join(found, "; "); text != "ok" {
			return fmt.Errorf("check integrity: %s", text)
		}
		broken, err := Query(tx, func(r Row) (string, error) {
			var table, parent string
			var rowid *int64
			var key int
			err := r.Scan(&table, &rowid, &parent, &key)
			return table + " to " + parent, err
		}, "PRAGMA foreign_key_check")
		if err != nil {
			return fmt.Errorf("check integrity: %w", err)
		}
		if len(broken) > 0 {
			return fmt.Errorf("check integrity: %d broken references, the first from %s", len(broken), broken[0])
		}
		return nil
	})
}

// Backup writes a consistent copy of a SQLite database to a file that must not exist
// yet. Reads and writes continue meanwhile. It fails on PostgreSQL, which has pg_dump
// and pg_basebackup.
func (db *DB) Backup(ctx context.Context, path string) error {
	if db.dialect != SQLite {
		return errors.New("back up database: PostgreSQL is backed up with pg_dump or pg_basebackup")
	}
	// The copy contains the same secrets as the database, so only its owner may read
	// it. SQLite accepts an existing empty file.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("back up database: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("back up database: %w", err)
	}
	// Use a separate connection: the writer's must stay available, and the readers' have
	// query_only set, with which VACUUM INTO fails. It needs no write lock on the database.
	pool, err := sqlitePool(db.path, 1, false)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.ExecContext(ctx, "VACUUM INTO $1", path); err != nil {
		_ = os.Remove(path)
		return classify(fmt.Errorf("back up database: %w", err))
	}
	return nil
}
