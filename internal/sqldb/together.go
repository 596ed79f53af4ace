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

// A line is where the writers to SQLite wait for their turn, which is given on in
// the order of asking: the pool would take any of those who wait, some of them
// never.
//
// The turn comes with the transaction of those before, as long as it is young. A
// commit waits for the disk, far longer than most writers write: those who came
// meanwhile share the next one.
type line struct {
	mu      sync.Mutex
	taken   bool
	waiting []chan *shared
}

// sharing is how a writer shares its transaction.
type sharing int

const (
	apart sharing = iota // it is undone without the others when it fails
	sure                 // when it fails, so do the others
	alone                // with nobody
)

// A shared is a transaction that writers use one after the other. What one of them
// does is done once the last has committed.
type shared struct {
	conn   *sql.Conn
	tx     *sql.Tx
	until  time.Time // nobody joins later
	users  int
	left   []leftover // by its users, to the end
	marked bool       // there is a mark to go back to
	broken bool       // it cannot be committed any more

	done chan struct{} // closed when it has ended
	err  error         // why it was not committed, then
}

const (
	shareUsers = 64                    // writers of one transaction
	shareTime  = 20 * time.Millisecond // in which they join it
)

// errTogether says that a transaction failed, and perhaps because of others in it.
var errTogether = errors.New("the transaction was shared and failed")

// enter waits for the turn, as long as the caller and the limit allow. It returns
// the transaction that the turn comes with, or nil for none.
func (l *line) enter(ctx context.Context, limit time.Duration) (*shared, error) {
	l.mu.Lock()
	if !l.taken {
		l.taken = true
		l.mu.Unlock()
		return nil, nil
	}
	turn := make(chan *shared, 1)
	l.waiting = append(l.waiting, turn)
	l.mu.Unlock()

	timer := time.NewTimer(limit)
	defer timer.Stop()
	var err error
	select {
	case s := <-turn:
		return s, nil
	case <-ctx.Done():
		err = fmt.Errorf("begin transaction: %w", ctx.Err())
	case <-timer.C:
		err = fault.Wrap(fault.Unavailable, errNoTurn, "the database is busy")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := slices.Index(l.waiting, turn); at >= 0 {
		l.waiting = slices.Delete(l.waiting, at, at+1)
		return nil, err
	}
	return <-turn, nil // it came at the last moment
}

// next gives the turn on, and the transaction with it. It reports false when
// nobody may have the transaction: then it is to be ended, and the turn given on
// without it.
func (l *line) next(s *shared) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s != nil && (len(l.waiting) == 0 || s.users >= shareUsers || time.Now().After(s.until)) {
		return false
	}
	if l.taken = len(l.waiting) > 0; l.taken {
		l.waiting[0] <- s
		l.waiting = l.waiting[1:]
	}
	return true
}

// writeShared runs fn in a transaction that others may share, and returns what is
// to be done after it.
func (db *DB) writeShared(ctx context.Context, limit time.Duration, how sharing, fn func(tx *Tx) error) ([]func(), error) {
	s, err := db.line.enter(ctx, db.opts.WaitTimeout)
	if err != nil {
		return nil, err
	}
	if s != nil && how == alone {
		db.end(s)
		s = nil
	}
	if s == nil {
		if s, err = db.beginShared(ctx); err != nil {
			db.line.next(nil)
			return nil, err
		}
	}
	if how == alone {
		s.until = time.Time{}
	}
	after, err := db.use(ctx, limit, s, how, fn)
	// What fn saw of those before it is there for others, or not at all, once the
	// transaction has ended: that holds for a failure, too.
	<-s.done
	if err != nil && (s.err == nil || s.users == 1) {
		return nil, err
	}
	return after, s.err
}

// beginShared begins a transaction. It outlives the one who begins it.
func (db *DB) beginShared(ctx context.Context) (*shared, error) {
	conn, err := db.acquire(ctx, db.writer)
	if err != nil {
		return nil, err
	}
	tx, err := conn.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		_ = conn.Close()
		return nil, classify(fmt.Errorf("begin transaction: %w", err))
	}
	return &shared{conn: conn, tx: tx, until: time.Now().Add(shareTime), done: make(chan struct{})}, nil
}

// use runs fn as one user of a transaction, then gives the turn on. What fn did is
// undone when it fails or panics.
func (db *DB) use(ctx context.Context, limit time.Duration, s *shared, how sharing, fn func(tx *Tx) error) ([]func(), error) {
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	own = context.WithValue(own, writing{db}, true)
	well := false
	defer func() {
		s.leave(well)
		if s.broken || !db.line.next(s) {
			db.end(s)
			db.line.next(nil)
		}
	}()
	if err := s.join(how); err != nil {
		return nil, classify(fmt.Errorf("begin transaction: %w", err))
	}
	tx := &Tx{db: db, ctx: own, conn: s.conn, tx: s.tx, alone: how == alone}
	if err := fn(tx); err != nil {
		if own.Err() != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "the database took too long")
		}
		return nil, err
	}
	if err := tx.runHook(); err != nil {
		return nil, err
	}
	well = true
	s.left = append(s.left, tx.left...)
	return tx.after, nil
}

// join makes a mark to which the transaction goes back when its next user fails.
// The first needs none, nor do those who are sure.
func (s *shared) join(how sharing) error {
	s.users++
	if s.marked = s.users > 1 && how == apart; !s.marked {
		return nil
	}
	return s.exec("SAVEPOINT user")
}

// leave keeps what the last user did, or undoes it.
func (s *shared) leave(well bool) {
	switch {
	case !s.marked:
		s.broken = !well
	case well:
		s.broken = s.exec("RELEASE user") != nil
	default:
		s.broken = s.exec("ROLLBACK TO user") != nil || s.exec("RELEASE user") != nil
	}
}

func (s *shared) exec(text string) error {
	_, err := s.tx.ExecContext(context.Background(), text)
	return err
}

// end commits a transaction, or rolls it back when it is broken.
func (db *DB) end(s *shared) {
	err := errTogether
	if !s.broken {
		err = db.commit(s)
	}
	if err != nil {
		_ = s.tx.Rollback() // SQLite may have done so already
		if s.users > 1 {
			err = errors.Join(errTogether, err)
		}
	}
	_ = s.conn.Close() // it goes back to the pool
	s.err = err
	close(s.done)
}

// commit does what users have left to the end, and commits. Any of them may be the
// one who does it for all, so a panic becomes an error.
func (db *DB) commit(s *shared) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("finish transaction: panic: %v", p)
		}
	}()
	if len(s.left) > 0 {
		ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), writing{db}, true), db.opts.WriteTimeout)
		defer cancel()
		if err := (&Tx{db: db, ctx: ctx, conn: s.conn, tx: s.tx}).finish(s.left); err != nil {
			return err
		}
	}
	if err := s.tx.Commit(); err != nil {
		return classify(fmt.Errorf("commit transaction: %w", err))
	}
	return nil
}
