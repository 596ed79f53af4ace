package probe

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"vigil/internal/desktop"
)

// runner looks at one target, time and again.
type runner struct {
	scheduler *Scheduler
	target    Target
	nudge     chan struct{} // holds one wish to look now
	cancel    context.CancelFunc
	closing   sync.Once

	mu       sync.Mutex
	flight   chan desktop.Observation // the look that is under way; nil when none is
	failures int                      // in a row
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
		case <-r.nudge:
		case <-timer.C:
		}
		found := r.look(ctx)
		if ctx.Err() != nil {
			return // the look was cut short by us: it says nothing of the target
		}
		timer.Reset(r.record(found))
		o.Observe(found)
	}
}

// record notes how a look ended and returns how long to wait for the next.
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

// look looks once, and gives up on a look that does not come back in time.
func (r *runner) look(ctx context.Context) desktop.Observation {
	o := r.scheduler.options
	timeout := cmp.Or(r.target.Timeout, o.Timeout)
	flight, fresh := r.depart(ctx, timeout)
	if !fresh {
		// The last look is still somewhere out there. Unless it lands right
		// now, this one ends as that one did.
		select {
		case <-flight:
			r.land()
			flight, _ = r.depart(ctx, timeout)
		default:
			return r.abandoned("the probe has not come back from an earlier look")
		}
	}
	timer := time.NewTimer(timeout + abandonGrace)
	defer timer.Stop()
	select {
	case found := <-flight:
		r.land()
		return found
	case <-timer.C:
		return r.abandoned("it did not answer in time, and the probe was given up")
	case <-ctx.Done():
		return desktop.Observation{}
	}
}

// depart begins a look, unless one is under way.
func (r *runner) depart(ctx context.Context, timeout time.Duration) (flight chan desktop.Observation, fresh bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.flight != nil {
		return r.flight, false
	}
	flight = make(chan desktop.Observation, 1)
	r.flight = flight
	r.scheduler.flights.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		flight <- r.target.observe(ctx, r.scheduler.options.Now)
		r.arrived()
	})
	return flight, true
}

// land takes note that the result of a look was taken.
func (r *runner) land() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flight = nil
}

// arrived lets go of what the target keeps when it was stopped meanwhile.
func (r *runner) arrived() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		r.closing.Do(r.target.close)
	}
}

// inFlight reports whether a look has not come back.
func (r *runner) inFlight() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.flight != nil && len(r.flight) == 0
}

func (r *runner) abandoned(why string) desktop.Observation {
	return desktop.Observation{
		Kind: r.target.Ref.Kind, ID: r.target.Ref.ID, At: r.scheduler.options.Now(),
		Failure: &desktop.Failure{Cause: desktop.Unreachable, Reason: r.target.Ref.Name + ": " + why},
	}
}

// stop ends a runner whose target is gone. A look that is under way is not
// waited for; when it comes back, the target is closed.
func (r *runner) stop() {
	if r.cancel != nil {
		r.cancel()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	if r.flight == nil || len(r.flight) > 0 {
		r.closing.Do(r.target.close)
	}
}

// wake has the next look happen now. A wish that is already there will do.
func (r *runner) wake() {
	select {
	case r.nudge <- struct{}{}:
	default:
	}
}

func (r *runner) nudgeIfFailing() {
	r.mu.Lock()
	failing := r.failures > 0
	r.mu.Unlock()
	if failing {
		r.wake()
	}
}
