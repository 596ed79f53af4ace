package session

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"vigil/internal/auth"
	"vigil/internal/desktop"
	"vigil/internal/fault"
	"vigil/internal/subnet"
)

// ThrottleOptions limit failed logins.
type ThrottleOptions struct {
	PerUser    int           // failures of a user from one network before delays; 5 when zero
	PerAddress int           // failures of a network, for all users, before delays; 200 when zero
	Window     time.Duration // after which failures are forgotten, if the directory has no window; 15 minutes when zero
	MaxWait    time.Duration // how long a login waits for others of the same user; 1 minute when zero
}

const (
	// longestDelay is the longest delay between two attempts of a network.
	longestDelay = 5 * time.Minute

	// longestUserDelay is the longest delay between two attempts for one user from
	// all unknown networks. It is short because an attacker's attempts also delay a
	// user in a new place.
	longestUserDelay = time.Minute

	// unknownNetworkFactor times PerUser logins of one user may fail, from all unknown
	// networks together, before there are delays.
	unknownNetworkFactor = 4
)

// throttle limits failed logins by user and by network. Delays grow with each
// failure. Failures from networks that are unknown for a user cause no delays
// at networks from which the user has logged in.
//
// Where the directory locks accounts, the throttle passes on fewer wrong
// passwords than lock the account, and reserves some of those for known
// networks. A failure is only known after the directory has counted it.
// Therefore the concurrent logins of one user are limited to the number that
// may still fail; the others wait, and continue as soon as one has succeeded.
type throttle struct {
	ThrottleOptions
	store    Store
	networks *auth.LoginNetworks
	now      func() time.Time
	queues   queues
}

func newThrottle(store Store, o ThrottleOptions, now func() time.Time) *throttle {
	o.PerUser = cmp.Or(o.PerUser, 5)
	o.PerAddress = cmp.Or(o.PerAddress, 200)
	o.Window = cmp.Or(o.Window, 15*time.Minute)
	o.MaxWait = cmp.Or(o.MaxWait, time.Minute)
	return &throttle{
		ThrottleOptions: o, store: store, now: now,
		networks: auth.NewLoginNetworks(store.LoginNetworks, now), queues: queues{users: map[string]*queue{}},
	}
}

// attempt is one login attempt.
type attempt struct {
	user    string // key of the user in failures and known networks
	address string // source address
	known   bool   // the user has logged in from this network before
}

func attemptOf(d desktop.Domain, c Credentials) attempt {
	return attempt{user: userOf(d, c.Username), address: c.Source}
}

func userOf(d desktop.Domain, username string) string {
	return "user " + string(d.ID) + " " + strings.ToLower(username)
}

// Subjects by which failures are counted.
func (a attempt) networkSubject() string { return addressOf(a.address) }
func (a attempt) pairSubject() string    { return a.user + " at " + subnet.Of(a.address) }
func (a attempt) unknownSubject() string { return a.user }
func (a attempt) knownSubject() string   { return a.user + " at known networks" }

// accountSubject returns the user's counter that the attempt counts towards.
func (a attempt) accountSubject() string {
	if a.known {
		return a.knownSubject()
	}
	return a.unknownSubject()
}

func addressOf(source string) string { return "address " + subnet.Of(source) }

// allowance is how many wrong passwords of a user are passed on within the
// directory's window.
type allowance struct {
	limited  bool // the directory locks accounts
	all      int  // wrong passwords that are passed on
	reserved int  // part of all, for known networks
	window   time.Duration
}

// allowance returns the allowance for a lockout policy. It is two below the
// threshold, or one below a threshold of 2 or 3. A threshold of 1 still allows one
// attempt, without which nobody could log in. An allowance of more than one
// reserves a third, at least one, for known networks.
func (t *throttle) allowance(p desktop.LockoutPolicy) allowance {
	a := allowance{limited: p.Threshold > 0, window: cmp.Or(p.Window, t.Window)}
	switch {
	case p.Threshold <= 2:
		a.all = 1 // too few to reserve one
	case p.Threshold == 3:
		a.all = 2
	default:
		a.all = p.Threshold - 2
	}
	if a.all > 1 {
		a.reserved = max(1, a.all/3)
	}
	return a
}

// counts are the failures that are relevant to an attempt.
type counts struct{ network, pair, unknownSubject, knownSubject Failures }

func (t *throttle) counts(ctx context.Context, a attempt, window time.Duration) (counts, error) {
	all, err := t.store.Failures(ctx, a.networkSubject(), a.pairSubject(), a.unknownSubject(), a.knownSubject())
	if err != nil {
		return counts{}, err
	}
	recent := func(f Failures, window time.Duration) Failures {
		if t.now().Sub(f.Last) >= window {
			return Failures{}
		}
		return f
	}
	return counts{
		network: recent(all[0], t.Window), pair: recent(all[1], t.Window),
		unknownSubject: recent(all[2], window), knownSubject: recent(all[3], window),
	}, nil
}

