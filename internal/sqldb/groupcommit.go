package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"vigil/internal/fault"
)

// writeQueue serialises SQLite writers in FIFO order and groups them into shared
// transactions (group commit). The connection pool of database/sql is not FIFO: under
// load some writers would starve.
//
// A writer gets its turn together with the open transaction of its predecessor, until
// shareTime has passed since the begin. Writers that queue up while a commit waits for
// the disk, which takes far longer than most writes, share the next transaction.
type writeQueue struct {
	mu      sync.Mutex
	taken   bool
	waiting []chan *txGroup
}

// isolation says how the failure of one writer affects the others in its group.
type isolation int

const (
	isolated    isolation = iota // own savepoint: a failure undoes this writer alone
	cooperative                  // no savepoint: a failure rolls back the group
	exclusive                    // own transaction, shared with no other writer
)

// A txGroup is a transaction that several writers use one after another. It is
// committed once, after the last of them.
type txGroup struct {
	conn      *sql.Conn
	tx        *sql.Tx
	until     time.Time // no writer joins later
	writers   int
	deferred  []deferredWork // of all writers, run before the commit
	savepoint bool           // the current writer has one
	broken    bool           // it can no longer be committed

	done chan struct{} // closed when the transaction has ended
	err  error         // why it was not committed; set before done is closed
}

const (
	maxGroup  = 64                    // writers in one transaction
	shareTime = 20 * time.Millisecond // how long after the begin writers may join
)

// errGroup reports that a shared transaction failed, perhaps because of another
// writer in it.
var errGroup = errors.New("the shared transaction was rolled back")

// enter waits for the caller's turn until ctx ends or limit has passed. It returns
// the open group that the turn comes with, or nil for none.
func (q *writeQueue) enter(ctx context.Context, limit time.Duration) (*txGroup, error) {
	q.mu.Lock()
	if !q.taken {
		q.taken = true
		q.mu.Unlock()
		return nil, nil
	}
	turn := make(chan *txGroup, 1)
	q.waiting = append(q.waiting, turn)
	q.mu.Unlock()

	timer := time.NewTimer(limit)
	defer timer.Stop()
	var err error
	select {
	case g := <-turn:
		return g, nil
	case <-ctx.Done():
		err = fmt.Errorf("begin transaction: %w", ctx.Err())
	case <-timer.C:
		err = fault.Wrap(fault.Unavailable, errNoTurn, "the database is busy")
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if index := slices.Index(q.waiting, turn); index >= 0 {
		q.waiting = slices.Delete(q.waiting, index, index+1)
		return nil, err
	}
	return <-turn, nil // the turn arrived together with the timeout
}

// next passes the turn, and the group with it, to the next writer. It reports false
// when no writer waits or none may join the group: the caller must then end the group
// and call next again without it.
func (q *writeQueue) next(g *txGroup) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if g != nil && (len(q.waiting) == 0 || g.writers >= maxGroup || time.Now().After(g.until)) {
		return false
	}
	q.taken = len(q.waiting) > 0
	if q.taken {
		q.waiting[0] <- g
		q.waiting = q.waiting[1:]
	}
	return true
}

// writeGrouped runs fn in a transaction that other writers may share, and returns
// the functions to call after the commit.
func (db *DB) writeGrouped(ctx context.Context, limit time.Duration, mode isolation, fn func(tx *Tx) error) ([]func(), error) {
	g, err := db.queue.enter(ctx, db.opts.WaitTimeout)
	if err != nil {
		return nil, err
	}
	if g != nil && mode == exclusive { // commit the earlier writers first
		db.end(g)
		g = nil
	}
	if g == nil {
		if g, err = db.beginGroup(ctx); err != nil {
			db.queue.next(nil)
			return nil, err
		}
	}
	if mode == exclusive {
		g.until = time.Time{} // no other writer may join
	}
	after, err := db.use(ctx, limit, g, mode, fn)
	// fn may have read changes of earlier writers of the group that are not yet
	// committed. Wait for the commit even if fn failed, so that no error rests on
	// changes that are rolled back afterwards. If a group of several writers was not
	// committed, g.err makes write run fn again in its own transaction.
	<-g.done
	if err != nil && (g.err == nil || g.writers == 1) {
		return nil, err
	}
	return after, g.err
}

