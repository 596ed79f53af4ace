package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vigil/internal/auth"
	"vigil/internal/desktop"
	"vigil/internal/fault"
)

// memoryStore is an in-memory store with the methods that the throttle uses.
type memoryStore struct {
	Store
	mu        sync.Mutex
	all       map[string]Failures
	networks  []auth.LoginNetwork
	reads     int         // number of reads of the counts
	afterRead func(n int) // called after the n-th read; may be nil

	beforeClear func() // called before failures are cleared; may be nil
}

func (m *memoryStore) Failures(_ context.Context, subjects ...string) ([]Failures, error) {
	m.mu.Lock()
	m.reads++
	n := m.reads
	all := make([]Failures, len(subjects))
	for i, s := range subjects {
		all[i] = m.all[s]
	}
	m.mu.Unlock()
	if m.afterRead != nil {
		m.afterRead(n)
	}
	return all, nil
}

func (m *memoryStore) AddFailure(_ context.Context, subject string, at time.Time, window time.Duration) (Failures, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.all[subject]
	if at.Sub(f.Last) >= window {
		f.Count = 0
	}
	m.all[subject] = Failures{f.Count + 1, at}
	return m.all[subject], nil
}

func (m *memoryStore) ClearFailures(_ context.Context, seen map[string]Failures) error {
	if m.beforeClear != nil {
		m.beforeClear()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for s, f := range seen {
		if m.all[s] == f {
			delete(m.all, s)
		}
	}
	return nil
}

func (m *memoryStore) LoginNetworks(context.Context) ([]auth.LoginNetwork, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.networks), nil
}

func (m *memoryStore) AddLoginNetwork(_ context.Context, p auth.LoginNetwork, _ time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.networks = append(m.networks, p)
	return nil
}

// fixture is a throttle with a controlled clock.
type fixture struct {
	*throttle
	clock atomic.Int64
}

func newFixture(o ThrottleOptions) *fixture {
	b := new(fixture)
	b.clock.Store(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	b.throttle = newThrottle(&memoryStore{all: map[string]Failures{}}, o, func() time.Time { return time.Unix(0, b.clock.Load()) })
	return b
}

func (f *fixture) pass(d time.Duration) { f.clock.Add(int64(d)) }

var (
	wrong  = &Refusal{Cause: "wrong password", Counted: true}
	policy = desktop.LockoutPolicy{Threshold: 5, Window: 10 * time.Minute}
	bob    = attempt{user: "user bob", address: "192.0.2.1"}
)

func fails() error    { return wrong }
func succeeds() error { return nil }

func TestAllowanceIsBelowTheLockoutThreshold(t *testing.T) {
	t.Parallel()
	b := newFixture(ThrottleOptions{})
	for threshold, want := range map[int]allowance{
		1: {all: 1}, 2: {all: 1}, 3: {all: 2, reserved: 1}, 4: {all: 2, reserved: 1}, 5: {all: 3, reserved: 1},
		7: {all: 5, reserved: 1}, 10: {all: 8, reserved: 2}, 100: {all: 98, reserved: 32},
	} {
		want.limited, want.window = true, b.Window
		if got := b.allowance(desktop.LockoutPolicy{Threshold: threshold}); got != want || threshold > 1 && got.all >= threshold {
			t.Errorf("threshold %d: %+v, want %+v", threshold, got, want)
		}
	}
	if got := b.allowance(policy); got.window != policy.Window {
		t.Errorf("window = %s, want that of the policy, %s", got.window, policy.Window)
	}
	if got := b.allowance(desktop.LockoutPolicy{}); got.limited {
		t.Errorf("a directory that never locks: %+v, want no limit", got)
	}
}

func TestFailuresAreForgottenAfterTheWindowOrASuccess(t *testing.T) {
	t.Parallel()
	b := newFixture(ThrottleOptions{})
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
		t.Errorf("the fourth login after three failures: retry after %s, %v; want it throttled for 6 minutes", after, err)
	}
	b.pass(6 * time.Minute)
	if _, err := try(succeeds); err != nil {
		t.Errorf("after the window: %v", err)
	}
}

