package httpapi

import (
	"net"
	"net/netip"
	"sync"
)

// Limits on open connections. Each connection takes some tens of kilobytes with
// TLS, even when idle.
const (
	maxConns        = 8192
	maxConnsAddress = 2048 // from one address that is not a trusted proxy
)

// A connLimiter is a listener that closes new connections above the limits.
type connLimiter struct {
	net.Listener
	trusted Proxies

	mu    sync.Mutex
	total int
	open  map[netip.Addr]int
}

func limitConns(l net.Listener, trusted Proxies) net.Listener {
	return &connLimiter{Listener: l, trusted: trusted, open: make(map[netip.Addr]int)}
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
		_ = c.Close() // without an error: no protocol is spoken yet
	}
}

func (l *connLimiter) take(from netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total >= maxConns || l.open[from] >= maxConnsAddress && !l.trusted.Contains(from) {
		return false
	}
	l.total++
	l.open[from]++
	return true
}

func (l *connLimiter) release(from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	l.open[from]--
	if l.open[from] == 0 {
		delete(l.open, from)
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
