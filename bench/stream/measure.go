package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"vigil/internal/posture"
)

// rule finds groups that are open to all.
const rule = "aws-ec2-sg-ssh-open"

const (
	pageSize  = 100                   // findings that are looked at at a time
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
		if e, ok := w.expected[f.EntityID]; ok && f.RuleID == rule && e.status == f.Status {
			w.took = append(w.took, now.Sub(e.since))
			delete(w.expected, f.EntityID)
		}
	}
}

// longest returns for how long something is expected already.
func (w *watch) longest() (d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.expected {
		d = max(d, time.Since(e.since))
	}
	return d
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
		size := pageSize
		if w.longest() > time.Second { // what came was perhaps not on the page
			size = min(posture.MaxPage, pageSize+2*len(w.left()))
		}
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
	if _, err := c.storm(ctx, w, c.plan(o.Rate, warmUp)); err != nil {
		return nil, err
	}
	if late := s.drain(ctx, w); late > 0 {
		return nil, fmt.Errorf("%d changes were never seen while all warmed up", late)
	}
	w.took = nil
	steps := c.plan(o.Rate, o.Time)
	before, err := s.mark()
	if err != nil {
		return nil, err
	}
	own, begin, kept := cpu(), time.Now(), withheld()
	n, err := c.storm(ctx, w, steps)
	if err != nil {
		return nil, err
	}
	r := &result{changes: n, over: time.Since(begin)}
	r.late = s.drain(ctx, w)
	r.own, r.all, r.withheld = cpu()-own, time.Since(begin), withheld()-kept
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

// withheld returns for how long the machine's own host has given its processors to
// others while it had something to do. It is 0 where nobody says.
func withheld() time.Duration {
	text, _ := os.ReadFile("/proc/stat")
	fields := strings.Fields(string(text)) // cpu, then user, nice, system, idle, iowait, irq, softirq and steal
	if len(fields) < 9 {
		return 0
	}
	ticks, _ := strconv.ParseInt(fields[8], 10, 64)
	return time.Duration(ticks) * 10 * time.Millisecond
}

// storm makes changes, each at its time.
func (c *cloud) storm(ctx context.Context, w *watch, steps []step) (int, error) {
	n := 0
	for _, s := range steps {
		select {
		case <-time.After(time.Until(s.at)):
		case <-ctx.Done():
			return n, ctx.Err()
		}
		open := !c.open[s.ref]
		if !w.expect(entity(s.ref), open) {
			continue
		}
		if err := c.turn(s.ref, open); err != nil {
			return n, err
		}
		s.tell()
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