// wait returns the delay of an attempt because of earlier failures.
func (t *throttle) wait(a attempt, c counts, w allowance) time.Duration {
	until := func(f Failures, d time.Duration) time.Duration {
		if d == 0 {
			return 0
		}
		return f.Last.Add(d).Sub(t.now())
	}
	after := until(c.pair, auth.Delay(c.pair.Count, t.PerUser, longestDelay))
	if !a.known {
		after = max(after,
			until(c.network, auth.Delay(c.network.Count, t.PerAddress, longestDelay)),
			until(c.unknownSubject, auth.Delay(c.unknownSubject.Count, unknownNetworkFactor*t.PerUser, longestUserDelay)))
	}
	if w.limited && t.free(a, c, w) == 0 {
		last := c.unknownSubject.Last
		if c.knownSubject.Last.After(last) {
			last = c.knownSubject.Last
		}
		after = max(after, time.Second, last.Add(w.window).Sub(t.now()))
	}
	return max(after, 0)
}

// free returns how many attempts may run concurrently: as many as may still
// fail. Where the directory locks accounts, all attempts for the user count,
// otherwise those of known or of unknown networks separately.
func (t *throttle) free(a attempt, c counts, w allowance) int {
	if !w.limited {
		failed := c.knownSubject.Count
		if !a.known {
			failed = c.unknownSubject.Count
		}
		return max(1, t.PerUser-failed)
	}
	remaining := w.all - c.unknownSubject.Count - c.knownSubject.Count
	if !a.known {
		remaining = min(remaining, w.all-w.reserved-c.unknownSubject.Count)
	}
	return max(remaining, 0)
}

// errThrottled is the refusal of a login that was not passed to the directory.
var errThrottled = &Refusal{Cause: "too many failures"}

// try runs a login unless too many have failed. With a refusal it returns how long
// to wait before a retry.
func (t *throttle) try(ctx context.Context, a attempt, policy desktop.LockoutPolicy, login func() error) (time.Duration, error) {
	w := t.allowance(policy)
	var err error
	if a.known, err = t.networks.Has(ctx, a.user, a.address); err != nil {
		return 0, err
	}
	if !t.networks.Any(a.user) {
		w.reserved = 0
	}
	failed, leave, after, err := t.enter(ctx, a, w)
	if err != nil || after > 0 {
		return after, cmp.Or[error](err, errThrottled)
	}
	defer leave()
	err = login()
	r, isRefusal := errors.AsType[*Refusal](err)
	switch {
	case err == nil:
		return 0, t.recordSuccess(ctx, a, failed)
	case !isRefusal:
		return 0, err
	}
	// Count the failure even when the caller has closed the connection: the
	// directory has counted it.
	ctx = context.WithoutCancel(ctx)
	subjects, windows := []string{a.networkSubject()}, []time.Duration{t.Window}
	if r.Counted {
		subjects, windows = append(subjects, a.pairSubject(), a.accountSubject()), append(windows, t.Window, w.window)
	}
	for i, subject := range subjects {
		if _, storeErr := t.store.AddFailure(ctx, subject, t.now(), windows[i]); storeErr != nil {
			return 0, storeErr
		}
	}
	return 0, err
}

// recordSuccess clears the failures that were counted before the login, as the directory
// does, and stores the network as known. A subject with a failure that was counted during
// the login keeps all: the directory may have counted it after the success.
func (t *throttle) recordSuccess(ctx context.Context, a attempt, c counts) error {
	seen := map[string]Failures{a.pairSubject(): c.pair, a.unknownSubject(): c.unknownSubject, a.knownSubject(): c.knownSubject}
	maps.DeleteFunc(seen, func(_ string, f Failures) bool { return f.Count == 0 })
	if len(seen) > 0 {
		if err := t.store.ClearFailures(ctx, seen); err != nil {
			return err
		}
	}
	if t.networks.Add(a.user, a.address) {
		return t.store.AddLoginNetwork(ctx, auth.LoginNetwork{Account: a.user, Network: subnet.Of(a.address)}, t.now())
	}
	return nil
}

// count counts a failure of a network and returns its delay.
func (t *throttle) count(ctx context.Context, address string) (time.Duration, error) {
	f, err := t.store.AddFailure(ctx, addressOf(address), t.now(), t.Window)
	return auth.Delay(f.Count, t.PerAddress, longestDelay), err
}

// knownUser returns the rate limit account of a login if the user has logged in
// from the network before, and "" otherwise.
func (t *throttle) knownUser(ctx context.Context, a attempt) string {
	if known, err := t.networks.Has(ctx, a.user, a.address); err != nil || !known {
		return "" // the login gets and reports the same error
	}
	return a.user
}

// enter waits until one more login of the user may fail. It returns the earlier
// failures and a function that ends the attempt, or the delay after which to
// retry.
func (t *throttle) enter(ctx context.Context, a attempt, w allowance) (c counts, leave func(), after time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.MaxWait)
	defer cancel()
	q := t.queues.join(a.user)
	err = q.wait(ctx, a.known, w.limited, func() (int, error) {
		// A failure is counted before its slot is released, so that failures and slots
		// together never exceed the limit.
		if c, err = t.counts(ctx, a, w.window); err != nil {
			return 0, err
		}
		after = t.wait(a, c, w)
		if after > 0 {
			return 0, errThrottled
		}
		return t.free(a, c, w), nil
	})
	if err != nil {
		t.queues.leave(a.user, q)
		if errors.Is(err, errThrottled) {
			err = nil
		}
		return counts{}, nil, after, waitError(ctx, err)
	}
	return c, func() {
		q.release(a.known)
		t.queues.leave(a.user, q)
	}, 0, nil
}

// waitError converts the end of MaxWait to an error response.
func waitError(ctx context.Context, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &fault.Error{Kind: fault.Unavailable, Message: "too many concurrent logins of this user; try again later", After: time.Second, Err: err}
	}
	return err
}
