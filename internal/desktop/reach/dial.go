package reach

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/outbound"
)

// dialTimeout limits one attempt to connect; the context limits all attempts.
const dialTimeout = 5 * time.Second

// Dialer returns the dialer of all probes. It tries all addresses of a name.
// Components may run on this machine, but an address in the inventory must not
// lead a probe to a cloud's metadata service.
func Dialer() *net.Dialer {
	return outbound.Policy{AllowSelf: true}.Dialer(dialTimeout)
}

// Connect dials an address and, with a configuration, starts TLS.
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

// Probe connects to an address over TLS and returns the server's certificate. If the
// certificate is not accepted, Probe returns it together with the error.
func Probe(ctx context.Context, address string, t desktop.Trust, now func() time.Time) (*desktop.Certificate, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &desktop.Failure{Cause: desktop.Malformed, Reason: address + " is not host:port", Err: err}
	}
	peerCert := new(PeerCertificate)
	config, err := TLS(t, host, now, peerCert)
	if err != nil {
		return nil, err
	}
	conn, err := Connect(ctx, address, config)
	if err != nil {
		return peerCert.Certificate(), Failure(address, err)
	}
	_ = conn.Close()
	return peerCert.Certificate(), nil
}
