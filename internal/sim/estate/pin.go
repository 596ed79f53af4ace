package estate

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"

	"vigil/internal/desktop/heartbeat"
	"vigil/internal/sim/pki"
)

// Pin reads the certificate of the product at an https URL, and returns a trust
// in that certificate. A real administrator would first compare its thumbprint.
func Pin(ctx context.Context, server string) (heartbeat.ServerTrust, error) {
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} // the certificate is only read
	conn, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(server, "https://"))
	if err != nil {
		return heartbeat.ServerTrust{}, fmt.Errorf("read the server's certificate: %w", err)
	}
	defer conn.Close()
	certificate := conn.(*tls.Conn).ConnectionState().PeerCertificates[0]
	return heartbeat.ServerTrust{Thumbprint: pki.Thumbprint(certificate)}, nil
}
