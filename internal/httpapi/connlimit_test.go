package httpapi_test

import (
	"fmt"
	"net"
	"testing"

	"vigil/internal/httpapi"
)

// addressListener accepts a connection from each of its addresses in turn.
type addressListener struct {
	net.Listener
	addresses []string
}

func (l *addressListener) Accept() (net.Conn, error) {
	if len(l.addresses) == 0 {
		return nil, net.ErrClosed
	}
	a, err := net.ResolveTCPAddr("tcp", l.addresses[0])
	l.addresses = l.addresses[1:]
	return addressConn{remote: a}, err
}

type addressConn struct {
	net.Conn
	remote net.Addr
}

func (c addressConn) RemoteAddr() net.Addr { return c.remote }
func (c addressConn) Close() error         { return nil }

func TestConnectionsOfOneNetworkAreLimited(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, address string
		want          int
	}{
		{"one IPv4 address", "192.0.2.1:%d", 2048},
		{"addresses of one IPv6 network", "[2001:db8::%x]:80", 2048},
		{"several IPv6 networks", "[2001:db8:0:%x::1]:80", 3000},
	} {
		var addresses []string
		for i := range 3000 {
			addresses = append(addresses, fmt.Sprintf(tt.address, i+1))
		}
		l := httpapi.LimitConns(&addressListener{addresses: addresses}, nil)
		accepted := 0
		for {
			if _, err := l.Accept(); err != nil {
				break
			}
			accepted++
		}
		if accepted != tt.want {
			t.Errorf("%s: %d connections were accepted, want %d", tt.name, accepted, tt.want)
		}
	}
}
