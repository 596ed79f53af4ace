package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"time"
)

// Dialect tells which kind of database is spoken to.
type Dialect string

// The dialects.
const (
	SQLite   Dialect = "sqlite"
	Postgres Dialect = "postgres"
)

// Options tune a database. The zero value is fit for use.
type Options struct {
	// Readers is how many read transactions run at once on SQLite.
	// By default four, or one per processor if those are more.
	Readers int

	// Connections is how many transactions run at once on PostgreSQL. By
	// default 20.
	Connections int

	// WriteTimeout ends a write transaction that takes longer, so that it does
	// not hold up others for ever. By default one minute.
	WriteTimeout time.Duration

	// MustExist refuses to create the file of a SQLite database: Open then fails
	// with fs.ErrNotExist.
	MustExist bool

	// ReadOnly runs every transaction as a read, so that what would change the
	// database fails. Migrate then fails with [ErrPending] where it would apply
	// something.
	ReadOnly bool

	// WaitTimeout is how long a transaction waits for its turn before it fails
	// with fault.Unavailable. By default 30 seconds.
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
}

// Open opens the database that the URL names, and creates the file of a SQLite
// database that does not exist yet.
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
	// The URL may hold a password: it is not repeated.
	return nil, fmt.Errorf("database URL must start with sqlite: or postgres:")
}

// sqlitePath returns the file that a sqlite: URL names.
func sqlitePath(dsn string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", fmt.Errorf("parse database URL: %w", err)
	}
	if u.Host != "" || u.User != nil {
		return "", fmt.Errorf("database URL %s: an absolute path takes three slashes, a relative path none", dsn)
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("database URL %s: a file takes no parameters", dsn)
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

// Dialect returns the kind of database this is.
func (db *DB) Dialect() Dialect { return db.dialect }

// Pool returns the connections that may write, for package job, whose queue
// library brings its own transactions. On SQLite it holds a single connection:
// whoever holds a transaction on it and asks it for another waits for ever.
func (db *DB) Pool() *sql.DB { return db.writer }

// Close waits for running statements and closes all connections.
func (db *DB) Close() error {
	err := db.reader.Close()
	if db.writer != db.reader {
		// The writer goes last: the last connection to a SQLite file folds the
		// log into it.
		err = cmp.Or(db.writer.Close(), err)
	}
	if err != nil {
		return fmt.Errorf("close database: %w", err)
	}
	return nil
}

// Millis returns t as it is stored.
func Millis(t time.Time) int64 { return t.UnixMilli() }

// Time returns the time stored as ms.
func Time(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
