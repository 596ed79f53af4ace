package session

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"vigil/internal/auth"
	"vigil/internal/desktop"
	"vigil/internal/fault"
)

// ThrottleOptions bound how many logins may fail.
type ThrottleOptions struct {
	PerUser    int           // failures of a user from one network before delays begin; 5 when zero
	PerAddress int           // failures of a network, of all users, before delays begin; 200 when zero
	Window     time.Duration // after which failures are forgotten, if the directory does not say; 15 minutes when zero
	MaxWait    time.Duration // how long a login waits for others of the same user; 1 minute when zero
}

const (
	// longestDelay is the longest wait between two attempts of a network.
	longestDelay = 5 * time.Minute

	// longestUserDelay is the longest wait between two attempts at one user from
	// all networks from which the user has not logged in before. It is short
	// because the attempts of an attacker delay those of a travelling user too.
	longestUserDelay = time.Minute

	// strangersFactor is how many times PerUser may fail at one user from all
	// unknown networks together before delays begin.
	strangersFactor = 4
)

// throttle limits failed logins by user and by network. Delays grow with each
// failure. Failures from networks that the user has not logged in from before
// delay nobody at a network that the user has.
//
// Where the directory locks accounts, the throttle stays below that: it passes
// on fewer wrong passwords than lock the account, and keeps some of those for
// known networks. A failure is only known after the directory has counted it.
// So no more logins of one user are under way at a time than may still fail:
// the others wait, and go on as soon as one has succeeded.
type throttle struct {
	ThrottleOptions
	store  Store
	places *auth.LoginNetworks
	now    func() time.Time
	queues queues
}

func newThrottle(store Store, o ThrottleOptions, now func() time.Time) *throttle {
	o.PerUser = cmp.Or(o.PerUser, 5)
	o.PerAddress = cmp.Or(o.PerAddress, 200)
	o.Window = cmp.Or(o.Window, 15*time.Minute)
	o.MaxWait = cmp.Or(o.MaxWait, time.Minute)
	return &throttle{
		ThrottleOptions: o, store: store, now: now,
		places: auth.NewLoginNetworks(store.LoginPlaces, now), queues: queues{users: map[string]*queue{}},
	}
}

// attempt is one login that is to be tried.
type attempt struct {
	user    string // whom it is for, as failures and places name the user
	address string // where it comes from
	known   bool   // the user has logged in from there before
}

func attemptOf(d desktop.Domain, c Credentials) attempt {
	return attempt{user: userOf(d, c.Username), address: c.Source}
}

func userOf(d desktop.Domain, username string) string {
	return "user " + string(d.ID) + " " + strings.ToLower(username)
}

// What failures are counted by.
func (a attempt) networkSubject() string { return addressOf(a.address) }
func (a attempt) pairSubject() string    { return a.user + " at " + auth.Network(a.address) }
func (a attempt) strangers() string      { return a.user }
func (a attempt) familiar() string       { return a.user + " at known networks" }

// own is the counter of the user that the attempt counts towards.
func (a attempt) own() string {
	if a.known {
		return a.familiar()
	}
	return a.strangers()
}

func addressOf(source string) string { return "address " + auth.Network(source) }

// allowance is how often the password of a user may be wrong before the
// directory's own count has passed its window.
type allowance struct {
	limited  bool // the directory locks accounts
	all      int  // wrong passwords that are passed on
	reserved int  // of those, for networks that the user has logged in from
	window   time.Duration
}

// allowance leaves one failure to the user before the directory locks, two where
// it can, and keeps a third of the rest, at least one, for known networks.
func (t *throttle) allowance(p desktop.LockoutPolicy) allowance {
	a := allowance{limited: p.Threshold > 0, window: cmp.Or(p.Window, t.Window)}
	switch {
	case p.Threshold <= 2:
		a.all = 1 // nothing can be kept for anybody
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

// counts are the failures that matter to an attempt.
type counts struct{ network, pair, strangers, familiar Failures }

func (t *throttle) counts(ctx context.Context, a attempt, window time.Duration) (counts, error) {
	all, err := t.store.Failures(ctx, a.networkSubject(), a.pairSubject(), a.strangers(), a.familiar())
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
		strangers: recent(all[2], window), familiar: recent(all[3], window),
	}, nil
}

// wait returns how long an attempt must wait because of what failed before.
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
			until(c.strangers, auth.Delay(c.strangers.Count, strangersFactor*t.PerUser, longestUserDelay)))
	}
	if w.limited && t.free(a, c, w) == 0 {
		last := c.strangers.Last
		if c.familiar.Last.After(last) {
			last = c.familiar.Last
		}
		after = max(after, time.Second, last.Add(w.window).Sub(t.now()))
	}
	return max(after, 0)
}

