package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"vigil/internal/fault"
	"vigil/internal/telemetry/tracing"
)

// maxAttempts limits the attempts of a write that PostgreSQL aborts because of a
// concurrent one.
const maxAttempts = 10

// Tx is a transaction. Only the function that it was passed to may use it, from one
// goroutine.
//
// Its statements take no context: they use that of the transaction, so that a cancelled
// request does not interrupt a write.
type Tx struct {
	db        *DB
	ctx       context.Context // of the transaction
	conn      *sql.Conn
	tx        *sql.Tx
	exclusive bool // no other writer shares it
	readOnly  bool
	deferred  []deferredWork
	after     []func()
}

// Write runs fn in a read-write transaction and commits it. If Write returns nil, the
// change is on disk. If fn fails, nothing has changed and Write returns the error of
// fn.
//
// Once begun, the transaction ends at Options.WriteTimeout, not when ctx is cancelled.
// If PostgreSQL aborts the transaction because of a concurrent one, Write runs fn
// again, so fn must not have side effects outside of the transaction. See
// [Tx.AfterCommit].
//
// On SQLite queued writers share a transaction (group commit). Each has a savepoint, so
// that a failing writer is rolled back alone. Each returns after the commit.
//
// A Write within a Write fails, because it would deadlock on SQLite's single writer. A
// function that may be called inside and outside of a transaction takes a Tx.
func (db *DB) Write(ctx context.Context, fn func(tx *Tx) error) error {
	return db.write(ctx, db.opts.WriteTimeout, isolated, fn)
}

// WriteCooperative is Write without a savepoint, for bulk writers that fail only if the
// database does: SQLite then need not journal every page for the rollback to a
// savepoint. If such a writer fails, its whole group is rolled back and the others run again.
func (db *DB) WriteCooperative(ctx context.Context, fn func(tx *Tx) error) error {
	return db.write(ctx, db.opts.WriteTimeout, cooperative, fn)
}

// WriteExclusive is Write in a transaction that no other writer shares. It is for long
// writes: short ones that shared the transaction would have to wait for its commit.
func (db *DB) WriteExclusive(ctx context.Context, fn func(tx *Tx) error) error {
	return db.write(ctx, db.opts.WriteTimeout, exclusive, fn)
}

