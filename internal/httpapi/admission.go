package httpapi

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"vigil/internal/fault"
	"vigil/internal/processors"
)

// Admission limits how many requests are handled at the same time. A zero field
// means its default, the value at the end of its comment.
type Admission struct {
	Total     int // of all callers; 512
	Reserved  int // part of Total that only administrators may use; a sixteenth of Total
	Anonymous int // limit for unauthenticated callers together; a quarter of Total
	Address   int // limit for one unauthenticated address; 32
	Reads     int // limit for one organisation, requests that change nothing; twice the processors, at least 4
	Shared    int // like Reads, while other organisations are active too; half of Reads
	Changes   int // limit for one organisation, requests that change something; 64

	CallerStreams int // open event streams of one caller; 16
	OrgStreams    int // open event streams of one organisation; 128
	AllStreams    int // open event streams of all callers; 1024

	Waiting int           // requests of one organisation or address that may queue; 1024
	Wait    time.Duration // how long a queued request waits before it fails; 30 s
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
	set(&a.CallerStreams, 16)
	set(&a.OrgStreams, 128)
	set(&a.AllStreams, 1024)
	set(&a.Waiting, 1024)
	if a.Wait == 0 {
		a.Wait = 30 * time.Second
	}
	return a
}

// A gate limits the concurrency of requests. Every organisation has its own
// limit and queue, so that one that sends many or expensive requests delays
// only itself. Reads and changes are counted separately: reads use the
// processor, while changes mostly wait for the disk and get cheaper in large
// numbers because they share commits.
type gate struct {
	a Admission

	mu        sync.Mutex
	running   int
	anonymous int
	shares    map[shareKey]*share
	recent    [2]activity // the last two organisations that sent requests, newest first
}

// activity is the time of an organisation's latest request.
type activity struct {
	caller string
	at     time.Time
}

// activeFor is how long after a request an organisation counts as active.
const activeFor = time.Second

// noteActivity records that an organisation sent a request now.
func (g *gate) noteActivity(e admissionRequest, now time.Time) {
	if !e.known {
		return
	}
	if g.recent[0].caller != e.key.caller {
		g.recent[1] = g.recent[0]
	}
	g.recent[0] = activity{e.key.caller, now}
}

// isOnlyActive reports whether no other organisation was active within activeFor.
func (g *gate) isOnlyActive(caller string, now time.Time) bool {
	for _, v := range g.recent {
		if v.caller != caller && v.caller != "" && now.Sub(v.at) < activeFor {
			return false
		}
	}
	return true
}

type shareKey struct {
	caller  string
	changes bool
}

// share holds the running and queued requests of one organisation or address.
type share struct {
	running int
	waiting []waiter // in order of arrival
}

// waiter is a queued request.
type waiter struct {
	admissionRequest
	admitted chan struct{} // closed when it is admitted
}

func newGate(a Admission) *gate {
	return &gate{a: a.withDefaults(), shares: make(map[shareKey]*share)}
}

// admissionRequest describes the sender of a request that needs a slot.
type admissionRequest struct {
	key   shareKey
	known bool // the guard authenticated the sender
	admin bool
}

