package reach

import (
	"context"
	"net"
	"sync/atomic"
)

// A Wire is a connection that remembers why it broke. Some libraries pass on no
// more than the text of such an error, which tells nobody what to do.
type Wire struct {
	net.Conn
	fate *Fate
}

// Fate is why the last of some connections broke. It is safe for concurrent use.
type Fate struct{ err atomic.Pointer[error] }

// Err returns why the connection broke, or nil.
func (f *Fate) Err() error {
	if err := f.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Forget begins anew.
func (f *Fate) Forget() { f.err.Store(nil) }

// Watch returns a connection that tells its fate.
func Watch(c net.Conn, f *Fate) *Wire { return &Wire{c, f} }

// Read implements [net.Conn].
func (w *Wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	w.note(err)
	return n, err
}

// Write implements [net.Conn].
func (w *Wire) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	w.note(err)
	return n, err
}

func (w *Wire) note(err error) {
	if err != nil {
		w.fate.err.CompareAndSwap(nil, &err)
	}
}

// A WatchedDialer is [Dialer] with connections that tell their fate.
type WatchedDialer struct{ Fate *Fate }

// DialContext connects as [net.Dialer] does.
func (d WatchedDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := Dialer().DialContext(ctx, network, address)
	if err != nil {
		d.Fate.err.CompareAndSwap(nil, &err)
		return nil, err
	}
	return Watch(c, d.Fate), nil
}
