package eventdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"net"

	"vigil/internal/desktop/reach"
)

// cuttable is a connector of the Oracle driver whose attempts can be given up.
// The driver's own way races with itself: it closes, without a lock, what it is
// still dialling. So it never learns that a context has ended; the wire is cut
// instead, which a net.Conn allows at any time.
type cuttable struct{ driver.Connector }

// Connect connects until ctx ends.
func (c cuttable) Connect(ctx context.Context) (driver.Conn, error) {
	a := &attempt{ctx: ctx}
	defer a.keep()
	conn, err := c.Connector.Connect(context.WithValue(context.WithoutCancel(ctx), attemptKey{}, a))
	if given := ctx.Err(); err != nil && given != nil {
		return nil, fmt.Errorf("%w: %w", given, err)
	}
	return conn, err
}

// An attempt is one call of Connect.
type attempt struct {
	ctx  context.Context
	stop []func() bool
}

// attemptKey is the key of a context's attempt.
type attemptKey struct{}

// keep leaves the attempt's connections to whoever uses them now.
func (a *attempt) keep() {
	for _, stop := range a.stop {
		stop()
	}
}

// A cuttableDialer dials for attempts of a cuttable connector.
type cuttableDialer struct{ reach.WatchedDialer }

// DialContext connects for as long as the attempt goes on.
func (d cuttableDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	a, ok := ctx.Value(attemptKey{}).(*attempt)
	if !ok {
		return d.WatchedDialer.DialContext(ctx, network, address)
	}
	conn, err := d.WatchedDialer.DialContext(a.ctx, network, address)
	if err == nil {
		a.stop = append(a.stop, context.AfterFunc(a.ctx, func() { _ = conn.Close() }))
	}
	return conn, err
}
