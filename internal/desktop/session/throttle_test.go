package session

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/fault"
)

// counts is the part of a store that the throttle uses.
type counts struct {
	Store
	mu    sync.Mutex
	all   map[string]Failures
	looks int // how often a count was read
}

func (c *counts) Failures(_ context.Context, subject string) (Failures, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	return c.all[subject], nil
}

func (c *counts) AddFailure(_ context.Context, subject string, at time.Time, window time.Duration) (Failures, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.all[subject]
	if at.Sub(f.Last) >= window {
		f.Count = 0
	}
	c.all[subject] = Failures{f.Count + 1, at}
	return c.all[subject], nil
}

func (c *counts) ClearFailures(_ context.Context, subject string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.all, subject)
	return nil
}

// bench is a throttle with a clock in hand.
type bench struct {
	*throttle
	clock atomic.Int64
}

func newBench(o ThrottleOptions) *bench {
	b := new(bench)
	b.clock.Store(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	b.throttle = newThrottle(&counts{all: map[string]Failures{}}, o, func() time.Time { return time.Unix(0, b.clock.Load()) })
	return b
}

func (b *bench) pass(d time.Duration) { b.clock.Add(int64(d)) }

var (
	wrong  = &Refusal{Cause: "wrong password", Counted: true}
	policy = desktop.LockoutPolicy{Threshold: 5, Window: 10 * time.Minute}
	bob    = subject{user: "user bob", address: "address 192.0.2.1"}
)

func fails() error    { return wrong }
func succeeds() error { return nil }

func TestAllowanceStaysBelowTheDirectorysOwn(t *testing.T) {
	t.Parallel()
	b := newBench(ThrottleOptions{})
	for threshold, want := range map[int]int{0: 5, 1: 1, 2: 1, 3: 1, 4: 2, 5: 3, 7: 5, 10: 5, 100: 5} {
		if got, _ := b.allowance(desktop.LockoutPolicy{Threshold: threshold}); got != want || threshold > 1 && got >= threshold {
			t.Errorf("threshold %d: %d, want %d", threshold, got, want)
		}
	}
	if _, window := b.allowance(policy); window != policy.Window {
		t.Errorf("window %s", window)
	}
}

func TestTheThrottleForgetsAfterTheWindowAndForgivesASuccess(t *testing.T) {
	t.Parallel()
	b := newBench(ThrottleOptions{})
	try := func(login func() error) (time.Duration, error) { return b.try(t.Context(), bob, policy, login) }
	for range 2 {
		if _, err := try(fails); !errors.Is(err, wrong) {
			t.Fatal(err)
		}
	}
	if _, err := try(succeeds); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := try(fails); !errors.Is(err, wrong) {
			t.Fatalf("a success did not clear the count: %v", err)
		}
	}
	b.pass(4 * time.Minute)
	after, err := try(func() error { t.Error("the directory was asked"); return nil })
	if !errors.Is(err, errThrottled) || after != 6*time.Minute {
		t.Errorf("%s, %v", after, err)
	}
	b.pass(6 * time.Minute)
	if _, err := try(succeeds); err != nil {
		t.Errorf("after the window: %v", err)
	}
}

func TestRefusalsThatTheDirectoryDoesNotCountAreNotCountedAgainstTheUser(t *testing.T) {
	t.Parallel()
	b := newBench(ThrottleOptions{})
	disabled := &Refusal{Cause: "disabled"}
	for range 20 {
		if _, err := b.try(t.Context(), bob, policy, func() error { return disabled }); !errors.Is(err, disabled) {
			t.Fatal(err)
		}
	}
}

func TestAnAddressThatFailsTooOftenIsBlockedForAllUsers(t *testing.T) {
	t.Parallel()
	b := newBench(ThrottleOptions{PerAddress: 3, Window: time.Hour})
	for _, user := range []string{"a", "b", "c"} {
		if _, err := b.try(t.Context(), subject{"user " + user, "address x"}, policy, fails); !errors.Is(err, wrong) {
			t.Fatal(err)
		}
	}
	if after, err := b.try(t.Context(), subject{"user d", "address x"}, policy, succeeds); !errors.Is(err, errThrottled) || after != time.Hour {
		t.Errorf("%s, %v", after, err)
	}
	if _, err := b.try(t.Context(), subject{"user d", "address y"}, policy, succeeds); err != nil {
		t.Errorf("from another address: %v", err)
	}
	if after, err := b.count(t.Context(), "address x"); err != nil || after == 0 {
		t.Errorf("%s, %v", after, err)
	}
}

// TestNoMoreLoginsRunThanMayStillFail is the heart of it: however many come at
// once, the directory never counts more failures than allowed.
func TestNoMoreLoginsRunThanMayStillFail(t *testing.T) {
	t.Parallel()
	b := newBench(ThrottleOptions{})
	var running, most, failed atomic.Int64
	login := func() error {
		n := running.Add(1)
		defer running.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(time.Millisecond)
		failed.Add(1)
		return wrong
	}
	var wait sync.WaitGroup
	for range 100 {
		wait.Go(func() { _, _ = b.try(t.Context(), bob, policy, login) })
	}
	wait.Wait()
	if failed.Load() != 3 || most.Load() > 3 {
		t.Errorf("%d logins failed, %d ran at once; 3 may", failed.Load(), most.Load())
	}
}

func TestManyGoodLoginsAtOnceAllGetTheirTurn(t *testing.T) {
	t.Parallel()
	b := newBench(ThrottleOptions{})
	var wait sync.WaitGroup
	for range 100 {
		wait.Go(func() {
			if _, err := b.try(t.Context(), bob, policy, func() error { time.Sleep(time.Millisecond); return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if len(b.users) != 0 {
		t.Errorf("%d queues are left over", len(b.users))
	}
}

func TestWhoeverWaitsTooLongIsTold(t *testing.T) {
	t.Parallel()
	b := newBench(ThrottleOptions{MaxWait: 10 * time.Millisecond})
	one := desktop.LockoutPolicy{Threshold: 2, Window: time.Minute}
	release := make(chan struct{})
	var wait sync.WaitGroup
	entered := make(chan struct{})
	wait.Go(func() {
		_, _ = b.try(t.Context(), bob, one, func() error { close(entered); <-release; return nil })
	})
	<-entered
	if _, err := b.try(t.Context(), bob, one, succeeds); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%v", err)
	}
	close(release)
	wait.Wait()
}

func TestAddressesOfOneSiteAreOne(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"192.0.2.1":        "address 192.0.2.1",
		"::ffff:192.0.2.1": "address ::ffff:192.0.2.1",
		"2001:db8::1":      "address 2001:db8::/64",
		"2001:db8::ffff:2": "address 2001:db8::/64",
		"2001:db8:0:1::2":  "address 2001:db8:0:1::/64",
		"fe80::1%eth0":     "address fe80::/64",
		"something else":   "address something else",
	} {
		if got := addressOf(source); got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}

func TestWaitingForOthersOfTheSameUserCostsNothing(t *testing.T) {
	t.Parallel()
	b := newBench(ThrottleOptions{})
	const logins = 200
	var wait sync.WaitGroup
	for range logins {
		wait.Go(func() {
			if _, err := b.try(t.Context(), bob, policy, func() error { time.Sleep(100 * time.Microsecond); return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	// Each looks at the count of its address and of its user, and once more for
	// every time that it waited at the head of the queue.
	if looks := b.store.(*counts).looks; looks > 4*logins {
		t.Errorf("%d logins at once looked %d times at the counts", logins, looks)
	}
	if len(b.users) != 0 {
		t.Errorf("%d queues are left", len(b.users))
	}
}
