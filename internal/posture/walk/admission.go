package walk

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"vigil/internal/fault"
	"vigil/internal/processors"
)

// Admission limits the number of concurrent queries. Zero fields mean defaults.
type Admission struct {
	Total  int           // limit for the server; default: twice the processors, at least 4
	Org    int           // limit per organisation; default: 4; at most Total-1, but at least 1
	Caller int           // limit per caller; default: 2
	Queue  int           // limit of waiting queries; default: 64
	Wait   time.Duration // maximum waiting time; default: 2 s
}

func (a Admission) orDefaults() Admission {
	a = Admission{
		Total: cmp.Or(a.Total, max(4, 2*processors.Count())), Org: cmp.Or(a.Org, 4), Caller: cmp.Or(a.Caller, 2),
		Queue: cmp.Or(a.Queue, 64), Wait: cmp.Or(a.Wait, 2*time.Second),
	}
	a.Org = min(a.Org, max(1, a.Total-1)) // one organisation cannot block the others
	return a
}

// A gate is a semaphore with limits for the server, each organisation and each caller.
type gate struct {
	limit Admission

	mu      sync.Mutex
	running int
	orgs    map[string]int
	callers map[string]int
	waiting int
	moved   chan struct{} // closed when a query leaves
}

func newGate(a Admission) *gate {
	return &gate{limit: a.orDefaults(), orgs: map[string]int{}, callers: map[string]int{}, moved: make(chan struct{})}
}

// enter waits until the query is within all limits. The caller must call leave afterwards. The
// error says which limit was exceeded: the caller's, the organisation's or the server's.
func (g *gate) enter(ctx context.Context, org, caller string) (leave func(), err error) {
	caller = org + "/" + caller
	wait, cancel := context.WithTimeout(ctx, g.limit.Wait)
	defer cancel()
	g.mu.Lock()
	defer g.mu.Unlock()
	for full := g.full(org, caller); full != nil; full = g.full(org, caller) {
		if g.waiting >= g.limit.Queue || wait.Err() != nil {
			return nil, full
		}
		g.waiting++
		moved := g.moved
		g.mu.Unlock()
		select {
		case <-moved:
		case <-wait.Done():
		}
		g.mu.Lock()
		g.waiting--
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	g.running++
	g.orgs[org]++
	g.callers[caller]++
	return func() { g.leave(org, caller) }, nil
}

func (g *gate) leave(org, caller string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	for key, counts := range map[string]map[string]int{org: g.orgs, caller: g.callers} {
		counts[key]--
		if counts[key] == 0 {
			delete(counts, key)
		}
	}
	close(g.moved)
	g.moved = make(chan struct{})
}

// full returns the error of the limit that is reached, or nil.
func (g *gate) full(org, caller string) error {
	switch {
	case g.callers[caller] >= g.limit.Caller:
		return limitReached(fault.Limited, "limit of %d concurrent expensive queries of this token reached; try again later", g.limit.Caller)
	case g.orgs[org] >= g.limit.Org:
		return limitReached(fault.Limited, "limit of %d concurrent expensive queries of this organisation reached; try again later", g.limit.Org)
	case g.running >= g.limit.Total:
		return limitReached(fault.Unavailable, "limit of concurrent expensive queries of the server reached; try again later")
	}
	return nil
}

func limitReached(k fault.Kind, format string, args ...any) error {
	return &fault.Error{Kind: k, Message: fmt.Sprintf(format, args...), After: time.Second}
}
