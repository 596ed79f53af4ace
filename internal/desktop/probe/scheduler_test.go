package probe

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"vigil/internal/desktop"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder collects the observations of a scheduler.
type recorder struct {
	mu    sync.Mutex
	found []desktop.Observation
}

func (r *recorder) observe(o desktop.Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found = append(r.found, o)
}

// observationsOf returns the observations of a target.
func (r *recorder) observationsOf(id desktop.ID) (out []desktop.Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, o := range r.found {
		if o.ID == id {
			out = append(out, o)
		}
	}
	return out
}

func target(id desktop.ID, probe Probe) Target {
	return Target{Ref: desktop.Ref{Kind: desktop.KindComposer, ID: id, Name: string(id)}, Spec: id, Probe: probe}
}

func successfulRead(context.Context) (desktop.Reading, *desktop.Certificate, error) {
	return desktop.ComposerReading{}, nil, nil
}

func failingProbe(c desktop.Cause) Probe {
	return func(context.Context) (desktop.Reading, *desktop.Certificate, error) {
		return nil, nil, &desktop.Failure{Cause: c, Reason: "broken"}
	}
}

// run runs a scheduler in the background. It returns a function that stops the
// scheduler and returns the number of probes that did not end.
func run(t *testing.T, s *Scheduler) (stop func() int) {
	ctx, cancel := context.WithCancel(t.Context())
	stuck := make(chan int)
	go func() { stuck <- s.Run(ctx) }()
	return func() int { cancel(); return <-stuck }
}

func TestSchedulerProbesAtIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rec recorder
		s := New(Options{Observe: rec.observe})
		s.Configure([]Target{target("a", successfulRead), target("b", successfulRead)})
		stop := run(t, s)
		time.Sleep(10 * time.Minute)
		if n := stop(); n != 0 {
			t.Errorf("%d probes did not end", n)
		}
		for _, id := range []desktop.ID{"a", "b"} {
			found := rec.observationsOf(id)
			if n := len(found); n < 18 || n > 23 { // every 30 s with a jitter of 10%
				t.Errorf("%s was probed %d times in 10 minutes", id, n)
			}
			for i := 1; i < len(found); i++ {
				if gap := found[i].At.Sub(found[i-1].At); gap < 27*time.Second || gap > 33*time.Second {
					t.Errorf("%s was probed after %v", id, gap)
				}
			}
		}
	})
}

func TestSchedulerBacksOff(t *testing.T) {
	for _, tt := range []struct {
		name    string
		cause   desktop.Cause
		careful bool
		low     int // probes in an hour
		high    int
	}{
		{"from a target that does not answer", desktop.Unreachable, false, 12, 22},
		{"from a target that refuses the credentials, at once", desktop.Refused, false, 4, 6},
		{"unless the probe never retries refused credentials", desktop.Refused, true, 12, 22},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var rec recorder
				s := New(Options{Observe: rec.observe})
				bad := target("a", failingProbe(tt.cause))
				bad.Careful = tt.careful
				s.Configure([]Target{bad})
				stop := run(t, s)
				time.Sleep(time.Hour)
				stop()
				if n := len(rec.observationsOf("a")); n < tt.low || n > tt.high {
					t.Errorf("it was probed %d times in an hour, want %d to %d", n, tt.low, tt.high)
				}
			})
		})
	}
}

func TestProbeThatHangsForEverDelaysNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rec recorder
		var hanging atomic.Int32
		release := make(chan struct{})
		hang := func(context.Context) (desktop.Reading, *desktop.Certificate, error) {
			hanging.Add(1)
			<-release // ignores the context
			return desktop.ComposerReading{}, nil, nil
		}
		s := New(Options{Observe: rec.observe})
		targets := []Target{target("good", successfulRead)}
		for _, id := range []desktop.ID{"h1", "h2", "h3"} {
			targets = append(targets, target(id, hang))
		}
		s.Configure(targets)
		stop := run(t, s)
		time.Sleep(10 * time.Minute)
		if n := len(rec.observationsOf("good")); n < 18 {
			t.Errorf("the good target was probed %d times in 10 minutes", n)
		}
		if n := hanging.Load(); n != 3 {
			t.Errorf("%d probes hang, want one per target", n)
		}
		found := rec.observationsOf("h1")
		if len(found) < 5 {
			t.Fatalf("the hanging target was reported %d times", len(found))
		}
		if f := found[0].Failure; f == nil || f.Cause != desktop.Unreachable {
			t.Errorf("a hanging probe is reported as %+v", found[0])
		}
		if n := stop(); n != 3 {
			t.Errorf("Run returned %d, want the 3 that hang", n)
		}
		close(release)
		synctest.Wait()
	})
}