func TestUncountedRefusalsAreNotCountedForTheUser(t *testing.T) {
	t.Parallel()
	b := newFixture(ThrottleOptions{})
	disabled := &Refusal{Cause: "disabled"}
	for range 20 {
		if _, err := b.try(t.Context(), bob, policy, func() error { return disabled }); !errors.Is(err, disabled) {
			t.Fatal(err)
		}
	}
}

func TestDelaysOfAnAddressGrow(t *testing.T) {
	t.Parallel()
	b := newFixture(ThrottleOptions{PerAddress: 3, Window: time.Hour})
	unlimited := desktop.LockoutPolicy{}
	if _, err := b.try(t.Context(), attempt{user: "user resident", address: "x"}, unlimited, succeeds); err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"a", "b", "c", "d"} {
		if _, err := b.try(t.Context(), attempt{user: "user " + user, address: "x"}, unlimited, fails); !errors.Is(err, wrong) {
			t.Fatal(err)
		}
	}
	for _, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second} {
		if after, err := b.try(t.Context(), attempt{user: "user d", address: "x"}, unlimited, succeeds); !errors.Is(err, errThrottled) || after != want {
			t.Errorf("retry after %s, %v; want it throttled for %s", after, err, want)
		}
		b.pass(want)
		if _, err := b.try(t.Context(), attempt{user: "user e" + want.String(), address: "x"}, unlimited, fails); !errors.Is(err, wrong) {
			t.Errorf("after %s: %v", want, err)
		}
	}
	if _, err := b.try(t.Context(), attempt{user: "user d", address: "y"}, unlimited, succeeds); err != nil {
		t.Errorf("from another address: %v", err)
	}
	if _, err := b.try(t.Context(), attempt{user: "user resident", address: "x"}, unlimited, succeeds); err != nil {
		t.Errorf("a user who has logged in from there before: %v", err)
	}
	if after, err := b.count(t.Context(), "x"); err != nil || after == 0 {
		t.Errorf("count of the address: retry after %s, %v; want a delay", after, err)
	}
}

func TestRightPasswordIsAcceptedAfterFiveWrongOnes(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]desktop.LockoutPolicy{
		"the directory never locks": {},
		"it locks after ten":        {Threshold: 10, Window: 10 * time.Minute},
		"it locks after a hundred":  {Threshold: 100, Window: 10 * time.Minute},
	} {
		b := newFixture(ThrottleOptions{})
		for i := range 5 {
			if _, err := b.try(t.Context(), bob, policy, fails); !errors.Is(err, wrong) {
				t.Fatalf("%s: wrong password %d: %v", name, i, err)
			}
		}
		if _, err := b.try(t.Context(), bob, policy, succeeds); err != nil {
			t.Errorf("%s: the right password after five wrong ones: %v", name, err)
		}
	}
}

func TestDelaysOfAUserGrow(t *testing.T) {
	t.Parallel()
	b := newFixture(ThrottleOptions{})
	for range 6 {
		_, _ = b.try(t.Context(), bob, desktop.LockoutPolicy{}, fails)
	}
	for _, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		after, err := b.try(t.Context(), bob, desktop.LockoutPolicy{}, fails)
		if !errors.Is(err, errThrottled) || after != want {
			t.Fatalf("retry after %s, %v; want it throttled for %s", after, err, want)
		}
		b.pass(want)
		if _, err := b.try(t.Context(), bob, desktop.LockoutPolicy{}, fails); !errors.Is(err, wrong) {
			t.Fatal(err)
		}
	}
	b.pass(time.Minute)
	if _, err := b.try(t.Context(), bob, desktop.LockoutPolicy{}, succeeds); err != nil {
		t.Errorf("the right password after a minute: %v", err)
	}
}

