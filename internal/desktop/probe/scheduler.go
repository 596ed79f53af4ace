package probe

import (
	"cmp"
	"context"
	"math/rand/v2"
	"reflect"
	"sync"
	"time"

	"vigil/internal/desktop"
)

// Options configure the intervals and timeouts of probes.
type Options struct {
	Interval     time.Duration    // between probes of a component; 30 s when 0
	Timeout      time.Duration    // of one probe; 10 s when 0
	MaxBackoff   time.Duration    // the longest pause after failures; 5 min when 0
	RefusedPause time.Duration    // the pause after refused credentials; 15 min when 0
	Spread       time.Duration    // over which the first probes are spread; 2 s when 0
	StopGrace    time.Duration    // how long Run waits for running probes; 5 s when 0
	Now          func() time.Time // time.Now when nil

	// Observe is called with the result of every probe. It must return quickly.
	Observe func(desktop.Observation)
}

// failuresBeforeBackoff is the number of failures in succession that are retried at
// the normal interval.
const failuresBeforeBackoff = 3

// jitter is the random variation of intervals, as a fraction, so that probes do
// not synchronise.
const jitter = 0.1

// abandonGrace is how long a probe may exceed its timeout before it is
// abandoned.
const abandonGrace = time.Second

// Scheduler probes targets until it is stopped.
type Scheduler struct {
	options Options

	mu      sync.Mutex
	running context.Context // nil unless Run is running
	runners map[key]*runner
	wait    sync.WaitGroup // waits for the runners' goroutines
	probes  sync.WaitGroup // waits for running probes, including abandoned ones
}

type key struct {
	kind desktop.Kind
	id   desktop.ID
}

// New returns a scheduler without targets.
func New(o Options) *Scheduler {
	o.Interval = cmp.Or(o.Interval, 30*time.Second)
	o.Timeout = cmp.Or(o.Timeout, 10*time.Second)
	o.MaxBackoff = cmp.Or(o.MaxBackoff, 5*time.Minute)
	o.RefusedPause = cmp.Or(o.RefusedPause, 15*time.Minute)
	o.Spread = cmp.Or(o.Spread, 2*time.Second)
	o.StopGrace = cmp.Or(o.StopGrace, 5*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Scheduler{options: o, runners: make(map[key]*runner)}
}

// Configure sets the targets. New and changed targets are probed soon, and so
// are failing ones, because the reload may have fixed them. The schedule of the
// others does not change.
func (s *Scheduler) Configure(targets []Target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.runners
	s.runners = make(map[key]*runner, len(targets))
	for _, t := range targets {
		k := key{t.Ref.Kind, t.Ref.ID}
		if r := old[k]; r != nil && reflect.DeepEqual(r.target.Spec, t.Spec) {
			t.close() // not used: the old target is kept, with its connections
			s.runners[k] = r
			delete(old, k)
			r.triggerIfFailing()
			continue
		}
		r := &runner{scheduler: s, target: t, trigger: make(chan struct{}, 1)}
		s.runners[k] = r
		if s.running != nil {
			s.start(r)
		}
	}
	for _, r := range old {
		r.stop()
	}
}

// start starts a runner's goroutine. The caller holds the lock.
func (s *Scheduler) start(r *runner) {
	ctx, cancel := context.WithCancel(s.running)
	r.cancel = cancel
	s.wait.Go(func() { r.run(ctx) })
}

// Run probes the targets until the context is done, and waits for running
// probes. It returns how many did not end.
func (s *Scheduler) Run(ctx context.Context) (stuck int) {
	s.mu.Lock()
	s.running = ctx
	for _, r := range s.runners {
		s.start(r)
	}
	s.mu.Unlock()
	<-ctx.Done()
	s.mu.Lock()
	s.running = nil // start no further probes
	s.mu.Unlock()
	s.wait.Wait()
	probesEnded := make(chan struct{})
	go func() {
		s.probes.Wait()
		close(probesEnded)
	}()
	select {
	case <-probesEnded:
	case <-time.After(s.options.StopGrace):
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runners {
		r.stop()
		if r.isRunning() {
			stuck++
		}
	}
	return stuck
}

// Probe triggers a probe of a component now. It returns false if there is no
// such target.
func (s *Scheduler) Probe(k desktop.Kind, id desktop.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runners[key{k, id}]
	if r != nil {
		r.wake()
	}
	return r != nil
}

// ProbeAll triggers a probe of every component now.
func (s *Scheduler) ProbeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runners {
		r.wake()
	}
}

// pause returns the time until the next probe after a number of failures in
// succession.
func (o Options) pause(t Target, failures int, last *desktop.Failure) time.Duration {
	wait := o.Interval
	switch {
	case last != nil && last.Cause == desktop.Refused && !t.Careful:
		wait = max(o.RefusedPause, o.Interval)
	case failures > failuresBeforeBackoff:
		for range min(failures-failuresBeforeBackoff, 30) { // 30 doublings reach any MaxBackoff
			wait = min(2*wait, max(o.MaxBackoff, o.Interval))
		}
	}
	return wait + time.Duration((2*rand.Float64()-1)*jitter*float64(wait))
}

// Once probes every target once, all concurrently, and returns the results in
// the order of the targets.
func Once(ctx context.Context, targets []Target, timeout time.Duration, now func() time.Time) []desktop.Observation {
	out := make([]desktop.Observation, len(targets))
	var wait sync.WaitGroup
	for i, t := range targets {
		wait.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, cmp.Or(t.Timeout, timeout))
			defer cancel()
			out[i] = t.observe(ctx, now)
			t.close()
		})
	}
	wait.Wait()
	return out
}
