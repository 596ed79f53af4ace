package directory

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"

	ber "github.com/go-asn1-ber/asn1-ber"
	"github.com/go-ldap/ldap/v3"

	"vigil/internal/sim/flakylistener"
)

// session is one connection of a client.
type session struct {
	server *Server
	conn   net.Conn
	secure bool
	user   *account // the bound user; nil for none
}

func (s *Server) serve(ctx context.Context, l *flakylistener.Listener, config *tls.Config) {
	var open sync.WaitGroup
	defer open.Wait()
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		open.Add(1)
		go func() {
			defer open.Done()
			defer c.Close()
			in := &session{server: s, conn: c}
			if config != nil && !in.handshake(ctx, config) {
				return
			}
			in.run(ctx)
		}()
	}
}

func (in *session) handshake(ctx context.Context, config *tls.Config) bool {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	c := tls.Server(in.conn, config)
	if err := c.HandshakeContext(ctx); err != nil {
		return false
	}
	in.conn, in.secure = c, true
	return true
}

// run handles requests sequentially until the client disconnects.
func (in *session) run(ctx context.Context) {
	for ctx.Err() == nil {
		p, err := ber.ReadPacket(in.conn)
		if err != nil {
			return
		}
		m, err := parseMessage(p)
		if err != nil || !in.answer(ctx, m) {
			return
		}
	}
}

// answer handles one request and reports whether the connection stays open.
func (in *session) answer(ctx context.Context, m message) bool {
	switch m.op.Tag {
	case ldap.ApplicationBindRequest:
		r, err := parseBind(m.op)
		if err != nil {
			return false
		}
		if in.server.Fault() == BindHung {
			return true
		}
		return in.send(in.bind(r).packet(m.id, ldap.ApplicationBindResponse))
	case ldap.ApplicationSearchRequest:
		r, err := parseSearch(m.op)
		if err != nil {
			return false
		}
		return in.send(in.search(m.id, r)...)
	case ldap.ApplicationExtendedRequest:
		return in.handleExtended(ctx, m)
	case ldap.ApplicationAbandonRequest:
		return true // requests are answered one by one: none is left to abandon
	}
	return false // unbind and unsupported requests
}

func (in *session) handleExtended(ctx context.Context, m message) bool {
	if len(m.op.Children) == 0 || octets(m.op.Children[0]) != startTLS {
		r := result{code: ldap.LDAPResultProtocolError, diagnostic: "unsupported extended operation"}
		return in.send(r.packet(m.id, ldap.ApplicationExtendedResponse))
	}
	if in.secure {
		r := result{code: ldap.LDAPResultOperationsError, diagnostic: "TLS is already in use"}
		return in.send(r.packet(m.id, ldap.ApplicationExtendedResponse))
	}
	return in.send(result{}.packet(m.id, ldap.ApplicationExtendedResponse)) && in.handshake(ctx, in.server.tls)
}

func (in *session) send(packets ...*ber.Packet) bool {
	var out []byte
	for _, p := range packets {
		out = append(out, p.Bytes()...)
	}
	_ = in.conn.SetWriteDeadline(time.Now().Add(10 * time.Second))
	_, err := in.conn.Write(out)
	return err == nil
}