// TestFailuresElsewhereDoNotBlockAKnownNetwork sends a thousand wrong passwords from
// 250 addresses and checks that the directory does not lock the account.
func TestFailuresElsewhereDoNotBlockAKnownNetwork(t *testing.T) {
	t.Parallel()
	for _, threshold := range []int{0, 3, 4, 5, 10} {
		b := newFixture(ThrottleOptions{})
		policy := desktop.LockoutPolicy{Threshold: threshold, Window: 10 * time.Minute}
		if _, err := b.try(t.Context(), bob, policy, succeeds); err != nil {
			t.Fatal(err)
		}
		bad := 0 // as the directory counts: a success resets it
		for i := range 1000 {
			attacker := attempt{user: bob.user, address: fmt.Sprintf("198.51.100.%d", i%250)}
			_, _ = b.try(t.Context(), attacker, policy, func() error { bad++; return wrong })
			b.pass(time.Second)
			if i%100 != 50 {
				continue
			}
			if _, err := b.try(t.Context(), bob, policy, succeeds); err != nil {
				t.Fatalf("threshold %d: after %d failures elsewhere: %v", threshold, i, err)
			}
			bad = 0
		}
		if threshold > 0 && bad >= threshold {
			t.Errorf("the directory, which locks after %d, counted %d wrong passwords", threshold, bad)
		}
	}
}

// TestHangingLoginsElsewhereDoNotBlockAKnownNetwork fills every slot of unknown
// networks.
func TestHangingLoginsElsewhereDoNotBlockAKnownNetwork(t *testing.T) {
	t.Parallel()
	for _, threshold := range []int{0, 5} {
		b := newFixture(ThrottleOptions{MaxWait: time.Minute})
		policy := desktop.LockoutPolicy{Threshold: threshold, Window: 10 * time.Minute}
		if _, err := b.try(t.Context(), bob, policy, succeeds); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		started := make(chan struct{}, 20)
		for i := range 20 {
			attacker := attempt{user: bob.user, address: fmt.Sprintf("198.51.100.%d", i)}
			wait.Go(func() {
				_, _ = b.try(ctx, attacker, policy, func() error { started <- struct{}{}; <-ctx.Done(); return wrong })
			})
		}
		// With a threshold of 5, two attempts may run: the third is reserved for known networks.
		<-started
		<-started
		if _, err := b.try(t.Context(), bob, policy, succeeds); err != nil {
			t.Errorf("threshold %d: %v", threshold, err)
		}
		cancel()
		wait.Wait()
	}
}

// TestConcurrentLoginsAreLimitedToThoseThatMayFail checks the central property:
// with any number of concurrent logins, the directory never counts more
// failures than allowed.
func TestConcurrentLoginsAreLimitedToThoseThatMayFail(t *testing.T) {
	t.Parallel()
	b := newFixture(ThrottleOptions{})
	var running, maximum, failed atomic.Int64
	login := func() error {
		n := running.Add(1)
		defer running.Add(-1)
		for m := maximum.Load(); n > m && !maximum.CompareAndSwap(m, n); m = maximum.Load() {
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
	if failed.Load() != 3 || maximum.Load() > 3 {
		t.Errorf("%d logins failed, %d ran at once; 3 may", failed.Load(), maximum.Load())
	}
}

// TestLoginThatFailsWhileTheCountsAreReadIsNotForgotten lets a login fail after
// another one has read the counts and before that one takes a slot.
func TestLoginThatFailsWhileTheCountsAreReadIsNotForgotten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name            string
		threshold       int
		running, others int // logins that run: from the network of the login that the test adds, and from unknown networks
		known           bool
	}{
		{"one lane", 3, 2, 0, false},
		{"both lanes", 5, 1, 2, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newFixture(ThrottleOptions{})
				policy := desktop.LockoutPolicy{Threshold: tt.threshold, Window: 10 * time.Minute}
				if tt.known {
					if _, err := b.try(t.Context(), bob, policy, succeeds); err != nil {
						t.Fatal(err)
					}
				}
				var failed atomic.Int64
				end := make(chan struct{})
				login := func(a attempt) {
					go func() {
						_, _ = b.try(t.Context(), a, policy, func() error { <-end; failed.Add(1); return wrong })
					}()
					synctest.Wait()
				}
				for range tt.running {
					login(bob)
				}
				for range tt.others {
					login(attempt{user: bob.user, address: "198.51.100.1"})
				}
				store := b.store.(*memoryStore)
				next := store.reads + 1
				store.afterRead = func(n int) {
					if n == next {
						end <- struct{}{}
						time.Sleep(time.Millisecond) // until its slot is free
					}
				}
				login(bob)
				time.Sleep(time.Second)
				close(end)
				time.Sleep(time.Second)
				if want := b.allowance(policy).all; int(failed.Load()) != want {
					t.Errorf("the directory counted %d wrong passwords, want %d", failed.Load(), want)
				}
			})
		})
	}
}

