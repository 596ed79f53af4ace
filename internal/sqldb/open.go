package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// Dialect is the kind of a database.
type Dialect string

// The dialects.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// Options configure a database. The zero value selects the defaults.
type Options struct {
	// Readers is the number of concurrent read transactions on SQLite. The default is
	// the number of processors, at least four.
	Readers int

	// Connections is the number of concurrent transactions on PostgreSQL. The default
	// is 20.
	Connections int

	// WriteTimeout limits the duration of a write transaction, which blocks other
	// writers. The default is one minute.
	WriteTimeout time.Duration

	// MustExist makes Open fail with fs.ErrNotExist instead of creating the file of a
	// SQLite database.
	MustExist bool

	// ReadOnly runs every transaction as a read, so that statements that change the
	// database fail. Migrate then fails with [ErrPending] if migrations are pending.
	ReadOnly bool

	// WaitTimeout is how long a transaction waits for a connection before it fails with
	// fault.Unavailable. The default is 30 seconds.
	WaitTimeout time.Duration
}

// DB is an open database. Its methods are safe for concurrent use.
type DB struct {
	dialect Dialect
	path    string  // SQLite: the file
	writer  *sql.DB // SQLite: one connection; PostgreSQL: the pool
	reader  *sql.DB // SQLite: read-only connections; PostgreSQL: the same pool
	opts    Options
	queue   writeQueue // of SQLite writers

	distributed atomic.Bool // over the nodes of a Citus cluster
}

// Open opens the database of a URL. It creates the file of a SQLite database if it does
// not exist.
//
//	sqlite:///var/lib/vigil/vigil.db   a file, by absolute path
//	sqlite:vigil.db                    a file, by relative path
//	postgres://user:password@host:5432/name?sslmode=verify-full
func Open(ctx context.Context, dsn string, opts Options) (*DB, error) {
	opts.Readers = cmp.Or(opts.Readers, max(4, runtime.NumCPU()))
	opts.Connections = cmp.Or(opts.Connections, 20)
	opts.WriteTimeout = cmp.Or(opts.WriteTimeout, time.Minute)
	opts.WaitTimeout = cmp.Or(opts.WaitTimeout, 30*time.Second)

	scheme, _, _ := strings.Cut(dsn, ":")
	switch scheme {
	case "sqlite":
		path, err := sqlitePath(dsn)
		if err != nil {
			return nil, err
		}
		return openSQLite(ctx, path, opts)
	case "postgres", "postgresql":
		return openPostgres(ctx, dsn, opts)
	}
	// The URL may contain a password, so the error does not repeat it.
	return nil, fmt.Errorf("database URL must start with sqlite: or postgres:")
}

// SQLiteFile returns the file of a SQLite database. It reports false for a database of
// another kind.
func SQLiteFile(dsn string) (path string, ok bool) {
	if !strings.HasPrefix(dsn, "sqlite:") {
		return "", false
	}
	path, err := sqlitePath(dsn)
	return path, err == nil
}

// sqlitePath returns the path in a sqlite: URL.
func sqlitePath(dsn string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", fmt.Errorf("parse database URL: %w", err)
	}
	if u.Host != "" || u.User != nil {
		return "", fmt.Errorf("database URL %s: write sqlite:///path for an absolute path, sqlite:path for a relative one (three slashes or none)", dsn)
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("database URL %s: sqlite: takes no parameters", dsn)
	}
	path := u.Path
	if u.Opaque != "" {
		if path, err = url.PathUnescape(u.Opaque); err != nil {
			return "", fmt.Errorf("parse database URL: %w", err)
		}
	}
	if path == "" || path == ":memory:" {
		return "", fmt.Errorf("database URL %s names no file", dsn)
	}
	return path, nil
}

// Dialect returns the dialect of the database.
func (db *DB) Dialect() Dialect { return db.dialect }

// Pool returns the connections for writing. It is for package job, whose queue library
// runs its own transactions. On SQLite the pool has one connection: code that holds a
// transaction on it and requests another one deadlocks.
func (db *DB) Pool() *sql.DB { return db.writer }

// Close waits for running statements and closes all connections.
func (db *DB) Close() error {
	err := db.reader.Close()
	if db.writer != db.reader {
		// Close the writer last: the last connection to a SQLite file checkpoints the
		// write-ahead log.
		err = cmp.Or(db.writer.Close(), err)
	}
	if err != nil {
		return fmt.Errorf("close database: %w", err)
	}
	return nil
}

// Millis returns t in the format that is stored.
func Millis(t time.Time) int64 { return t.UnixMilli() }

// Time returns the time of a stored value.
func Time(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
