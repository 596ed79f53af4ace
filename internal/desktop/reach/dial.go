package reach

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"vigil/internal/desktop"
)

// dialTimeout bounds one attempt to connect; the context bounds all.
const dialTimeout = 5 * time.Second

// forbidden are networks that no component of an estate lives in. An address
// of the inventory must not lead a probe to a cloud's metadata service.
var forbidden = []netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("224.0.0.0/4"),
	netip.MustParsePrefix("ff00::/8"),
	netip.MustParsePrefix("fd00:ec2::254/128"),
}

// Dialer returns the dialer that every probe uses. It tries all addresses of a
// name and refuses those no component lives at.
func Dialer() *net.Dialer {
	return &net.Dialer{Timeout: dialTimeout, ControlContext: refuseForbidden}
}

func refuseForbidden(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("parse address %s: %w", address, err)
	}
	for _, p := range forbidden {
		if p.Contains(at.Addr().Unmap()) {
			return &desktop.Failure{Cause: desktop.Denied, Reason: at.Addr().String() + " is an address that is never probed"}
		}
	}
	return nil
}

// Connect dials an address and, with a configuration, speaks TLS on it.
func Connect(ctx context.Context, address string, c *tls.Config) (net.Conn, error) {
	conn, err := Dialer().DialContext(ctx, "tcp", address)
	if err != nil || c == nil {
		return conn, err
	}
	secure := tls.Client(conn, c)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secure, nil
}

// Look connects to an address over TLS and returns the certificate it shows,
// also when it is not accepted and there is an error.
func Look(ctx context.Context, address string, t desktop.Trust, now func() time.Time) (*desktop.Certificate, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &desktop.Failure{Cause: desktop.Malformed, Reason: address + " is not host:port", Err: err}
	}
	shown := new(Shown)
	config, err := TLS(t, host, now, shown)
	if err != nil {
		return nil, err
	}
	conn, err := Connect(ctx, address, config)
	if err != nil {
		return shown.Certificate(), Failure(address, err)
	}
	_ = conn.Close()
	return shown.Certificate(), nil
}