// enter waits for a slot. The caller must call leave after the request was
// handled. It fails when the queue is full, the server is full, or the wait
// takes too long.
func (g *gate) enter(ctx context.Context, e admissionRequest) (leave func(), err error) {
	g.mu.Lock()
	s := g.shares[e.key]
	if s == nil {
		s = &share{}
		g.shares[e.key] = s
	}
	leave = func() { g.leave(e, s) }
	if !g.hasRoomFor(e) {
		g.forget(e.key, s)
		g.mu.Unlock()
		return nil, fault.New(fault.Unavailable, "the server handles too many requests at the moment; try again later")
	}
	now := time.Now()
	g.noteActivity(e, now)
	limit := g.limit(e, now)
	g.admitWaiting(s, limit) // the limit may have grown since the last request ended
	// If requests still wait although the limit is not reached, the server has no room for any of them. If the
	// server has room for this request, an administrator sent it, and it takes a slot that they may not use.
	if s.running < limit && g.hasRoomFor(e) {
		g.admit(e, s)
		g.mu.Unlock()
		return leave, nil
	}
	if len(s.waiting) >= g.a.Waiting {
		g.mu.Unlock()
		return nil, tooManyAtOnce(e, limit)
	}
	admitted := make(chan struct{})
	s.waiting = append(s.waiting, waiter{e, admitted})
	g.mu.Unlock()

	timer := time.NewTimer(g.a.Wait)
	defer timer.Stop()
	select {
	case <-admitted:
		return leave, nil
	case <-timer.C:
		err = tooManyAtOnce(e, limit)
	case <-ctx.Done():
		err = ctx.Err()
		if errors.Is(err, context.DeadlineExceeded) { // the timeout of the route ended before Wait
			err = tooManyAtOnce(e, limit)
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.IndexFunc(s.waiting, func(w waiter) bool { return w.admitted == admitted })
	if i < 0 { // admitted while the wait ended
		return leave, nil
	}
	s.waiting = slices.Delete(s.waiting, i, i+1)
	return nil, err
}

func tooManyAtOnce(e admissionRequest, limit int) error {
	subject := "this address"
	if e.known {
		subject = "your organisation"
	}
	return fault.New(fault.Limited, "%s reached the limit of %d concurrent requests; try again later", subject, limit)
}

// limit returns how many requests of one share may run at the same time.
func (g *gate) limit(e admissionRequest, now time.Time) int {
	switch {
	case !e.known:
		return g.a.Address
	case e.key.changes:
		return g.a.Changes
	case !g.isOnlyActive(e.key.caller, now):
		return min(g.a.Shared, g.a.Reads)
	}
	return g.a.Reads
}

// hasRoomFor reports whether the limits of the whole server allow one more
// request.
func (g *gate) hasRoomFor(e admissionRequest) bool {
	switch {
	case e.admin:
		return g.running < g.a.Total
	case !e.known && g.anonymous >= g.a.Anonymous:
		return false
	}
	return g.running < max(g.a.Total-g.a.Reserved, 1)
}

func (g *gate) admit(e admissionRequest, s *share) {
	s.running++
	g.running++
	if !e.known {
		g.anonymous++
	}
}

// leave releases a slot. The slot passes to the next queued request of the same
// share, unless the share's limit shrank meanwhile. Even a reserved slot passes: if
// nothing else of the share runs, no later call of leave would admit the queue.
func (g *gate) leave(e admissionRequest, s *share) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.running--
	g.running--
	if !e.known {
		g.anonymous--
	}
	limit := g.limit(e, time.Now())
	if len(s.waiting) > 0 && s.running < limit {
		g.admitWaiter(s, 0)
	}
	g.admitWaiting(s, limit)
	g.forget(e.key, s)
}

// admitWaiting admits queued requests of a share up to its limit, while the server has
// room. It passes over those without room: an administrator's request behind them may use
// a reserved slot.
func (g *gate) admitWaiting(s *share, limit int) {
	for s.running < limit {
		i := slices.IndexFunc(s.waiting, func(w waiter) bool { return g.hasRoomFor(w.admissionRequest) })
		if i < 0 {
			return
		}
		g.admitWaiter(s, i)
	}
}

// admitWaiter admits the queued request with an index.
func (g *gate) admitWaiter(s *share, i int) {
	w := s.waiting[i]
	s.waiting = slices.Delete(s.waiting, i, i+1)
	g.admit(w.admissionRequest, s)
	close(w.admitted)
}

// forget removes a share without running or queued requests.
func (g *gate) forget(key shareKey, s *share) {
	if s.running == 0 && len(s.waiting) == 0 {
		delete(g.shares, key)
	}
}
