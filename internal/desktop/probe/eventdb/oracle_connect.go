package eventdb

import (
	"context"
	"database/sql/driver"
	"fmt"
	"net"

	"vigil/internal/desktop/reach"
)

// cancellable is a connector of the Oracle driver whose attempts can be cancelled.
// The driver's own cancellation has a data race: it closes, without a lock, the
// connection that it is still dialling. So the driver never gets a cancelled
// context; instead the net.Conn is closed, which is allowed at any time.
type cancellable struct{ driver.Connector }

// Connect makes a connection. It gives up when ctx is done.
func (c cancellable) Connect(ctx context.Context) (driver.Conn, error) {
	a := &attempt{ctx: ctx}
	defer a.keep()
	neverDone := context.WithoutCancel(ctx)
	conn, err := c.Connector.Connect(context.WithValue(neverDone, attemptKey{}, a))
	if ctxErr := ctx.Err(); err != nil && ctxErr != nil {
		return nil, fmt.Errorf("%w: %w", ctxErr, err)
	}
	return conn, err
}

// An attempt is one call of Connect.
type attempt struct {
	ctx  context.Context
	stop []func() bool // one for each connection: it prevents that the end of ctx closes the connection
}

// attemptKey is the context key of an attempt.
type attemptKey struct{}

// keep stops the attempt from closing its connections when its context is done.
func (a *attempt) keep() {
	for _, stop := range a.stop {
		stop()
	}
}

// A cancellableDialer dials for a cancellable connector.
type cancellableDialer struct{ reach.WatchedDialer }

// DialContext returns a connection that is closed when the attempt's context is
// done.
func (d cancellableDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
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