// TestSuccessKeepsFailuresDuringTheLogin has wrong passwords fail after the right one was accepted and before the
// failures are cleared: the directory counts them.
func TestSuccessKeepsFailuresDuringTheLogin(t *testing.T) {
	t.Parallel()
	b := newFixture(ThrottleOptions{})
	policy := desktop.LockoutPolicy{Threshold: 10, Window: 10 * time.Minute}
	bad := 0 // as the directory counts: a success resets it
	guess := func(times int) {
		for range times {
			attacker := attempt{user: bob.user, address: "198.51.100.1"}
			_, _ = b.try(t.Context(), attacker, policy, func() error { bad++; return wrong })
		}
	}
	login := func() {
		if _, err := b.try(t.Context(), bob, policy, func() error { bad = 0; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	login()
	guess(1)
	store := b.store.(*memoryStore)
	store.beforeClear = func() { guess(4) } // those that may run beside the login
	login()
	store.beforeClear = nil
	if bad != 4 {
		t.Fatalf("%d wrong passwords failed during the login, want 4", bad)
	}
	for range 10 {
		guess(1)
		b.pass(5 * time.Second) // longer than the delays
	}
	if allowed := b.allowance(policy); bad > allowed.all-allowed.reserved {
		t.Errorf("the directory counted %d wrong passwords from unknown networks, want at most %d", bad, allowed.all-allowed.reserved)
	}
	login()
	if guess(1); bad != 1 {
		t.Error("the next success did not clear the failures")
	}
}

func TestConcurrentGoodLoginsAllSucceed(t *testing.T) {
	t.Parallel()
	b := newFixture(ThrottleOptions{})
	var wait sync.WaitGroup
	for range 100 {
		wait.Go(func() {
			if _, err := b.try(t.Context(), bob, policy, func() error { time.Sleep(time.Millisecond); return nil }); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if len(b.queues.users) != 0 {
		t.Errorf("%d queues are left over", len(b.queues.users))
	}
}

func TestWaitingTooLongIsUnavailable(t *testing.T) {
	t.Parallel()
	b := newFixture(ThrottleOptions{MaxWait: 10 * time.Millisecond})
	policy := desktop.LockoutPolicy{Threshold: 2, Window: time.Minute}
	release := make(chan struct{})
	var wait sync.WaitGroup
	entered := make(chan struct{})
	wait.Go(func() {
		_, _ = b.try(t.Context(), bob, policy, func() error { close(entered); <-release; return nil })
	})
	<-entered
	if _, err := b.try(t.Context(), bob, policy, succeeds); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a login that waits too long: %v, want a fault of kind Unavailable", err)
	}
	close(release)
	wait.Wait()
}

func TestAddressesOfOneNetworkCountTogether(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"192.0.2.1":        "address 192.0.2.1",
		"::ffff:192.0.2.1": "address 192.0.2.1",
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

func TestWaitingLoginsDoNotPollTheStore(t *testing.T) {
	t.Parallel()
	b := newFixture(ThrottleOptions{})
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
	// Each login reads the counts once, and once more each time it waited at the
	// head of the queue.
	if reads := b.store.(*memoryStore).reads; reads > 4*logins {
		t.Errorf("%d concurrent logins read the counts %d times", logins, reads)
	}
	if len(b.queues.users) != 0 {
		t.Errorf("%d queues are left", len(b.queues.users))
	}
}
