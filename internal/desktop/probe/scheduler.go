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

// Options says how often and how long to look.
type Options struct {
	Interval     time.Duration    // between looks at a component; 30 s when 0
	Timeout      time.Duration    // of one look; 10 s when 0
	MaxBackoff   time.Duration    // the longest pause after failures; 5 min when 0
	RefusedPause time.Duration    // the pause after refused credentials; 15 min when 0
	Spread       time.Duration    // over which the first looks are spread; 2 s when 0
	StopGrace    time.Duration    // how long Run waits for looks that are under way; 5 s when 0
	Now          func() time.Time // time.Now when nil

	// Observe takes what the looks find. It must be quick.
	Observe func(desktop.Observation)
}

// patientFailures is how many failures in a row are retried at the usual pace.
const patientFailures = 3

// jitter is the part of an interval by which looks are shifted at random, so
// that they do not fall into step.
const jitter = 0.1

// abandonGrace is what a look may take beyond its timeout before it is
// abandoned.
const abandonGrace = time.Second

// Scheduler looks at targets until it is stopped.
type Scheduler struct {
	options Options

	mu      sync.Mutex
	running context.Context // nil unless Run is under way
	runners map[key]*runner
	wait    sync.WaitGroup // for the runners' goroutines
	flights sync.WaitGroup // for looks that are under way, also abandoned ones
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

// Configure sets the targets. Those that are new or changed are looked at soon,
// and so are those that failed last: whoever reloads may have mended them. The
// others go on as they were.
func (s *Scheduler) Configure(targets []Target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.runners
	s.runners = make(map[key]*runner, len(targets))
	for _, t := range targets {
		k := key{t.Ref.Kind, t.Ref.ID}
		if r := old[k]; r != nil && reflect.DeepEqual(r.target.Spec, t.Spec) {
			t.close()
			s.runners[k] = r
			delete(old, k)
			r.nudgeIfFailing()
			continue
		}
		r := &runner{scheduler: s, target: t, nudge: make(chan struct{}, 1)}
		s.runners[k] = r
		if s.running != nil {
			s.start(r)
		}
	}
	for _, r := range old {
		r.stop()
	}
}

// start begins a runner's goroutine. The caller holds the lock.
func (s *Scheduler) start(r *runner) {
	ctx, cancel := context.WithCancel(s.running)
	r.cancel = cancel
	s.wait.Go(func() { r.run(ctx) })
}

// Run looks at the targets until the context ends, and waits for the looks that
// are under way. It returns how many did not come back.
func (s *Scheduler) Run(ctx context.Context) (stuck int) {
	s.mu.Lock()
	s.running = ctx
	for _, r := range s.runners {
		s.start(r)
	}
	s.mu.Unlock()
	<-ctx.Done()
	s.mu.Lock()
	s.running = nil // nothing is started any more
	s.mu.Unlock()
	s.wait.Wait()
	landed := make(chan struct{})
	go func() {
		s.flights.Wait()
		close(landed)
	}()
	select {
	case <-landed:
	case <-time.After(s.options.StopGrace):
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runners {
		r.stop()
		if r.inFlight() {
			stuck++
		}
	}
	return stuck
}

// Look has a component looked at now rather than when it is due. It reports
// whether there is such a target.
func (s *Scheduler) Look(k desktop.Kind, id desktop.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runners[key{k, id}]
	if r != nil {
		r.wake()
	}
	return r != nil
}

// LookAll has every component looked at now.
func (s *Scheduler) LookAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.runners {
		r.wake()
	}
}

// pause is how long to wait after a look, given how many failed in a row.
func (o Options) pause(t Target, failures int, last *desktop.Failure) time.Duration {
	wait := o.Interval
	switch {
	case last != nil && last.Cause == desktop.Refused && !t.Careful:
		wait = max(o.RefusedPause, o.Interval)
	case failures > patientFailures:
		for range min(failures-patientFailures, 30) {
			wait = min(2*wait, max(o.MaxBackoff, o.Interval))
		}
	}
	return wait + time.Duration((2*rand.Float64()-1)*jitter*float64(wait))
}

// Once looks at every target once, all at a time, and returns what was found in
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
