package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// openSQLite opens one connection for writes and several for reads. With the
// write-ahead log (WAL), readers and the writer do not block each other, and with
// synchronous=FULL a commit is on disk when it returns. The commit with which the log
// reaches 32 MiB (8192 pages) also checkpoints it; a page that changes often is written to
// the file only once per checkpoint.
func openSQLite(ctx context.Context, path string, opts Options) (*DB, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	// SQLite would create a file that every user can read. The log gets the mode of the
	// file.
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

// checkFile fails if the file is not a database, or if the file system does not support
// a write-ahead log.
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

// sqlitePool returns a pool of n connections to a file with the given pragmas.
func sqlitePool(path string, n int, write bool, pragmas ...string) (*sql.DB, error) {
	q := url.Values{"_pragma": append([]string{"busy_timeout(10000)"}, pragmas...)}
	if write {
		// Take the write lock at the begin. A transaction that first reads and then
		// writes would otherwise fail if another process wrote in between.
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

// InUse reports whether a connection of this or another process has a SQLite file open. Each connection in WAL mode has a
// shared lock on the file until it is closed, so that nobody else gets an exclusive one. A missing file is not in use.
func InUse(ctx context.Context, path string) (bool, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return false, fmt.Errorf("open database: %w", err)
	}
	if _, err := os.Stat(abs); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	q := url.Values{"mode": {"rw"}, "_pragma": {"locking_mode(EXCLUSIVE)"}}
	c, err := sqlite.NewConnector((&url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}).String())
	if err != nil {
		return false, fmt.Errorf("open database: %w", err)
	}
	db := sql.OpenDB(c)
	var tables int
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables) // acquires the lock
	// The low byte of an extended code is the primary code.
	busy := sqliteCode(err)&0xff == sqlite3.SQLITE_BUSY
	if busy {
		err = nil
	}
	err = errors.Join(err, db.Close())
	if err != nil && lockedElsewhere(abs) {
		// SQLite acquires the lock only if it recognises the file, which may be damaged.
		return true, nil
	}
	return busy, err
}

// lockedElsewhere reports whether a connection of another process has a lock on a SQLite file. It must not be called while
// this process needs its own locks on the file: they are released when any of its descriptors is closed.
func lockedElsewhere(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	// The bytes on which connections have shared locks (https://www.sqlite.org/src/file/src/os.h: SHARED_FIRST, SHARED_SIZE).
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart, Start: 0x40000002, Len: 510}
	err = syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lock)
	return err == nil && lock.Type != syscall.F_UNLCK
}
