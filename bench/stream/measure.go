package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"vigil/internal/posture"
)

// rule finds groups that are open to the internet.
const rule = "aws-ec2-sg-ssh-open"

const (
	pageSize  = 100                   // findings per page
	pollEvery = 50 * time.Millisecond // pause between polls
	warmUp    = 15 * time.Second
)

// A watch holds the expected findings with the times of their changes.
type watch struct {
	mu       sync.Mutex
	expected map[posture.EntityID]expectation
	delays   []time.Duration
}

type expectation struct {
	status string
	since  time.Time
}

// expect records a change. It returns false while an earlier change of the same
// resource has not been seen.
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

// observe records the findings that the API shows.
func (w *watch) observe(all []finding, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range all {
		if e, ok := w.expected[f.EntityID]; ok && f.RuleID == rule && e.status == f.Status {
			w.delays = append(w.delays, now.Sub(e.since))
			delete(w.expected, f.EntityID)
		}
	}
}

// oldest returns the time of the oldest change that has not been seen, or the zero time.
func (w *watch) oldest() (t time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.expected {
		if t.IsZero() || e.since.Before(t) {
			t = e.since
		}
	}
	return t
}

// remaining returns the number of changes that have not been seen.
func (w *watch) remaining() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.expected)
}

// poll reads the updated findings of the rule again and again, like a client that mirrors
// findings. A failed poll does not end it: the next one reads what this one has missed.
func (s *server) poll(ctx context.Context, w *watch) {
	failed := false // the last poll
	for ctx.Err() == nil {
		err := s.readUpdated(ctx, w)
		if err != nil && !failed && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "stream:", err)
		}
		failed = err != nil
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
		}
	}
}

// readUpdated reads the findings of the rule, the last updated first, page by page back to
// the oldest change that has not been seen.
func (s *server) readUpdated(ctx context.Context, w *watch) error {
	since, token := w.oldest(), ""
	for {
		page, err := s.findings(ctx, map[string]any{"ruleIds": []string{rule}}, pageSize, token)
		if err != nil {
			return err
		}
		w.observe(page.Results, time.Now())
		n := len(page.Results)
		if since.IsZero() || n < pageSize || page.Results[n-1].Updated.Before(since) {
			return nil
		}
		token = page.Token
	}
}

// measure makes changes at a steady rate and waits for the findings.
func measure(ctx context.Context, o options, c *cloud, s *server) (*result, error) {
	w := &watch{expected: map[posture.EntityID]expectation{}}
	polling, stop := context.WithCancel(ctx)
	var poll sync.WaitGroup
	poll.Go(func() { s.poll(polling, w) })
	defer poll.Wait()
	defer stop()
	if _, err := c.makeChanges(ctx, w, c.plan(o.Rate, warmUp)); err != nil {
		return nil, err
	}
	if missing := s.drain(ctx, w); missing > 0 {
		return nil, fmt.Errorf("%d changes were not seen during the warm-up", missing)
	}
	w.delays = nil
	steps := c.plan(o.Rate, o.Time)
	before, err := s.counters()
	if err != nil {
		return nil, err
	}
	cpuBefore, begin, stealBefore := cpu(), time.Now(), stealTime()
	n, err := c.makeChanges(ctx, w, steps)
	if err != nil {
		return nil, err
	}
	r := &result{changes: n, duration: time.Since(begin)}
	r.missing = s.drain(ctx, w)
	r.benchCPU, r.all, r.stealTime = cpu()-cpuBefore, time.Since(begin), stealTime()-stealBefore
	after, err := s.counters()
	if err != nil {
		return nil, err
	}
	r.server, r.stages = after.CPU-before.CPU, after.Stages
	for name, old := range before.Stages {
		now := after.Stages[name]
		r.stages[name] = stage{now.Count - old.Count, now.Seconds - old.Seconds}
	}
	r.delays = slices.Sorted(slices.Values(w.delays))
	return r, nil
}

// cpu returns the CPU time of this process.
func cpu() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// stealTime returns the steal time of the machine: how long its host gave its
// processors to others while it had work. It is 0 if unknown.
func stealTime() time.Duration {
	text, _ := os.ReadFile("/proc/stat")
	fields := strings.Fields(string(text)) // cpu, then user, nice, system, idle, iowait, irq, softirq and steal
	if len(fields) < 9 {
		return 0
	}
	ticks, _ := strconv.ParseInt(fields[8], 10, 64)
	return time.Duration(ticks) * 10 * time.Millisecond
}

// makeChanges makes the changes at their times, without those of groups whose last change
// has not been seen, and returns their number.
func (c *cloud) makeChanges(ctx context.Context, w *watch, steps []step) (int, error) {
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
		if err := c.setOpen(s.ref, open); err != nil {
			return n, err
		}
		s.send()
		n++
	}
	return n, nil
}

// drain waits until all expected changes have been seen, for at most 30 seconds, and
// returns the number of those that were not.
func (s *server) drain(ctx context.Context, w *watch) int {
	for deadline := time.Now().Add(30 * time.Second); w.remaining() > 0 && time.Now().Before(deadline); {
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return w.remaining()
		}
	}
	return w.remaining()
}
