package session

import (
	"context"
	"sync"
)

// queues are the running and waiting logins by user.
type queues struct {
	mu    sync.Mutex
	users map[string]*queue
}

// queue contains the logins of one user. Attempts from known networks, from
// which the user has logged in before, have a lane of their own, so that
// attempts from other networks cannot delay them.
type queue struct {
	attempts int // running or waiting; guarded by the lock of queues

	mu            sync.Mutex
	known, others lane
	releases      int // number of attempts that have ended
}

// lane contains the attempts from known networks or those from all others.
type lane struct {
	head    chan struct{} // holds a token of the first in line, the only one that waits for a slot
	ended   chan struct{} // signals that a running attempt has ended
	running int
}

func newLane() lane { return lane{head: make(chan struct{}, 1), ended: make(chan struct{}, 1)} }

// join adds an attempt to the queue of a user.
func (q *queues) join(user string) *queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	userQueue := q.users[user]
	if userQueue == nil {
		userQueue = &queue{known: newLane(), others: newLane()}
		q.users[user] = userQueue
	}
	userQueue.attempts++
	return userQueue
}

// leave removes an attempt from the queue of a user.
func (q *queues) leave(user string, userQueue *queue) {
	q.mu.Lock()
	defer q.mu.Unlock()
	userQueue.attempts--
	if userQueue.attempts == 0 {
		delete(q.users, user)
	}
}

func (q *queue) lane(known bool) *lane {
	if known {
		return &q.known
	}
	return &q.others
}

// wait waits for a slot, in FIFO order. limit returns how many attempts may run
// concurrently: in both lanes together if shared, else in this lane. It is
// called again whenever an attempt has ended, even if that happened while limit ran.
func (q *queue) wait(ctx context.Context, known, shared bool, limit func() (int, error)) error {
	l := q.lane(known)
	select {
	case l.head <- struct{}{}:
		defer func() { <-l.head }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		before := q.released()
		slots, err := limit()
		if err != nil {
			return err
		}
		taken, outdated := q.take(known, shared, slots, before)
		switch {
		case taken:
			return nil
		case outdated:
			continue
		}
		select {
		case <-l.ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// released returns how many attempts have ended.
func (q *queue) released() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.releases
}

// take takes a slot if one is free. before is the number of attempts that had ended
// before slots was computed. If another has ended since, slots is outdated: if that attempt
// failed, it would be counted neither as a failure nor as running.
func (q *queue) take(known, shared bool, slots, before int) (taken, outdated bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.releases != before {
		return false, true
	}
	running := q.lane(known).running
	if shared {
		running = q.known.running + q.others.running
	}
	if running >= slots {
		return false, false
	}
	q.lane(known).running++
	return true, false
}

// release ends an attempt and signals both lanes.
func (q *queue) release(known bool) {
	q.mu.Lock()
	q.lane(known).running--
	q.releases++
	q.mu.Unlock()
	for _, l := range []*lane{&q.known, &q.others} {
		select {
		case l.ended <- struct{}{}:
		default: // the next in line was already signalled
		}
	}
}
