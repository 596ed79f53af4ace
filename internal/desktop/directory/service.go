package directory

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"vigil/internal/desktop"
)

// refused records a password of the service account that the directory refused.
// Retrying it would lock the account.
type refused struct {
	sum     [sha256.Size]byte
	readAt  time.Time // when the directory refused it
	failure *desktop.Failure
}

// refusedWait is how long a refused password is not retried when the domain's
// observation window is unknown: longer than the usual half hour.
const refusedWait = 31 * time.Minute

// asService binds as the domain's service account and calls do.
func (c *Client) asService(ctx context.Context, d *domain, do func(*conn, root) error) error {
	password, err := c.options.Secrets.Secret(ctx, d.spec.BindPassword)
	if err != nil {
		return &desktop.Failure{Cause: desktop.Refused, Reason: "the password of the service account cannot be read", Err: err}
	}
	sum := sha256.Sum256([]byte(password))
	if f := d.stillRefused(sum, c.options.Now()); f != nil {
		return f
	}
	err = c.asUser(ctx, d, d.spec.BindUser, password, do)
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		return err
	}
	failure := &desktop.Failure{
		Cause: desktop.Refused, Err: refusal,
		Reason: d.spec.DNSName + " refuses the service account: " + string(refusal.Reason),
	}
	if refusal.Counted {
		d.mu.Lock()
		d.refused = refused{sum, c.options.Now(), failure}
		d.mu.Unlock()
	}
	return failure
}

// stillRefused returns the failure of a password that was refused recently, or
// nil if it may be tried.
func (d *domain) stillRefused(sum [sha256.Size]byte, now time.Time) *desktop.Failure {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refused.failure == nil || d.refused.sum != sum {
		return nil
	}
	wait := refusedWait
	if d.lockout != nil {
		wait = 0
		if d.lockout.Threshold > 0 {
			// A directory forgets failures after a full observation window without one.
			wait = d.lockout.Window + time.Minute
		}
	}
	if now.Sub(d.refused.readAt) < wait {
		return d.refused.failure
	}
	return nil
}
