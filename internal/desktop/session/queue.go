package session

import (
	"context"
	"sync"
)

// queues are the logins under way, by user.
type queues struct {
	mu    sync.Mutex
	users map[string]*queue
}

// queue is who tries the password of one user right now. Attempts from networks
// that the user has logged in from (known) wait apart from all others, so that
// those cannot hold them up.
type queue struct {
	inside int // waiting or not; guarded by the lock of queues

	mu            sync.Mutex
	known, others lane
}

type lane struct {
	head    chan struct{} // held by whoever is next: that one alone reads the counts and waits for a slot
	left    chan struct{} // told that one of those under way has ended
	running int
}

func newLane() lane { return lane{head: make(chan struct{}, 1), left: make(chan struct{}, 1)} }

// join enters the queue of a user.
func (q *queues) join(user string) *queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	own := q.users[user]
	if own == nil {
		own = &queue{known: newLane(), others: newLane()}
		q.users[user] = own
	}
	own.inside++
	return own
}

// part leaves the queue of a user.
func (q *queues) part(user string, own *queue) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if own.inside--; own.inside == 0 {
		delete(q.users, user)
	}
}

func (q *queue) lane(known bool) *lane {
	if known {
		return &q.known
	}
	return &q.others
}

// wait waits for a slot, in turn. Free says how many may run at a time: of both
// lanes together if they share the slots, of this lane otherwise. It is asked
// again whenever one has ended.
func (q *queue) wait(ctx context.Context, known, shared bool, free func() (int, error)) error {
	l := q.lane(known)
	select {
	case l.head <- struct{}{}:
		defer func() { <-l.head }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		n, err := free()
		if err != nil {
			return err
		}
		if q.take(known, shared, n) {
			return nil
		}
		select {
		case <-l.left:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take takes one of the slots, if one is free.
func (q *queue) take(known, shared bool, slots int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	running := q.lane(known).running
	if shared {
		running = q.known.running + q.others.running
	}
	if running >= slots {
		return false
	}
	q.lane(known).running++
	return true
}

func (q *queue) give(known bool) {
	q.mu.Lock()
	q.lane(known).running--
	q.mu.Unlock()
	for _, l := range []*lane{&q.known, &q.others} {
		select {
		case l.left <- struct{}{}:
		default: // whoever is next has been told already
		}
	}
}
