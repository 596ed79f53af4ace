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

// Admission bounds how many queries run at a time. Zero fields stand for
// defaults.
type Admission struct {
	Total  int           // in all; twice the processors, at least 4
	Org    int           // of one organisation; 4, and never all there are
	Caller int           // of one caller; 2
	Queue  int           // that wait for their turn; 64
	Wait   time.Duration // how long they wait; 2 s
}

func (a Admission) orDefaults() Admission {
	a = Admission{
		Total: cmp.Or(a.Total, max(4, 2*processors.Count())), Org: cmp.Or(a.Org, 4), Caller: cmp.Or(a.Caller, 2),
		Queue: cmp.Or(a.Queue, 64), Wait: cmp.Or(a.Wait, 2*time.Second),
	}
	a.Org = min(a.Org, max(1, a.Total-1)) // one organisation does not shut out the others
	return a
}

// A gate lets queries in as long as there is room for all, for their
// organisation and for their caller.
type gate struct {
	limit Admission

	mu      sync.Mutex
	running int
	orgs    map[string]int
	callers map[string]int
	waiting int
	moved   chan struct{} // closed when somebody leaves
}

func newGate(a Admission) *gate {
	return &gate{limit: a.orDefaults(), orgs: map[string]int{}, callers: map[string]int{}, moved: make(chan struct{})}
}

// enter waits for room. Whoever was let in calls leave. Who was not is told which
// limit it was: their own, or that of the server.
func (g *gate) enter(ctx context.Context, org, caller string) (leave func(), err error) {
	caller = org + "/" + caller
	wait, cancel := context.WithTimeout(ctx, g.limit.Wait)
	defer cancel()
	g.mu.Lock()
	defer g.mu.Unlock()
	for full := g.full(org, caller); full != nil; full = g.full(org, caller) {
		if g.waiting >= g.limit.Queue {
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
		if wait.Err() != nil {
			return nil, full
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
	for who, counts := range map[string]map[string]int{org: g.orgs, caller: g.callers} {
		if counts[who]--; counts[who] == 0 {
			delete(counts, who)
		}
	}
	close(g.moved)
	g.moved = make(chan struct{})
}

// full returns why there is no room, or nil.
func (g *gate) full(org, caller string) error {
	switch {
	case g.callers[caller] >= g.limit.Caller:
		return crowded(fault.Limited, "as many graph queries of this token run as may at a time (%d); try again", g.limit.Caller)
	case g.orgs[org] >= g.limit.Org:
		return crowded(fault.Limited, "as many graph queries of this organisation run as may at a time (%d); try again", g.limit.Org)
	case g.running >= g.limit.Total:
		return crowded(fault.Unavailable, "the server runs as many graph queries as it can; try again")
	}
	return nil
}

func crowded(k fault.Kind, format string, args ...any) error {
	return &fault.Error{Kind: k, Message: fmt.Sprintf(format, args...), After: time.Second}
}
