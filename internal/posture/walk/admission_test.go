package walk

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vigil/internal/fault"
)

// An outcome is the result of entering a gate.
type outcome struct {
	leave func()
	err   error
	after time.Duration
}

func (o *outcome) isAdmitted() bool { return o != nil && o.err == nil }

// try enters a gate in a goroutine. The returned function yields the outcome, nil while the query
// waits.
func try(ctx context.Context, g *gate, org, caller string) func() *outcome {
	var result atomic.Pointer[outcome]
	start := time.Now()
	go func() {
		leave, err := g.enter(ctx, org, caller)
		result.Store(&outcome{leave, err, time.Since(start)})
	}()
	synctest.Wait()
	return result.Load
}

func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Admission{Total: 4, Org: 3, Caller: 2, Queue: 2, Wait: 2 * time.Second})
		ctx := t.Context()
		one, two := try(ctx, g, "a", "x"), try(ctx, g, "a", "x")
		if !one().isAdmitted() || !two().isAdmitted() {
			t.Fatal("two queries of a caller were not admitted")
		}
		third := try(ctx, g, "a", "x")
		if third() != nil {
			t.Fatal("a third query of a caller was admitted")
		}
		other := try(ctx, g, "a", "y")
		if !other().isAdmitted() {
			t.Fatal("another caller was not admitted")
		}
		fourth := try(ctx, g, "a", "z")
		if fourth() != nil {
			t.Fatal("an organisation exceeded its limit")
		}
		if excess := try(ctx, g, "a", "z")(); excess == nil || !fault.Is(excess.err, fault.Limited) {
			t.Fatal("the queue exceeded its limit")
		}
		last := try(ctx, g, "b", "x")
		if !last().isAdmitted() {
			t.Fatal("another organisation was not admitted")
		}

		one().leave()
		synctest.Wait()
		if third().isAdmitted() == fourth().isAdmitted() {
			t.Fatal("one query left, but not exactly one of the two that waited was admitted")
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		queued := third()
		if queued.isAdmitted() {
			queued = fourth()
		}
		if queued == nil || !fault.Is(queued.err, fault.Limited) || queued.after != 2*time.Second {
			t.Errorf("a query that waited too long got %+v", queued)
		}

		canceled, cancel := context.WithCancel(ctx)
		waiting := try(canceled, g, "a", "q")
		cancel()
		synctest.Wait()
		if !errors.Is(waiting().err, context.Canceled) {
			t.Errorf("a cancelled query got %v", waiting().err)
		}
		for _, each := range []func() *outcome{two, other, last, third, fourth} {
			if each().isAdmitted() {
				each().leave()
			}
		}
		if g.running != 0 || len(g.orgs) != 0 || len(g.callers) != 0 || g.waiting != 0 {
			t.Errorf("the gate is not empty: %+v", g)
		}
	})
}

// TestGateAdmitsAtTheEndOfTheWait frees a place at the moment at which the waiting time of a query ends.
func TestGateAdmitsAtTheEndOfTheWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGate(Admission{Total: 4, Org: 3, Caller: 1, Queue: 2, Wait: 2 * time.Second})
		g.running, g.orgs["a"], g.callers["a/x"] = 1, 1, 1
		waiting := try(t.Context(), g, "a", "x")
		g.mu.Lock() // the query wakes when its time ends, and then waits for the lock
		time.Sleep(g.limit.Wait)
		g.running = 0
		clear(g.orgs)
		clear(g.callers)
		g.mu.Unlock()
		synctest.Wait()
		if got := waiting(); !got.isAdmitted() {
			t.Errorf("the query got %+v, want it to be admitted", got)
		}
	})
}

func TestGateNamesTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		for _, c := range []struct {
			limit     Admission
			in        []string // org/caller of running queries
			org, user string   // the new query
			kind      fault.Kind
			message   string
		}{
			{Admission{Total: 9, Org: 5, Caller: 1}, []string{"a/x"}, "a", "x", fault.Limited, "of this token"},
			{Admission{Total: 9, Org: 2, Caller: 2}, []string{"a/x", "a/y"}, "a", "z", fault.Limited, "of this organisation"},
			{Admission{Total: 2, Org: 1, Caller: 1}, []string{"a/x", "b/x"}, "c", "x", fault.Unavailable, "the server"},
			{Admission{Total: 2, Org: 2, Caller: 2}, []string{"a/x"}, "a", "y", fault.Limited, "of this organisation"}, // one place is left for other organisations
			{Admission{Total: 1, Org: 1, Caller: 1}, []string{"a/x"}, "b", "x", fault.Unavailable, "the server"},
		} {
			g := newGate(c.limit)
			for _, query := range c.in {
				org, caller, _ := strings.Cut(query, "/")
				if !try(ctx, g, org, caller)().isAdmitted() {
					t.Fatalf("%+v: %s is not admitted", c.limit, query)
				}
			}
			_, err := g.enter(ctx, c.org, c.user)
			e, _ := errors.AsType[*fault.Error](err)
			if e == nil || e.Kind != c.kind || !strings.Contains(e.Message, c.message) || e.After <= 0 {
				t.Errorf("%+v: %s/%s got %v, want fault kind %v, a time to try again and %q", c.limit, c.org, c.user, err, c.kind, c.message)
			}
		}
	})
}
