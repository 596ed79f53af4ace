package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"vigil/internal/posture"
)

// rule finds groups that are open to all.
const rule = "aws-ec2-sg-ssh-open"

const (
	pageSize  = 50                    // findings that are looked at at a time, at least
	pollEvery = 25 * time.Millisecond // that somebody looks
	warmUp    = 15 * time.Second
)

// A watch knows which findings are expected, and since when.
type watch struct {
	mu       sync.Mutex
	expected map[posture.EntityID]expectation
	took     []time.Duration
}

type expectation struct {
	status string
	since  time.Time
}

// expect notes that a change is made. It reports false while an earlier change of
// the same resource has not been seen yet.
func (w *watch) expect(id posture.EntityID, open bool) bool {
	status := "Resolved"
	if open {
		status = "Open"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, busy := w.expected[id]; busy {
		return false
	}
	w.expected[id] = expectation{status, time.Now()}
	return true
}

// saw notes what the API shows: findings of this and other rules.
func (w *watch) saw(all []finding, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range all {
		if e, ok := w.expected[f.ObjectID]; ok && f.RuleID == rule && e.status == f.Status {
			w.took = append(w.took, now.Sub(e.since))
			delete(w.expected, f.ObjectID)
		}
	}
}

// left returns what was not seen yet.
func (w *watch) left() []posture.EntityID {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.expected))
}

// poll looks at the newest findings again and again, as a console would.
func (s *server) poll(ctx context.Context, w *watch) {
	for ctx.Err() == nil {
		size := min(posture.MaxPage, pageSize+2*len(w.left())) // what is waited for may come at once
		found, err := s.findings(ctx, map[string]any{}, size)
		if err != nil {
			if ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "stream:", err)
			}
			return
		}
		w.saw(found, time.Now())
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
		}
	}
}

// measure changes something at a steady rate and watches for the findings.
func measure(ctx context.Context, o options, c *cloud, s *server) (*result, error) {
	w := &watch{expected: map[posture.EntityID]expectation{}}
	polling, stop := context.WithCancel(ctx)
	var poll sync.WaitGroup
	poll.Go(func() { s.poll(polling, w) })
	defer poll.Wait()
	defer stop()
	if _, err := c.storm(ctx, w, o.Rate, warmUp); err != nil {
		return nil, err
	}
	if late := s.drain(ctx, w); late > 0 {
		return nil, fmt.Errorf("%d changes were never seen while all warmed up", late)
	}
	w.took = nil
	before, err := s.mark()
	if err != nil {
		return nil, err
	}
	own, begin := cpu(), time.Now()
	n, err := c.storm(ctx, w, o.Rate, o.Time)
	if err != nil {
		return nil, err
	}
	r := &result{changes: n, over: time.Since(begin)}
	r.late = s.drain(ctx, w)
	r.own, r.all = cpu()-own, time.Since(begin)
	after, err := s.mark()
	if err != nil {
		return nil, err
	}
	r.server, r.stages = after.CPU-before.CPU, after.Stages
	for name, was := range before.Stages {
		now := after.Stages[name]
		r.stages[name] = stage{now.Count - was.Count, now.Seconds - was.Seconds}
	}
	r.took = slices.Sorted(slices.Values(w.took))
	return r, nil
}

// cpu returns how much time this process has used.
func cpu() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// storm opens and closes groups at a rate, all accounts in turn.
func (c *cloud) storm(ctx context.Context, w *watch, rate float64, over time.Duration) (int, error) {
	tick := time.NewTicker(time.Duration(float64(time.Second) / rate))
	defer tick.Stop()
	n := 0
	for i, end := 0, time.Now().Add(over); time.Now().Before(end); i++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return n, ctx.Err()
		}
		ref := group(c.ids[i%len(c.ids)], i/len(c.ids)%perAccount)
		open := !c.open[ref]
		if !w.expect(entity(ref), open) {
			continue
		}
		if err := c.turn(ref, open); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// drain waits until all that is expected was seen and returns how many were not.
func (s *server) drain(ctx context.Context, w *watch) int {
	for deadline := time.Now().Add(30 * time.Second); len(w.left()) > 0 && time.Now().Before(deadline); {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return len(w.left())
		}
	}
	return len(w.left())
}