// write is Write with a time limit and an isolation from the other writers of its
// group.
func (db *DB) write(ctx context.Context, limit time.Duration, mode isolation, fn func(tx *Tx) error) error {
	if db.opts.ReadOnly {
		return db.Read(ctx, fn)
	}
	if ctx.Value(writing{db}) != nil {
		return errors.New("begin transaction: a write within a write would deadlock")
	}
	for attempt := 1; ; attempt++ {
		after, err := db.writeOnce(ctx, limit, mode, fn)
		if err == nil {
			for _, f := range after {
				f()
			}
			return nil
		}
		if errors.Is(err, errGroup) && mode != exclusive {
			mode = exclusive // perhaps another writer of the group failed: run again without others
			continue
		}
		if !isRolledBack(err) {
			return err
		}
		if attempt == maxAttempts {
			return fault.Wrap(fault.Unavailable, err, "the database is busy")
		}
		pause := time.Duration(attempt) * 5 * time.Millisecond
		select {
		case <-time.After(pause/2 + rand.N(pause)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// writeOnce makes one attempt and returns the functions to call after the commit.
func (db *DB) writeOnce(ctx context.Context, limit time.Duration, mode isolation, fn func(tx *Tx) error) ([]func(), error) {
	if db.dialect == SQLite {
		return db.writeGrouped(ctx, limit, mode, fn)
	}
	conn, err := db.acquire(ctx, db.writer)
	if err != nil {
		return nil, err
	}
	defer conn.Close()

	txCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	txCtx = context.WithValue(txCtx, writing{db}, true)
	after, err := db.run(txCtx, conn, nil, fn)
	if err != nil && txCtx.Err() != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the database took too long")
	}
	return after, err
}

// Read runs fn in a read-only transaction that sees a consistent snapshot of the
// database.
func (db *DB) Read(ctx context.Context, fn func(tx *Tx) error) error {
	conn, err := db.acquire(ctx, db.reader)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = db.run(ctx, conn, &sql.TxOptions{ReadOnly: true, Isolation: db.snapshot()}, fn)
	return err
}

// snapshot returns the isolation level of reads. SQLite has only one.
func (db *DB) snapshot() sql.IsolationLevel {
	if db.dialect == Postgres {
		return sql.LevelRepeatableRead
	}
	return sql.LevelDefault
}

// writing is the key that marks the context of a write transaction on db.
type writing struct{ db *DB }

// acquire waits for a connection until ctx ends or WaitTimeout has passed.
func (db *DB) acquire(ctx context.Context, pool *sql.DB) (*sql.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeoutCause(ctx, db.opts.WaitTimeout, errNoTurn)
	defer cancel()
	_, span := tracing.Start(ctx, "wait for a database connection")
	conn, err := pool.Conn(wait)
	span.End(err)
	if err != nil {
		if ctx.Err() == nil && errors.Is(context.Cause(wait), errNoTurn) {
			return nil, fault.Wrap(fault.Unavailable, errNoTurn, "the database is busy")
		}
		return nil, classify(fmt.Errorf("begin transaction: %w", err))
	}
	return conn, nil
}

var errNoTurn = errors.New("no connection came free in time")

// run runs fn in one transaction on conn and returns the functions to call after the
// commit.
func (db *DB) run(ctx context.Context, conn *sql.Conn, opts *sql.TxOptions, fn func(tx *Tx) error) ([]func(), error) {
	stx, err := conn.BeginTx(ctx, opts)
	if err != nil {
		return nil, classify(fmt.Errorf("begin transaction: %w", err))
	}
	// Rolls back if fn fails or panics; does nothing after a commit.
	defer func() { _ = stx.Rollback() }()

	tx := &Tx{db: db, ctx: ctx, conn: conn, tx: stx, readOnly: opts != nil && opts.ReadOnly}
	if err := fn(tx); err != nil {
		return nil, err
	}
	if !tx.readOnly {
		if err := tx.runHook(); err != nil {
			return nil, err
		}
	}
	if err := tx.finish(tx.deferred); err != nil {
		return nil, err
	}
	if err := stx.Commit(); err != nil {
		return nil, classifyCommit(err)
	}
	return tx.after, nil
}

// Context returns the context of the transaction. The context of a write is not cancelled
// when that of its caller is.
func (tx *Tx) Context() context.Context { return tx.ctx }

// ReadOnly reports whether the transaction is one of [DB.Read], or the database was opened
// read-only. Such a transaction sees only committed rows.
func (tx *Tx) ReadOnly() bool { return tx.readOnly }

// On reports whether the transaction belongs to the given database.
func (tx *Tx) On(db *DB) bool { return tx.db == db }

// Dialect returns the dialect of the database.
func (tx *Tx) Dialect() Dialect { return tx.db.dialect }

// SQL returns the underlying transaction, for package job.
func (tx *Tx) SQL() *sql.Tx { return tx.tx }

// AfterCommit registers f to be called after the commit, when the connection is
// released. If the transaction is not committed, f is not called. Functions are called
// in the order of registration.
func (tx *Tx) AfterCommit(f func()) { tx.after = append(tx.after, f) }

// Lock takes the named lock exclusively until the end of the transaction, waiting for
// other holders. On SQLite it does nothing: there is only one writer.
func (tx *Tx) Lock(name string) error {
	if tx.db.dialect == SQLite {
		return nil
	}
	_, err := tx.Exec(`SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '/' || $1, 0))`, name)
	return err
}

// LockShared takes the named lock shared until the end of the transaction. It waits for
// a holder of [Tx.Lock], which in turn waits for all shared holders.
func (tx *Tx) LockShared(name string) error {
	if tx.db.dialect == SQLite {
		return nil
	}
	_, err := tx.Exec(`SELECT pg_advisory_xact_lock_shared(hashtextextended(current_schema() || '/' || $1, 0))`, name)
	return err
}

// ForUpdate returns the suffix for a SELECT that locks its rows until the end of the
// transaction. It is empty on SQLite.
func (tx *Tx) ForUpdate() string {
	if tx.db.dialect == SQLite {
		return ""
	}
	return " FOR UPDATE"
}
