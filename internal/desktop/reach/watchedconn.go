package reach

import (
	"context"
	"net"
	"sync/atomic"
)

// A WatchedConn is a connection that records why it broke. Some libraries only keep
// the text of such an error, which cannot be classified.
type WatchedConn struct {
	net.Conn
	firstErr *FirstError
}

// FirstError records the first error of some connections since the last Clear. It is
// safe for concurrent use.
type FirstError struct{ err atomic.Pointer[error] }

// Err returns the recorded error, or nil.
func (e *FirstError) Err() error {
	if err := e.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Clear clears the error.
func (e *FirstError) Clear() { e.err.Store(nil) }

// Watch returns a connection that records its error in e.
func Watch(c net.Conn, e *FirstError) *WatchedConn { return &WatchedConn{c, e} }

// Read implements [net.Conn].
func (w *WatchedConn) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	w.note(err)
	return n, err
}

// Write implements [net.Conn].
func (w *WatchedConn) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	w.note(err)
	return n, err
}

func (w *WatchedConn) note(err error) {
	if err != nil {
		w.firstErr.err.CompareAndSwap(nil, &err)
	}
}

// A WatchedDialer is [Dialer] with connections that record their errors.
type WatchedDialer struct{ FirstError *FirstError }

// DialContext connects as [net.Dialer] does.
func (d WatchedDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := Dialer().DialContext(ctx, network, address)
	if err != nil {
		d.FirstError.err.CompareAndSwap(nil, &err)
		return nil, err
	}
	return Watch(c, d.FirstError), nil
}
