// Package flakylistener provides a TCP listener whose connections can be reset
// or left hanging.
//
// A simulated component that uses it can look to a probe like a machine that is
// down or hangs, while its port stays reserved.
package flakylistener

import (
	"net"
	"sync"
)

// State is the state of a listener.
type State int

// The states of a listener.
const (
	Up   State = iota // connections are served
	Down              // connections are reset at once
	Hung              // connections are accepted and never answered
)

// Listener is a [net.Listener] with a state. It is safe for concurrent use.
type Listener struct {
	net.Listener

	mu     sync.Mutex
	state  State
	closed bool
	open   map[net.Conn]struct{} // served and hanging connections
}

// Listen listens on a TCP address, in the state Up.
func Listen(address string) (*Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return &Listener{Listener: l, open: map[net.Conn]struct{}{}}, nil
}

// Port returns the listener's port.
func (l *Listener) Port() int { return l.Addr().(*net.TCPAddr).Port }

// State returns the current state.
func (l *Listener) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// Set changes the state and resets all open connections, so that peers must
// reconnect.
func (l *Listener) Set(s State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = s
	for c := range l.open {
		reset(c)
	}
	clear(l.open)
}

// Accept returns the next connection to serve.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if served := l.accept(c); served != nil {
			return served, nil
		}
	}
}

// Close stops listening and closes all connections.
func (l *Listener) Close() error {
	err := l.Listener.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for c := range l.open {
		reset(c)
	}
	clear(l.open)
	return err
}

func (l *Listener) accept(c net.Conn) net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed, l.state == Down: // if Close ran after the system accepted c, it did not reset c
		reset(c)
		return nil
	case l.state == Hung:
		l.open[c] = struct{}{}
		return nil
	}
	l.open[c] = struct{}{}
	return &conn{Conn: c, listener: l}
}

func (l *Listener) forget(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// reset closes a connection with a TCP reset rather than an orderly shutdown.
func reset(c net.Conn) {
	if tc, ok := c.(*net.TCPConn); ok {
		_ = tc.SetLinger(0) // ignored: the connection is closed in any case
	}
	_ = c.Close()
}

type conn struct {
	net.Conn
	listener *Listener
}

func (c *conn) Close() error {
	c.listener.forget(c.Conn)
	return c.Conn.Close()
}
