package httpapi

import (
	"context"
	"sync"
	"time"

	"vigil/internal/fault"
	"vigil/internal/processors"
)

// Admission bounds how many requests are handled at a time. Zero values mean
// the defaults.
type Admission struct {
	Total     int // in all; 512
	Reserved  int // of Total, for administrators alone; a sixteenth of Total
	Anonymous int // of Total, for callers who are not known; a quarter of Total
	Address   int // for one address of those; 32
	Reads     int // for one organisation, requests that change nothing; twice the processors, 4 at least
	Shared    int // the same while other organisations send requests too; half of Reads
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
	set(&a.Reads, max(4, 2*processors.Count()))
	set(&a.Shared, max(a.Reads/2, 1))
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
	recent    [2]visit // the last two organisations that sent requests, the newest first
}

// visit says when an organisation sent a request.
type visit struct {
	who string
	at  time.Time
}

// activeFor is for how long after a request an organisation counts as one that uses
// the server.
const activeFor = time.Second

// noteVisit notes which organisation sends a request.
func (g *gate) noteVisit(e entrant, now time.Time) {
	if !e.known {
		return
	}
	if g.recent[0].who != e.key.who {
		g.recent[1] = g.recent[0]
	}
	g.recent[0] = visit{e.key.who, now}
}

// alone reports whether no other organisation sent requests lately.
func (g *gate) alone(who string, now time.Time) bool {
	for _, v := range g.recent {
		if v.who != who && v.who != "" && now.Sub(v.at) < activeFor {
			return false
		}
	}
	return true
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
	now := time.Now()
	g.noteVisit(e, now)
	limit := g.limit(e, now)
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
func (g *gate) limit(e entrant, now time.Time) int {
	switch {
	case !e.known:
		return g.a.Address
	case e.key.changes:
		return g.a.Changes
	case !g.alone(e.key.who, now):
		return min(g.a.Shared, g.a.Reads)
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

// leave gives the slot back, to those of the same share that wait if there are
// any and the share is not less by now.
func (g *gate) leave(e entrant, s *share) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.running--
	g.running--
	if !e.known {
		g.anonymous--
	}
	for limit := g.limit(e, time.Now()); len(s.waiting) > 0 && s.running < limit; {
		w := s.waiting[0]
		s.waiting = s.waiting[1:]
		if w.gone {
			continue
		}
		g.admit(e, s)
		close(w.admitted)
	}
	g.forget(e.key, s)
}

// forget drops a share that nobody uses.
func (g *gate) forget(key shareKey, s *share) {
	if s.running == 0 && len(s.waiting) == 0 {
		delete(g.shares, key)
	}
}