// beginGroup begins a transaction that outlives the writer that begins it.
func (db *DB) beginGroup(ctx context.Context) (*txGroup, error) {
	conn, err := db.acquire(ctx, db.writer)
	if err != nil {
		return nil, err
	}
	tx, err := conn.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		_ = conn.Close()
		return nil, classify(fmt.Errorf("begin transaction: %w", err))
	}
	return &txGroup{conn: conn, tx: tx, until: time.Now().Add(shareTime), done: make(chan struct{})}, nil
}

// use runs fn as one writer of a group, then passes the turn on. It undoes the
// changes of fn when fn fails or panics.
func (db *DB) use(ctx context.Context, limit time.Duration, g *txGroup, mode isolation, fn func(tx *Tx) error) ([]func(), error) {
	txCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	txCtx = context.WithValue(txCtx, writing{db}, true)
	ok := false
	defer func() {
		g.leave(ok)
		if g.broken || !db.queue.next(g) {
			db.end(g)
			db.queue.next(nil)
		}
	}()
	if err := g.join(mode); err != nil {
		return nil, classify(fmt.Errorf("begin transaction: %w", err))
	}
	tx := &Tx{db: db, ctx: txCtx, conn: g.conn, tx: g.tx, exclusive: mode == exclusive}
	if err := fn(tx); err != nil {
		if txCtx.Err() != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "the database took too long")
		}
		return nil, err
	}
	if err := tx.runHook(); err != nil {
		return nil, err
	}
	ok = true
	g.deferred = append(g.deferred, tx.deferred...)
	return tx.after, nil
}

// join sets a savepoint for the next writer. The first writer needs none, nor does a
// cooperative one.
func (g *txGroup) join(mode isolation) error {
	g.writers++
	g.savepoint = g.writers > 1 && mode == isolated
	if !g.savepoint {
		return nil
	}
	return g.exec("SAVEPOINT writer")
}

// leave keeps the changes of the current writer, or rolls back to its savepoint.
func (g *txGroup) leave(ok bool) {
	switch {
	case !g.savepoint:
		g.broken = !ok
	case ok:
		g.broken = g.exec("RELEASE writer") != nil
	default:
		g.broken = g.exec("ROLLBACK TO writer") != nil || g.exec("RELEASE writer") != nil
	}
}

func (g *txGroup) exec(text string) error {
	_, err := g.tx.ExecContext(context.Background(), text)
	return err
}

// end commits a group, or rolls it back when it is broken.
func (db *DB) end(g *txGroup) {
	err := errGroup
	if !g.broken {
		err = db.commit(g)
	}
	if err != nil {
		_ = g.tx.Rollback() // SQLite may have done so already
		if g.writers > 1 {
			err = errors.Join(errGroup, err)
		}
	}
	_ = g.conn.Close() // returns it to the pool
	g.err = err
	close(g.done)
}

// commit runs the deferred work of all writers and commits. It may run on the
// goroutine of any of them, so it turns a panic into an error.
func (db *DB) commit(g *txGroup) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("finish transaction: panic: %v", p)
		}
	}()
	if len(g.deferred) > 0 {
		ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), writing{db}, true), db.opts.WriteTimeout)
		defer cancel()
		if err := (&Tx{db: db, ctx: ctx, conn: g.conn, tx: g.tx}).finish(g.deferred); err != nil {
			return err
		}
	}
	if err := g.tx.Commit(); err != nil {
		return classifyCommit(err)
	}
	return nil
}
