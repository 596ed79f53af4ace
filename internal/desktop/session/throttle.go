package session

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/fault"
)

// ThrottleOptions bound how many logins may fail.
type ThrottleOptions struct {
	PerUser    int           // failures per user where the directory allows at least one more; 5 when zero
	PerAddress int           // failures per address; 200 when zero
	Window     time.Duration // after which failures are forgotten, if the directory does not say; 15 minutes when zero
	MaxWait    time.Duration // how long a login waits for others of the same user; 1 minute when zero
}

// throttle keeps failed logins below the directory's own lockout.
//
// A failure is only known after the directory has counted it. So no more
// logins of one user are under way at a time than may still fail: the others
// wait, and go on as soon as one has succeeded.
type throttle struct {
	ThrottleOptions
	store Store
	now   func() time.Time

	mu    sync.Mutex
	users map[string]*queue
}

// queue is who tries the password of one user right now.
type queue struct {
	here int           // those inside, waiting or not; guarded by the throttle's lock
	head chan struct{} // held by whoever is next: that one alone looks at the count and waits for a place
	left chan struct{} // told that one of those under way has ended

	mu      sync.Mutex
	running int
}

// take takes one of the places, if one is free.
func (q *queue) take(places int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running >= places {
		return false
	}
	q.running++
	return true
}

func (q *queue) give() {
	q.mu.Lock()
	q.running--
	q.mu.Unlock()
	select {
	case q.left <- struct{}{}:
	default: // whoever is next has been told already
	}
}

// place is the right to try one password.
type place struct {
	user   string
	queue  *queue
	failed int // what counted against the user when the place was taken
}

func newThrottle(store Store, o ThrottleOptions, now func() time.Time) *throttle {
	o.PerUser = cmp.Or(o.PerUser, 5)
	o.PerAddress = cmp.Or(o.PerAddress, 200)
	o.Window = cmp.Or(o.Window, 15*time.Minute)
	o.MaxWait = cmp.Or(o.MaxWait, time.Minute)
	return &throttle{ThrottleOptions: o, store: store, now: now, users: map[string]*queue{}}
}

// subject is what failures count against.
type subject struct{ user, address string }

func subjects(d desktop.Domain, c Credentials) subject {
	return subject{
		user:    "user " + string(d.ID) + " " + strings.ToLower(c.Username),
		address: addressOf(c.Source),
	}
}

// addressOf takes a site of IPv6 addresses for one.
func addressOf(source string) string {
	a, err := netip.ParseAddr(source)
	if err != nil || a.Unmap().Is4() {
		return "address " + source
	}
	p, err := a.WithZone("").Prefix(64)
	if err != nil {
		return "address " + source
	}
	return "address " + p.String()
}

// allowance is how often a user may fail within which time. It leaves one
// failure to the user before the directory locks, two where it can.
func (t *throttle) allowance(p desktop.LockoutPolicy) (int, time.Duration) {
	window := t.Window
	if p.Window > 0 {
		window = p.Window
	}
	switch {
	case p.Threshold == 0:
		return t.PerUser, window
	case p.Threshold <= 3:
		return 1, window
	}
	return min(t.PerUser, p.Threshold-2), window
}

// errThrottled is the refusal of a login that was not even tried.
var errThrottled = &Refusal{Cause: "too many failures"}

// try runs a login unless too many have failed. With a refusal it returns when
// to try again, zero for at once.
func (t *throttle) try(ctx context.Context, s subject, policy desktop.LockoutPolicy, login func() error) (time.Duration, error) {
	limit, window := t.allowance(policy)
	if after, err := t.blocked(ctx, s.address, t.PerAddress, t.Window); err != nil || after > 0 {
		return after, cmp.Or[error](err, errThrottled)
	}
	p, after, err := t.enter(ctx, s.user, limit, window)
	if err != nil || after > 0 {
		return after, cmp.Or[error](err, errThrottled)
	}
	defer t.part(p.user, p.queue, true)
	err = login()
	r, isRefusal := errors.AsType[*Refusal](err)
	switch {
	case err == nil && p.failed > 0:
		return 0, t.store.ClearFailures(ctx, s.user)
	case err == nil:
		return 0, nil
	case !isRefusal:
		return 0, err
	}
	// The count must be kept even when the caller has gone: the directory's was.
	ctx = context.WithoutCancel(ctx)
	if r.Counted {
		if _, failed := t.store.AddFailure(ctx, s.user, t.now(), window); failed != nil {
			return 0, failed
		}
	}
	if _, failed := t.store.AddFailure(ctx, s.address, t.now(), t.Window); failed != nil {
		return 0, failed
	}
	return 0, err
}

// count counts a failure of an address alone, and tells how long it is blocked.
func (t *throttle) count(ctx context.Context, address string) (time.Duration, error) {
	if after, err := t.blocked(ctx, address, t.PerAddress, t.Window); err != nil || after > 0 {
		return after, err
	}
	_, err := t.store.AddFailure(ctx, address, t.now(), t.Window)
	return 0, err
}

// blocked tells for how long a subject has used up what it may fail.
func (t *throttle) blocked(ctx context.Context, subject string, limit int, window time.Duration) (time.Duration, error) {
	f, err := t.store.Failures(ctx, subject)
	if err != nil || f.Count < limit {
		return 0, err
	}
	return max(0, f.Last.Add(window).Sub(t.now())), nil
}

// enter waits until one more login of the user may fail, and takes a place. It
// returns for how long the user is blocked instead, if that is so.
func (t *throttle) enter(ctx context.Context, user string, limit int, window time.Duration) (place, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, t.MaxWait)
	defer cancel()
	q := t.join(user)
	failed, after, err := t.wait(ctx, q, user, limit, window)
	if err != nil || after > 0 {
		t.part(user, q, false)
		return place{}, after, waited(ctx, err)
	}
	return place{user, q, failed}, 0, nil
}

// wait waits in a queue for a place, in turn. It returns what counts against the
// user, or for how long the user is blocked.
func (t *throttle) wait(ctx context.Context, q *queue, user string, limit int, window time.Duration) (int, time.Duration, error) {
	select {
	case q.head <- struct{}{}:
		defer func() { <-q.head }()
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	}
	for {
		// A failure is counted before its place is given back, so that count and
		// places together never exceed the limit.
		f, err := t.store.Failures(ctx, user)
		if t.now().Sub(f.Last) >= window {
			f.Count = 0
		}
		switch {
		case err != nil:
			return 0, 0, err
		case f.Count >= limit:
			return 0, max(time.Second, f.Last.Add(window).Sub(t.now())), nil
		case q.take(limit - f.Count):
			return f.Count, 0, nil
		}
		select {
		case <-q.left:
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		}
	}
}

// waited turns the end of our own patience into an answer.
func waited(ctx context.Context, err error) error {
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &fault.Error{Kind: fault.Unavailable, Message: "too many logins of this user at once", After: time.Second, Err: err}
	}
	return err
}

// join enters the queue of a user.
func (t *throttle) join(user string) *queue {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.users[user]
	if q == nil {
		q = &queue{head: make(chan struct{}, 1), left: make(chan struct{}, 1)}
		t.users[user] = q
	}
	q.here++
	return q
}

// part leaves the queue of a user, and gives back the place if there is one.
func (t *throttle) part(user string, q *queue, placed bool) {
	if placed {
		q.give()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if q.here--; q.here == 0 {
		delete(t.users, user)
	}
}