// free is how many attempts may be under way at a time: as many as may still
// fail. Where the directory locks accounts it counts all attempts at the user,
// otherwise those of known, or of unknown, networks alone.
func (t *throttle) free(a attempt, c counts, w allowance) int {
	if !w.limited {
		failed := c.familiar.Count
		if !a.known {
			failed = c.strangers.Count
		}
		return max(1, t.PerUser-failed)
	}
	left := w.all - c.strangers.Count - c.familiar.Count
	if !a.known {
		left = min(left, w.all-w.reserved-c.strangers.Count)
	}
	return max(left, 0)
}

// errThrottled is the refusal of a login that was not even tried.
var errThrottled = &Refusal{Cause: "too many failures"}

// try runs a login unless too many have failed. With a refusal it returns when
// to try again, zero for at once.
func (t *throttle) try(ctx context.Context, a attempt, policy desktop.LockoutPolicy, login func() error) (time.Duration, error) {
	w := t.allowance(policy)
	var err error
	if a.known, err = t.places.Has(ctx, a.user, a.address); err != nil {
		return 0, err
	}
	if !t.places.Any(a.user) {
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
		return 0, t.succeeded(ctx, a, failed)
	case !isRefusal:
		return 0, err
	}
	// The count must be kept even when the caller has gone: the directory's was.
	ctx = context.WithoutCancel(ctx)
	subjects, windows := []string{a.networkSubject()}, []time.Duration{t.Window}
	if r.Counted {
		subjects, windows = append(subjects, a.pairSubject(), a.own()), append(windows, t.Window, w.window)
	}
	for i, subject := range subjects {
		if _, failed := t.store.AddFailure(ctx, subject, t.now(), windows[i]); failed != nil {
			return 0, failed
		}
	}
	return 0, err
}

// succeeded forgets what failed before, as the directory does, and remembers
// where the user logged in from.
func (t *throttle) succeeded(ctx context.Context, a attempt, c counts) error {
	if c.pair.Count+c.strangers.Count+c.familiar.Count > 0 {
		if err := t.store.ClearFailures(ctx, a.pairSubject(), a.strangers(), a.familiar()); err != nil {
			return err
		}
	}
	if t.places.Add(a.user, a.address) {
		return t.store.AddLoginPlace(ctx, auth.LoginNetwork{Account: a.user, Network: auth.Network(a.address)}, t.now())
	}
	return nil
}

// count counts a failure of a network alone, and tells how long it must wait.
func (t *throttle) count(ctx context.Context, address string) (time.Duration, error) {
	f, err := t.store.AddFailure(ctx, addressOf(address), t.now(), t.Window)
	return auth.Delay(f.Count, t.PerAddress, longestDelay), err
}

// knownUser names the user that limits count a login against, if the user has
// logged in from the address before, and "" otherwise.
func (t *throttle) knownUser(ctx context.Context, a attempt) string {
	if known, err := t.places.Has(ctx, a.user, a.address); err != nil || !known {
		return "" // the login itself meets the same error, and reports it
	}
	return a.user
}

// enter waits until one more login of the user may fail. It returns what has
// failed before and a function that ends the attempt, or for how long the
// attempt must wait.
func (t *throttle) enter(ctx context.Context, a attempt, w allowance) (c counts, leave func(), after time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, t.MaxWait)
	defer cancel()
	q := t.queues.join(a.user)
	err = q.wait(ctx, a.known, w.limited, func() (int, error) {
		// A failure is counted before its slot is given back, so that count and
		// slots together never exceed the limit.
		if c, err = t.counts(ctx, a, w.window); err != nil {
			return 0, err
		}
		if after = t.wait(a, c, w); after > 0 {
			return 0, errThrottled
		}
		return t.free(a, c, w), nil
	})
	if err != nil {
		t.queues.part(a.user, q)
		if errors.Is(err, errThrottled) {
			err = nil
		}
		return counts{}, nil, after, waited(ctx, err)
	}
	return c, func() {
		q.give(a.known)
		t.queues.part(a.user, q)
	}, 0, nil
}

// waited turns the end of our own patience into an answer.
func waited(ctx context.Context, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &fault.Error{Kind: fault.Unavailable, Message: "too many logins of this user at once", After: time.Second, Err: err}
	}
	return err
}
