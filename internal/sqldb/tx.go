package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"vigil/internal/fault"
)

// maxAttempts bounds how often a write is tried that PostgreSQL rolled back in
// favour of another.
const maxAttempts = 10

// Tx is a transaction. It is used by one goroutine, within the function it was
// given to.
//
// Its statements take no context: they run under that of the transaction, so
// that a caller who goes away cannot leave a write half done.
type Tx struct {
	db        *DB
	ctx       context.Context // of the transaction, which a Tx stands for
	conn      *sql.Conn
	tx        *sql.Tx
	exclusive bool // no other writer shares it
	deferred  []deferredWork
	after     []func()
}

// Write runs fn in a transaction that may write, and commits it. When Write
// returns nil the change is on disk; when fn fails nothing has changed and
// Write returns its error.
//
// Once begun, the transaction does not end with ctx, only at
// Options.WriteTimeout. PostgreSQL may roll back a transaction in favour of
// another; fn is then run again, so it must do nothing outside the transaction
// that cannot be done twice. See [Tx.AfterCommit].
//
// On SQLite queued writers share a transaction (group commit). Each has a savepoint:
// a failing writer is undone alone, and none returns before the commit.
//
// A Write within a Write fails: SQLite has one writer, so it would deadlock. A
// function that may be called inside and outside of a transaction takes a Tx.
func (db *DB) Write(ctx context.Context, fn func(tx *Tx) error) error {
	return db.write(ctx, db.opts.WriteTimeout, isolated, fn)
}

// WriteCooperative is Write without a savepoint, for bulk writers that fail only if
// the database does: SQLite then does not copy every page that they change. If one
// fails, the whole group is rolled back and the others are run again.
func (db *DB) WriteCooperative(ctx context.Context, fn func(tx *Tx) error) error {
	return db.write(ctx, db.opts.WriteTimeout, cooperative, fn)
}

// WriteExclusive is Write in a transaction that no other writer shares. It is for
// long transactions, whose commit short ones should not have to wait for.
func (db *DB) WriteExclusive(ctx context.Context, fn func(tx *Tx) error) error {
	return db.write(ctx, db.opts.WriteTimeout, exclusive, fn)
}

// write is Write with a time limit and an isolation from the rest of its group.
func (db *DB) write(ctx context.Context, limit time.Duration, how isolation, fn func(tx *Tx) error) error {
	if db.opts.ReadOnly {
		return db.Read(ctx, fn)
	}
	if ctx.Value(writing{db}) != nil {
		return errors.New("begin transaction: a write within a write would deadlock")
	}
	for attempt := 1; ; attempt++ {
		after, err := db.writeOnce(ctx, limit, how, fn)
		if err == nil {
			for _, f := range after {
				f()
			}
			return nil
		}
		if errors.Is(err, errGroup) && how != exclusive {
			how = exclusive
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

// writeOnce returns what is to be done after the commit.
func (db *DB) writeOnce(ctx context.Context, limit time.Duration, how isolation, fn func(tx *Tx) error) ([]func(), error) {
	if db.dialect == SQLite {
		return db.writeGrouped(ctx, limit, how, fn)
	}
	conn, err := db.acquire(ctx, db.writer)
	if err != nil {
		return nil, err
	}
	defer conn.Close()

	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	own = context.WithValue(own, writing{db}, true)
	after, err := db.run(own, conn, nil, fn)
	if err != nil && own.Err() != nil {
		return nil, fault.Wrap(fault.Unavailable, err, "the database took too long")
	}
	return after, err
}

// Read runs fn in a transaction that sees the database as it was at one moment,
// whatever others write meanwhile. It cannot write.
func (db *DB) Read(ctx context.Context, fn func(tx *Tx) error) error {
	conn, err := db.acquire(ctx, db.reader)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = db.run(ctx, conn, &sql.TxOptions{ReadOnly: true, Isolation: db.snapshot()}, fn)
	return err
}

// snapshot is the isolation level of a read. SQLite has but one.
func (db *DB) snapshot() sql.IsolationLevel {
	if db.dialect == Postgres {
		return sql.LevelRepeatableRead
	}
	return sql.LevelDefault
}

// writing marks the context of a write transaction on db.
type writing struct{ db *DB }

// acquire waits for a connection, as long as the caller and the options allow.
func (db *DB) acquire(ctx context.Context, pool *sql.DB) (*sql.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeoutCause(ctx, db.opts.WaitTimeout, errNoTurn)
	defer cancel()
	conn, err := pool.Conn(wait)
	if err != nil {
		if ctx.Err() == nil && errors.Is(context.Cause(wait), errNoTurn) {
			return nil, fault.Wrap(fault.Unavailable, errNoTurn, "the database is busy")
		}
		return nil, classify(fmt.Errorf("begin transaction: %w", err))
	}
	return conn, nil
}

var errNoTurn = errors.New("no connection came free in time")

// run runs fn in one transaction on conn and returns what is to be done after it.
func (db *DB) run(ctx context.Context, conn *sql.Conn, opts *sql.TxOptions, fn func(tx *Tx) error) ([]func(), error) {
	stx, err := conn.BeginTx(ctx, opts)
	if err != nil {
		return nil, classify(fmt.Errorf("begin transaction: %w", err))
	}
	// It does nothing after a commit; it serves failures and panics of fn.
	defer func() { _ = stx.Rollback() }()

	tx := &Tx{db: db, ctx: ctx, conn: conn, tx: stx}
	if err := fn(tx); err != nil {
		return nil, err
	}
	if opts == nil { // it may write
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

// Context returns the context of the transaction. That of a write does not end
// when the caller's does.
func (tx *Tx) Context() context.Context { return tx.ctx }

// On reports whether the transaction is one of the given database.
func (tx *Tx) On(db *DB) bool { return tx.db == db }

// Dialect returns the kind of database this is.
func (tx *Tx) Dialect() Dialect { return tx.db.dialect }

// SQL returns the transaction as the standard library knows it, for package job.
func (tx *Tx) SQL() *sql.Tx { return tx.tx }

// AfterCommit has f called once the transaction is committed and has given back
// its connection. If it is not committed, f is not called. Functions are called
// in the order given.
func (tx *Tx) AfterCommit(f func()) { tx.after = append(tx.after, f) }

// Lock makes this transaction the only one that holds the lock of this name
// until its end; others that ask for it wait. On SQLite a write transaction
// holds all locks as it is.
func (tx *Tx) Lock(name string) error {
	if tx.db.dialect == SQLite {
		return nil
	}
	_, err := tx.Exec(`SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '/' || $1, 0))`, name)
	return err
}

// LockShared waits until nobody holds the lock of this name by [Tx.Lock], and
// keeps others from taking it until this transaction ends. Any number of
// transactions may hold it shared.
func (tx *Tx) LockShared(name string) error {
	if tx.db.dialect == SQLite {
		return nil
	}
	_, err := tx.Exec(`SELECT pg_advisory_xact_lock_shared(hashtextextended(current_schema() || '/' || $1, 0))`, name)
	return err
}

// ForUpdate is what to append to a SELECT whose rows nobody else may change
// before this transaction ends. SQLite needs no words for that.
func (tx *Tx) ForUpdate() string {
	if tx.db.dialect == SQLite {
		return ""
	}
	return " FOR UPDATE"
}
