package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"vigil/internal/fault"
)

// Constraint violations, the same for both databases. Test for them with errors.Is;
// their kind is fault.Conflict.
var (
	// ErrUnique reports that a row with the same key exists.
	ErrUnique = errors.New("a row with this key already exists")

	// ErrForeignKey reports that a row refers to one that does not exist, or that a row
	// to be deleted is still referenced.
	ErrForeignKey = errors.New("a foreign key constraint would be violated")
)

// classify wraps driver errors in a fault with their kind. It returns other errors
// unchanged.
func classify(err error) error {
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	switch {
	case isUnique(err):
		return fault.Wrap(fault.Conflict, fmt.Errorf("%w: %w", ErrUnique, err), "it already exists")
	case isForeignKey(err):
		return fault.Wrap(fault.Conflict, fmt.Errorf("%w: %w", ErrForeignKey, err), "it is in use, or refers to something that does not exist")
	case isUnavailable(err):
		return fault.Wrap(fault.Unavailable, err, "the database is not available")
	}
	return err
}

// classifyCommit is classify for the error of a commit. Unless the database reports a
// rollback, the transaction may have been committed nevertheless.
func classifyCommit(err error) error {
	err = fmt.Errorf("commit transaction: %w", err)
	if rolledBack(err) {
		return classify(err)
	}
	return fault.Wrap(fault.Unavailable, fmt.Errorf("%w: %w", fault.ErrOutcomeUnknown, err), "the database failed while a change was committed")
}

// rolledBack reports whether the error of a commit means that nothing was committed.
func rolledBack(err error) bool {
	if code := sqliteCode(err); code != 0 {
		// After an I/O error the commit may be in the write-ahead log nevertheless.
		return code&0xff != sqlite3.SQLITE_IOERR
	}
	// 08 (connection lost) and 57P (shutting down) can also follow a successful commit.
	code := postgresCode(err)
	return code != "" && !strings.HasPrefix(code, "08") && !strings.HasPrefix(code, "57P") || errors.Is(err, sql.ErrTxDone)
}

func isUnique(err error) bool {
	switch sqliteCode(err) {
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return true
	}
	return postgresCode(err) == "23505"
}

func isForeignKey(err error) bool {
	return sqliteCode(err) == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY || postgresCode(err) == "23503"
}

// isRolledBack reports whether PostgreSQL aborted the transaction because of a
// concurrent one: a serialization failure or a deadlock.
func isRolledBack(err error) bool {
	code := postgresCode(err)
	return code == "40001" || code == "40P01"
}

// isUnavailable reports whether the same statement may succeed later.
func isUnavailable(err error) bool {
	switch sqliteCode(err) & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL:
		return true
	}
	switch code := postgresCode(err); {
	case strings.HasPrefix(code, "08"), // connection lost
		strings.HasPrefix(code, "53"),  // too many connections, out of disk or memory
		strings.HasPrefix(code, "57P"), // shutting down or starting up
		code == "55P03":                // lock not available
		return true
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok && !errors.Is(err, context.Canceled) {
		return true
	}
	// A server in immediate shutdown closes its connections in the middle of a
	// response. For later statements on such a connection pgx returns an error that is
	// safe to retry.
	if errors.Is(err, io.ErrUnexpectedEOF) || pgconn.SafeToRetry(err) {
		return true
	}
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone)
}

func sqliteCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

func postgresCode(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}
