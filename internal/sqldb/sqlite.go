package sqldb

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
)

// openSQLite opens one connection that writes and several that read. With the
// write-ahead log readers and the writer do not block each other, and with
// synchronous=FULL a commit is on disk when it returns. The log is folded into the
// file every 32 MiB: whoever commits then waits for it, and pages that change again
// and again are written once for all that time.
func openSQLite(ctx context.Context, path string, opts Options) (*DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	// SQLite would create the file readable by everybody; its log takes over
	// the mode of the file.
	mode := os.O_RDWR | os.O_CREATE
	if opts.MustExist {
		mode = os.O_RDWR
	}
	f, err := os.OpenFile(abs, mode, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if err := f.Close(); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}

	db := &DB{dialect: SQLite, path: abs, opts: opts}
	if db.writer, err = sqlitePool(abs, 1, true,
		"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "journal_size_limit(67108864)", "wal_autocheckpoint(8192)", "cache_size(-32768)"); err != nil {
		return nil, err
	}
	if db.reader, err = sqlitePool(abs, opts.Readers, false, "query_only(1)", "cache_size(-8192)"); err != nil {
		return nil, err
	}
	if err := db.checkFile(ctx); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("open database %s: %w", abs, err)
	}
	return db, nil
}

// checkFile sees whether the file is a database, and has a log, which not every
// file system can do.
func (db *DB) checkFile(ctx context.Context) error {
	var mode string
	if err := db.writer.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return classify(err)
	}
	if mode != "wal" {
		return fmt.Errorf("the file system does not support a write-ahead log (the journal mode is %s)", mode)
	}
	return db.Check(ctx)
}

// sqlitePool returns n connections to a file, each set up by the pragmas.
func sqlitePool(path string, n int, write bool, pragmas ...string) (*sql.DB, error) {
	q := url.Values{"_pragma": append([]string{"busy_timeout(10000)"}, pragmas...)}
	if write {
		// A transaction that starts by reading and then writes would otherwise
		// fail when another process wrote in between.
		q.Set("_txlock", "immediate")
	}
	u := url.URL{Scheme: "file", Path: path, RawQuery: q.Encode()}
	c, err := sqlite.NewConnector(u.String())
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	if write {
		c = uncancelled{c}
	}
	pool := sql.OpenDB(prepared{c})
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	return pool, nil
}
