package probe

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
)

// listener returns the target of a server's RDP listener. Its probe negotiates
// TLS and reads the certificate; it does not log in.
func (f TargetFactory) listener(r desktop.RDSServer) Target {
	return Target{
		Ref: desktop.Ref{Kind: desktop.KindRDSListener, ID: r.ID, Name: r.Name}, Spec: r.Address,
		Probe: func(ctx context.Context) (desktop.Reading, *desktop.Certificate, error) {
			conn, err := reach.Connect(ctx, r.Address, nil)
			if err != nil {
				return nil, nil, err
			}
			defer conn.Close()
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			defer stop()
			protocol, err := negotiate(conn)
			if isClosedByPeer(err) && ctx.Err() == nil {
				err = notRDP("it closes the connection")
			}
			if err != nil {
				return nil, nil, err
			}
			if protocol == protocolRDP {
				return desktop.ListenerReading{Protocol: "RDP"}, nil, nil
			}
			certificate, err := f.certificateOf(ctx, conn)
			if err != nil {
				return nil, nil, err
			}
			return desktop.ListenerReading{Protocol: protocolNames[protocol]}, certificate, nil
		},
	}
}

// The security protocols of RDP.
const (
	protocolRDP     = 0
	protocolTLS     = 1
	protocolCredSSP = 2
)

var protocolNames = map[uint32]string{protocolTLS: "TLS", protocolCredSSP: "CredSSP"}

// connectionRequest requests a connection over TLS or CredSSP: a TPKT header,
// an X.224 connection request, and an RDP negotiation request.
var connectionRequest = []byte{
	3, 0, 0, 19,
	14, 0xe0, 0, 0, 0, 0, 0,
	1, 0, 8, 0, protocolTLS | protocolCredSSP, 0, 0, 0,
}

// negotiate negotiates a security protocol with an RDP listener.
func negotiate(conn net.Conn) (uint32, error) {
	if _, err := conn.Write(connectionRequest); err != nil {
		return 0, err
	}
	header := make([]byte, 4)
	if _, err := io.ReadFull(conn, header); err != nil {
		return 0, err
	}
	size := int(binary.BigEndian.Uint16(header[2:]))
	if header[0] != 3 || size < 11 || size > 512 {
		return 0, notRDP("it does not speak RDP")
	}
	body := make([]byte, size-4)
	if _, err := io.ReadFull(conn, body); err != nil {
		return 0, err
	}
	return selectedProtocol(body)
}

// selectedProtocol parses an X.224 connection confirm.
func selectedProtocol(body []byte) (uint32, error) {
	const confirm, response, refusal = 0xd0, 2, 3
	if len(body) < 7 || body[1] != confirm {
		return 0, notRDP("it does not confirm the connection")
	}
	if len(body) < 15 {
		return protocolRDP, nil // old listeners do not negotiate
	}
	value := binary.LittleEndian.Uint32(body[11:])
	switch {
	case body[7] == refusal:
		return 0, notRDP(fmt.Sprintf("it refuses TLS (code %d)", value))
	case body[7] != response, value > protocolCredSSP:
		return 0, notRDP("it selects an unknown protocol")
	}
	return value, nil
}

// isClosedByPeer reports whether a listener closed a connection that it had accepted.
func isClosedByPeer(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func notRDP(reason string) error {
	return &desktop.Failure{Cause: desktop.Broken, Reason: "the RDP listener fails: " + reason}
}

// certificateOf returns the certificate of a listener. It does not verify the certificate,
// because RDP listeners usually have self-signed ones, which clients ask their users to
// accept.
func (f TargetFactory) certificateOf(ctx context.Context, conn net.Conn) (*desktop.Certificate, error) {
	secure := tls.Client(conn, &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true})
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, notRDP("TLS is not available: " + reach.Failure("it", err).Reason) // a reason such as "it does not speak TLS"
	}
	chain := secure.ConnectionState().PeerCertificates
	if len(chain) == 0 {
		return nil, nil
	}
	c := reach.Describe(chain[0])
	c.Valid = !f.Now().Before(chain[0].NotBefore) && !f.Now().After(chain[0].NotAfter)
	return &c, nil
}
