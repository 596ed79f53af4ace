package probe

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"vigil/internal/desktop"
)

// runner probes one target periodically.
type runner struct {
	scheduler *Scheduler
	target    Target
	trigger   chan struct{} // buffered request to probe now
	cancel    context.CancelFunc
	closing   sync.Once

	mu       sync.Mutex
	running  chan desktop.Observation // gets the result when the last probe ends; nil before the first probe and after resultTaken
	failures int                      // in succession
	last     *desktop.Failure
	stopped  bool
}

func (r *runner) run(ctx context.Context) {
	o := r.scheduler.options
	timer := time.NewTimer(time.Duration(rand.Float64() * float64(min(o.Spread, o.Interval))))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.trigger:
		case <-timer.C:
		}
		found := r.probe(ctx)
		if ctx.Err() != nil {
			return // the probe was cancelled by stop: its result is meaningless
		}
		timer.Reset(r.record(found))
		o.Observe(found)
	}
}

// record records the result of a probe and returns the time until the next.
func (r *runner) record(found desktop.Observation) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = found.Failure
	r.failures++
	if found.Failure == nil {
		r.failures = 0
	}
	return r.scheduler.options.pause(r.target, r.failures, r.last)
}

// probe probes once and abandons a probe that exceeds its timeout.
func (r *runner) probe(ctx context.Context) desktop.Observation {
	o := r.scheduler.options
	timeout := cmp.Or(r.target.Timeout, o.Timeout)
	running, started := r.startProbe(ctx, timeout)
	if !started {
		// An earlier probe was abandoned. If it has ended meanwhile, its result is
		// discarded and a new probe starts, else this attempt fails as well.
		select {
		case <-running:
			r.resultTaken()
			running, _ = r.startProbe(ctx, timeout)
		default:
			return r.abandon("an earlier probe is still running")
		}
	}
	timer := time.NewTimer(timeout + abandonGrace)
	defer timer.Stop()
	select {
	case found := <-running:
		r.resultTaken()
		return found
	case <-timer.C:
		return r.abandon("it did not answer in time, and the probe was abandoned")
	case <-ctx.Done():
		return desktop.Observation{}
	}
}

// startProbe starts a probe, unless one is running.
func (r *runner) startProbe(ctx context.Context, timeout time.Duration) (running chan desktop.Observation, started bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running != nil {
		return r.running, false
	}
	running = make(chan desktop.Observation, 1)
	r.running = running
	r.scheduler.probes.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		running <- r.target.observe(ctx, r.scheduler.options.Now)
		r.probeEnded(running)
	})
	return running, true
}

// resultTaken records that the result of a probe was received.
func (r *runner) resultTaken() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = nil
}

// probeEnded closes the target if it was stopped while the probe ran. If the next probe
// runs already, because the result was taken before this call, that probe closes the
// target when it ends.
func (r *runner) probeEnded(ended chan desktop.Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	nextRuns := r.running != nil && r.running != ended
	if r.stopped && !nextRuns {
		r.closing.Do(r.target.close)
	}
}

// isRunning reports whether a probe is running.
func (r *runner) isRunning() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running != nil && len(r.running) == 0
}

func (r *runner) abandon(reason string) desktop.Observation {
	return desktop.Observation{
		Kind: r.target.Ref.Kind, ID: r.target.Ref.ID, At: r.scheduler.options.Now(),
		Failure: &desktop.Failure{Cause: desktop.Unreachable, Reason: r.target.Ref.Name + ": " + reason},
	}
}

// stop stops the runner of a removed target. It does not wait for a running
// probe; the target is closed when that ends.
func (r *runner) stop() {
	if r.cancel != nil {
		r.cancel()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	if r.running == nil || len(r.running) > 0 {
		r.closing.Do(r.target.close)
	}
}

// wake triggers the next probe now. A pending request is not repeated.
func (r *runner) wake() {
	select {
	case r.trigger <- struct{}{}:
	default:
	}
}

func (r *runner) triggerIfFailing() {
	r.mu.Lock()
	failing := r.failures > 0
	r.mu.Unlock()
	if failing {
		r.wake()
	}
}
