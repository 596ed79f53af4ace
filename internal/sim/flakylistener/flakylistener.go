// Package flakylistener is a TCP listener whose line can be cut, hung and mended.
//
// The simulated components listen through it, so that "the machine is gone" and
// "the machine accepts and never answers" look to a prober as they do on a real
// network, while the port stays ours.
package flakylistener

import (
	"net"
	"sync"
)

// State says how the line behaves.
type State int

// The states of a line.
const (
	Up   State = iota // connections are served
	Down              // connections are reset at once
	Hung              // connections are accepted and never answered
)

// Listener is a [net.Listener] with a switch. It is safe for concurrent use.
type Listener struct {
	net.Listener

	mu    sync.Mutex
	state State
	open  map[net.Conn]struct{} // served and held connections
}

// Listen listens on a TCP address, with the line up.
func Listen(address string) (*Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return &Listener{Listener: l, open: map[net.Conn]struct{}{}}, nil
}

// Port returns the port that is listened on.
func (l *Listener) Port() int { return l.Addr().(*net.TCPAddr).Port }

// State returns the state of the line.
func (l *Listener) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// Set changes the state of the line and drops the connections it has: whatever
// the peers were doing, they have to begin anew.
func (l *Listener) Set(s State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = s
	for c := range l.open {
		reset(c)
	}
	clear(l.open)
}

// Accept returns the next connection that is to be served.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if served := l.admit(c); served != nil {
			return served, nil
		}
	}
}

// Close stops listening and drops all connections.
func (l *Listener) Close() error {
	err := l.Listener.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		reset(c)
	}
	clear(l.open)
	return err
}

func (l *Listener) admit(c net.Conn) net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.state {
	case Down:
		reset(c)
		return nil
	case Hung:
		l.open[c] = struct{}{}
		return nil
	}
	l.open[c] = struct{}{}
	return &conn{Conn: c, line: l}
}

func (l *Listener) forget(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// reset closes a connection so that the peer sees a reset, not an orderly end.
func reset(c net.Conn) {
	if tc, ok := c.(*net.TCPConn); ok {
		_ = tc.SetLinger(0) // the connection is given up either way
	}
	_ = c.Close()
}

type conn struct {
	net.Conn
	line *Listener
}

func (c *conn) Close() error {
	c.line.forget(c.Conn)
	return c.Conn.Close()
}
