package httpapi

import (
	"context"
	"runtime"
	"sync"
	"time"

	"vigil/internal/fault"
)

// Admission bounds how many requests are handled at a time. Zero values mean
// the defaults.
type Admission struct {
	Total     int // in all; 512
	Reserved  int // of Total, for administrators alone; a sixteenth of Total
	Anonymous int // of Total, for callers who are not known; a quarter of Total
	Address   int // for one address of those; 32
	Reads     int // for one organisation, requests that change nothing; twice the processors, 4 at least
	Changes   int // for one organisation, requests that change something; 64

	Waiting int           // requests of one organisation or address that wait for their turn; 1024
	Wait    time.Duration // how long each waits; 30 s
}

func (a Admission) withDefaults() Admission {
	set := func(n *int, value int) {
		if *n == 0 {
			*n = value
		}
	}
	set(&a.Total, 512)
	set(&a.Reserved, a.Total/16)
	set(&a.Anonymous, max(a.Total/4, 1))
	set(&a.Address, 32)
	set(&a.Reads, max(4, 2*runtime.GOMAXPROCS(0)))
	set(&a.Changes, 64)
	set(&a.Waiting, 1024)
	if a.Wait == 0 {
		a.Wait = 30 * time.Second
	}
	return a
}

// A gate hands out the slots in which requests are handled. Every organisation
// has a share of its own, so that one that sends many or expensive requests
// waits for itself and not the others for it. Reads and changes are counted
// apart: reads use the processor, changes mostly wait for the disk, and gain
// from being many because they share commits.
type gate struct {
	a Admission

	mu        sync.Mutex
	running   int
	anonymous int
	shares    map[shareKey]*share
}

type shareKey struct {
	who     string
	changes bool
}

// share is what one organisation or address has under way.
type share struct {
	running int
	waiting []*waiter // in the order they came
}

type waiter struct {
	admitted chan struct{}
	gone     bool // it has stopped waiting
}

func newGate(a Admission) *gate {
	return &gate{a: a.withDefaults(), shares: make(map[shareKey]*share)}
}

// entrant is who asks for a slot.
type entrant struct {
	key   shareKey
	known bool // the guard knows who it is
	admin bool
}

// enter waits for a slot. The caller must call leave when the request has been
// handled.
func (g *gate) enter(ctx context.Context, e entrant) (leave func(), err error) {
	g.mu.Lock()
	s := g.shares[e.key]
	if s == nil {
		s = &share{}
		g.shares[e.key] = s
	}
	leave = func() { g.leave(e, s) }
	if !g.roomFor(e) {
		g.forget(e.key, s)
		g.mu.Unlock()
		return nil, fault.New(fault.Unavailable, "the server has too many requests under way; try again later")
	}
	limit := g.limit(e)
	if s.running < limit {
		g.admit(e, s)
		g.mu.Unlock()
		return leave, nil
	}
	if len(s.waiting) >= g.a.Waiting {
		g.mu.Unlock()
		return nil, tooManyAtOnce(e, limit)
	}
	w := &waiter{admitted: make(chan struct{})}
	s.waiting = append(s.waiting, w)
	g.mu.Unlock()

	timer := time.NewTimer(g.a.Wait)
	defer timer.Stop()
	select {
	case <-w.admitted:
		return leave, nil
	case <-timer.C:
		err = tooManyAtOnce(e, limit)
	case <-ctx.Done():
		err = ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-w.admitted: // at the last moment
		return leave, nil
	default:
	}
	w.gone = true
	return nil, err
}

func tooManyAtOnce(e entrant, limit int) error {
	who := "this address has"
	if e.known {
		who = "your organisation has"
	}
	return fault.New(fault.Limited, "%s %d requests under way, which is the limit; try again later", who, limit)
}

// limit returns how many requests of one share are handled at a time.
func (g *gate) limit(e entrant) int {
	switch {
	case !e.known:
		return g.a.Address
	case e.key.changes:
		return g.a.Changes
	}
	return g.a.Reads
}

// roomFor reports whether the server as a whole can take one more.
func (g *gate) roomFor(e entrant) bool {
	switch {
	case e.admin:
		return g.running < g.a.Total
	case !e.known && g.anonymous >= g.a.Anonymous:
		return false
	}
	return g.running < max(g.a.Total-g.a.Reserved, 1)
}

func (g *gate) admit(e entrant, s *share) {
	s.running++
	g.running++
	if !e.known {
		g.anonymous++
	}
}

// leave gives the slot back, to the next of the same share if there is one.
func (g *gate) leave(e entrant, s *share) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.running--
	g.running--
	if !e.known {
		g.anonymous--
	}
	for len(s.waiting) > 0 {
		w := s.waiting[0]
		s.waiting = s.waiting[1:]
		if w.gone {
			continue
		}
		g.admit(e, s)
		close(w.admitted)
		return
	}
	g.forget(e.key, s)
}

// forget drops a share that nobody uses.
func (g *gate) forget(key shareKey, s *share) {
	if s.running == 0 && len(s.waiting) == 0 {
		delete(g.shares, key)
	}
}