func TestHangingTargetIsProbedAgainWhenItsProbeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rec recorder
		release := make(chan struct{})
		s := New(Options{Observe: rec.observe})
		s.Configure([]Target{target("a", func(context.Context) (desktop.Reading, *desktop.Certificate, error) {
			<-release
			return desktop.ComposerReading{}, nil, nil
		})})
		stop := run(t, s)
		time.Sleep(time.Minute)
		close(release)
		time.Sleep(10 * time.Minute)
		if stuck := stop(); stuck != 0 {
			t.Errorf("%d probes did not end", stuck)
		}
		found := rec.observationsOf("a")
		if last := found[len(found)-1]; last.Failure != nil {
			t.Errorf("the last probe ended with %v", last.Failure)
		}
	})
}

func TestProbeThatExceedsItsDeadlineIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rec recorder
		s := New(Options{Observe: rec.observe, Timeout: 3 * time.Second})
		s.Configure([]Target{target("a", func(ctx context.Context) (desktop.Reading, *desktop.Certificate, error) {
			<-ctx.Done()
			return nil, nil, ctx.Err()
		})})
		stop := run(t, s)
		time.Sleep(20 * time.Second)
		stop()
		found := rec.observationsOf("a")
		if len(found) != 1 || found[0].Took != 3*time.Second || found[0].Failure.Cause != desktop.Unreachable {
			t.Errorf("found %+v, want one probe of 3 s that ended as UNREACHABLE", found)
		}
	})
}

func TestReloadKeepsUnchangedTargets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rec recorder
		var mu sync.Mutex
		var closed []string
		newTarget := func(id desktop.ID, spec string, probe Probe) Target {
			tg := target(id, probe)
			tg.Spec = spec
			tg.Close = func() { mu.Lock(); defer mu.Unlock(); closed = append(closed, string(id)+spec) }
			return tg
		}
		s := New(Options{Observe: rec.observe})
		s.Configure([]Target{newTarget("kept", "1", successfulRead), newTarget("changed", "1", successfulRead), newTarget("gone", "1", successfulRead), newTarget("bad", "1", failingProbe(desktop.Refused))})
		stop := run(t, s)
		time.Sleep(5 * time.Second)
		s.Configure([]Target{newTarget("kept", "1", successfulRead), newTarget("changed", "2", successfulRead), newTarget("bad", "1", successfulRead)})
		time.Sleep(5 * time.Second)
		counts := map[desktop.ID]int{}
		for _, id := range []desktop.ID{"kept", "changed", "gone", "bad"} {
			counts[id] = len(rec.observationsOf(id))
		}
		// Changed and failing targets are probed again, the others not yet.
		if diff := cmp.Diff(map[desktop.ID]int{"kept": 1, "changed": 2, "gone": 1, "bad": 2}, counts); diff != "" {
			t.Errorf("probes (-want +got):\n%s", diff)
		}
		stop()
		mu.Lock()
		defer mu.Unlock()
		want := map[string]int{"kept1": 2, "changed1": 1, "changed2": 1, "gone1": 1, "bad1": 2} // the second targets of kept and bad are not used, and are closed too
		got := map[string]int{}
		for _, c := range closed {
			got[c]++
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("closed (-want +got):\n%s", diff)
		}
	})
}

// TestEndedProbeDoesNotCloseTheTargetOfTheNext stops a runner while its second probe runs, before
// the goroutine of the first probe has called probeEnded.
func TestEndedProbeDoesNotCloseTheTargetOfTheNext(t *testing.T) {
	t.Parallel()
	closed := false
	first, second := make(chan desktop.Observation, 1), make(chan desktop.Observation, 1)
	r := &runner{target: Target{Close: func() { closed = true }}, running: second}
	r.stop()
	r.probeEnded(first)
	if closed {
		t.Error("the target was closed while its second probe ran")
	}
	r.probeEnded(second)
	if !closed {
		t.Error("the target was not closed when its last probe ended")
	}
}

func TestComponentIsProbedOnRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rec recorder
		s := New(Options{Observe: rec.observe, Interval: time.Hour})
		s.Configure([]Target{target("a", successfulRead)})
		stop := run(t, s)
		time.Sleep(5 * time.Second)
		if !s.Probe(desktop.KindComposer, "a") || s.Probe(desktop.KindComposer, "none") {
			t.Error("Probe does not distinguish targets from unknown components")
		}
		synctest.Wait()
		if n := len(rec.observationsOf("a")); n != 2 {
			t.Errorf("it was probed %d times, want 2", n)
		}
		stop()
	})
}

func TestProbeThatPanicsIsAFailure(t *testing.T) {
	t.Parallel()
	found := Once(t.Context(), []Target{
		target("a", func(context.Context) (desktop.Reading, *desktop.Certificate, error) { panic("oops") }),
		target("b", func(context.Context) (desktop.Reading, *desktop.Certificate, error) {
			return nil, nil, errors.New("no")
		}),
		target("c", successfulRead),
	}, time.Second, time.Now)
	var causes []desktop.Cause
	for _, o := range found {
		var c desktop.Cause
		if o.Failure != nil {
			c = o.Failure.Cause
		}
		causes = append(causes, c)
	}
	if diff := cmp.Diff([]desktop.Cause{desktop.Broken, desktop.Broken, ""}, causes); diff != "" {
		t.Errorf("causes (-want +got):\n%s", diff)
	}
}
