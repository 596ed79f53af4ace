package directory

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"vigil/internal/desktop"
)

// serviceAccount records which password of a domain's service account the directory accepted, and which it
// refused. A reload of the inventory keeps the record, unless it changes the account.
type serviceAccount struct {
	slot chan struct{} // semaphore of binds with a password that was not accepted yet

	mu       sync.Mutex
	accepted [sha256.Size]byte // hash of the password that the directory accepted
	refused  refused           // password that must not be tried again yet
}

func newServiceAccount() *serviceAccount { return &serviceAccount{slot: make(chan struct{}, 1)} }

// refused records a password of the service account that the directory refused.
// Retrying it would lock the account.
type refused struct {
	sum     [sha256.Size]byte
	at      time.Time
	failure *desktop.Failure
}

// refusedWait is how long a refused password is not retried when the domain's
// observation window is unknown: longer than the usual half hour.
const refusedWait = 31 * time.Minute

// asService binds as the domain's service account and passes the connection to do.
func (c *Client) asService(ctx context.Context, d *domain, do func(*conn, root) error) error {
	password, err := c.options.Secrets.Secret(ctx, d.spec.BindPassword)
	if err != nil {
		return &desktop.Failure{Cause: desktop.Refused, Reason: "the password of the service account cannot be read", Err: err}
	}
	sum := sha256.Sum256([]byte(password))
	if f := d.stillRefused(sum, c.options.Now()); f != nil {
		return f
	}
	guard := func(bind func() error) error { return c.bindService(ctx, d, sum, bind) }
	err = c.bindAs(ctx, d, d.spec.BindUser, password, guard, do)
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		return err
	}
	return d.serviceRefused(refusal)
}

func (d *domain) serviceRefused(r *Refusal) *desktop.Failure {
	return &desktop.Failure{
		Cause: desktop.Refused, Err: r,
		Reason: d.spec.DNSName + " refuses the service account: " + string(r.Reason),
	}
}

// bindService binds with the password that has the given hash. Until the directory has accepted it, one
// bind runs at a time: several at once would each count towards the lockout if it is wrong.
func (c *Client) bindService(ctx context.Context, d *domain, sum [sha256.Size]byte, bind func() error) error {
	if !d.service.hasAccepted(sum) {
		select {
		case d.service.slot <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		release := func() { <-d.service.slot }
		if d.service.hasAccepted(sum) { // accepted meanwhile: the other waiting binds may run together
			release()
		} else {
			defer release()
		}
		if f := d.stillRefused(sum, c.options.Now()); f != nil {
			return f
		}
	}
	err := bind()
	d.service.mu.Lock()
	defer d.service.mu.Unlock()
	if refusal := refusalOf(err); refusal != nil && refusal.Counted {
		d.service.accepted = [sha256.Size]byte{}
		d.service.refused = refused{sum, c.options.Now(), d.serviceRefused(refusal)}
	} else if err == nil {
		d.service.accepted = sum
		if d.service.refused.sum == sum { // a longer window that is read later must not block the password again
			d.service.refused = refused{}
		}
	}
	return err
}

func (s *serviceAccount) hasAccepted(sum [sha256.Size]byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted == sum
}

// stillRefused returns the failure of a password that was refused recently, or
// nil if it may be tried.
func (d *domain) stillRefused(sum [sha256.Size]byte, now time.Time) *desktop.Failure {
	d.service.mu.Lock()
	last := d.service.refused
	d.service.mu.Unlock()
	if last.failure == nil || last.sum != sum {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	wait := refusedWait
	if d.lockout != nil {
		wait = 0
		if d.lockout.Threshold > 0 {
			// A directory forgets failures after a full observation window without a failure.
			wait = d.lockout.Window + time.Minute
		}
	}
	if now.Sub(last.at) < wait {
		return last.failure
	}
	return nil
}
