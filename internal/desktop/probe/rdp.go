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

// listener makes the target of the RDP listener of a server. It goes as far as
// agreeing on TLS and sees the certificate; nobody is logged in.
func (e Estate) listener(r desktop.RDSServer) Target {
	return Target{
		Ref: desktop.Ref{Kind: desktop.KindRDSListener, ID: r.ID, Name: r.Name}, Spec: r.Address,
		Look: func(ctx context.Context) (desktop.Reading, *desktop.Certificate, error) {
			conn, err := reach.Connect(ctx, r.Address, nil)
			if err != nil {
				return nil, nil, err
			}
			defer conn.Close()
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			defer stop()
			protocol, err := negotiate(conn)
			if hungUp(err) && ctx.Err() == nil {
				err = notRDP("it hangs up")
			}
			if err != nil {
				return nil, nil, err
			}
			if protocol == protocolRDP {
				return desktop.ListenerReading{Protocol: "RDP"}, nil, nil
			}
			certificate, err := e.shownBy(ctx, conn)
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

// connectionRequest asks for a connection over TLS or CredSSP: a TPKT header, an
// X.224 connection request, an RDP negotiation request.
var connectionRequest = []byte{
	3, 0, 0, 19,
	14, 0xe0, 0, 0, 0, 0, 0,
	1, 0, 8, 0, protocolTLS | protocolCredSSP, 0, 0, 0,
}

// negotiate agrees on a security protocol with an RDP listener.
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
	return confirmed(body)
}

// confirmed reads the confirmation of a connection.
func confirmed(body []byte) (uint32, error) {
	const confirm, response, refusal = 0xd0, 2, 3
	if len(body) < 7 || body[1] != confirm {
		return 0, notRDP("it does not confirm the connection")
	}
	if len(body) < 15 {
		return protocolRDP, nil // an old listener does not negotiate
	}
	value := binary.LittleEndian.Uint32(body[11:])
	switch {
	case body[7] == refusal:
		return 0, notRDP(fmt.Sprintf("it refuses TLS (code %d)", value))
	case body[7] != response, value > protocolCredSSP:
		return 0, notRDP("it agrees on a protocol we do not know")
	}
	return value, nil
}

// hungUp reports whether a listener that took our connection has ended it.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func notRDP(why string) error {
	return &desktop.Failure{Cause: desktop.Broken, Reason: "the RDP listener fails: " + why}
}

// shownBy sees the certificate that a listener shows. RDP listeners mostly have
// one that nobody vouches for, and clients ask their users; so it is described
// and not judged.
func (e Estate) shownBy(ctx context.Context, conn net.Conn) (*desktop.Certificate, error) {
	secure := tls.Client(conn, &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true})
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, notRDP("TLS is not to be had: " + reach.Failure("it", err).Reason)
	}
	chain := secure.ConnectionState().PeerCertificates
	if len(chain) == 0 {
		return nil, nil
	}
	c := reach.Describe(chain[0])
	c.Valid = !e.Now().Before(chain[0].NotBefore) && !e.Now().After(chain[0].NotAfter)
	return &c, nil
}
