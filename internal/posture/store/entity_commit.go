package store

import (
	"context"
	"errors"
	"slices"
	"sync"

	"vigil/internal/posture"
	"vigil/internal/sqldb"
)

// maxTogether is how many entities are written in one transaction by recordings
// that are committed together.
const maxTogether = 2000

// commits lets recordings of one account that are committed at the same time
// share a transaction. Of a collection in which little has changed, most of the
// time would go into waiting for the disk.
type commits struct {
	mu       sync.Mutex
	accounts map[posture.AccountRef]*commitQueue
}

func newCommits() *commits { return &commits{accounts: map[posture.AccountRef]*commitQueue{}} }

// A commitQueue is what waits to be committed for one account.
type commitQueue struct {
	turn    chan struct{} // held by who commits
	users   int
	waiting []*commit
}

// A commit is a piece of a transaction.
type commit struct {
	ctx  context.Context
	size int
	run  func(tx *sqldb.Tx) error
	done chan struct{}
	err  error // once done is closed
}

// do runs f in a transaction, which others may share. A failure of one does not
// concern the others.
func (cs *commits) do(ctx context.Context, db *sqldb.DB, at posture.AccountRef, size int, f func(tx *sqldb.Tx) error) error {
	c := &commit{ctx: ctx, size: size, run: f, done: make(chan struct{})}
	q := cs.enter(at, c)
	defer cs.leave(at, q)
	select {
	case q.turn <- struct{}{}:
	case <-c.done:
		return c.err
	case <-ctx.Done():
		if cs.withdraw(q, c) {
			return ctx.Err()
		}
		<-c.done
		return c.err
	}
	defer func() { <-q.turn }()
	if some := cs.take(q, c); len(some) > 0 {
		commitAll(db, some)
	}
	<-c.done
	return c.err
}

func (cs *commits) enter(at posture.AccountRef, c *commit) *commitQueue {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	q := cs.accounts[at]
	if q == nil {
		q = &commitQueue{turn: make(chan struct{}, 1)}
		cs.accounts[at] = q
	}
	q.users++
	q.waiting = append(q.waiting, c)
	return q
}

func (cs *commits) leave(at posture.AccountRef, q *commitQueue) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if q.users--; q.users == 0 {
		delete(cs.accounts, at)
	}
}

// withdraw takes a commit back, unless somebody is at it.
func (cs *commits) withdraw(q *commitQueue, c *commit) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	i := slices.Index(q.waiting, c)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return true
}

// take returns what to commit together: c, and of the others those there is room
// for. It is nothing if c is done.
func (cs *commits) take(q *commitQueue, c *commit) []*commit {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if !slices.Contains(q.waiting, c) {
		return nil
	}
	some, size := []*commit{c}, c.size
	q.waiting = slices.DeleteFunc(q.waiting, func(other *commit) bool {
		if other != c && size+other.size <= maxTogether {
			some, size = append(some, other), size+other.size
			return true
		}
		return other == c
	})
	return some
}

// commitAll commits together, or each by itself if that fails.
func commitAll(db *sqldb.DB, some []*commit) {
	done := 0
	defer func() { // after a panic nobody may wait any longer
		for _, c := range some[done:] {
			c.err = errNotCommitted
			close(c.done)
		}
	}()
	err := db.Write(some[0].ctx, func(tx *sqldb.Tx) error {
		for _, c := range some {
			if err := c.run(tx); err != nil {
				return err
			}
		}
		return nil
	})
	for _, c := range some {
		if c.err = err; err != nil && len(some) > 1 {
			c.err = db.Write(c.ctx, c.run)
		}
		done++
		close(c.done)
	}
}

var errNotCommitted = errors.New("the transaction came to nothing")
