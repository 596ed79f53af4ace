package httpapi

import (
	"net"
	"net/netip"
	"sync"

	"vigil/internal/subnet"
)

// Limits on open connections. Each connection takes some tens of kilobytes with
// TLS, even when idle.
const (
	maxConns        = 8192
	maxConnsNetwork = 2048 // from one network that is not a trusted proxy; see subnet.Of
)

// A connLimiter is a listener that closes new connections above the limits.
type connLimiter struct {
	net.Listener
	trusted Proxies

	mu    sync.Mutex
	total int
	open  map[string]int // by network
}

func limitConns(l net.Listener, trusted Proxies) net.Listener {
	return &connLimiter{Listener: l, trusted: trusted, open: make(map[string]int)}
}

// Accept returns the next connection that is within the limits.
func (l *connLimiter) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := addressOf(c.RemoteAddr())
		if l.take(from) {
			return &limitedConn{Conn: c, release: sync.OnceFunc(func() { l.release(from) })}, nil
		}
		_ = c.Close() // without an error message: no protocol is spoken yet
	}
}

func (l *connLimiter) take(from netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := subnet.Of(from.String())
	if l.total >= maxConns || l.open[key] >= maxConnsNetwork && !l.trusted.Contains(from) {
		return false
	}
	l.total++
	l.open[key]++
	return true
}

func (l *connLimiter) release(from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := subnet.Of(from.String())
	l.total--
	l.open[key]--
	if l.open[key] == 0 {
		delete(l.open, key)
	}
}

func addressOf(a net.Addr) netip.Addr {
	p, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return p.Addr().Unmap().WithZone("")
}

// limitedConn releases its place in the limits when it is closed.
type limitedConn struct {
	net.Conn
	release func()
}

func (c *limitedConn) Close() error {
	c.release()
	return c.Conn.Close()
}
