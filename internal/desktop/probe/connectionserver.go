package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/reach"
)

// connectionServer returns the target of a connection server.
func (f TargetFactory) connectionServer(cs desktop.ConnectionServer, token desktop.SecretRef) Target {
	type spec struct {
		Server desktop.ConnectionServer
		Token  desktop.SecretRef
	}
	t := Target{
		Ref: desktop.Ref{Kind: desktop.KindConnectionServer, ID: cs.ID, Name: cs.Name}, Spec: spec{cs, token},
		Careful: true, // no long pause after a refusal: a wrong token locks no account
	}
	if cs.Self {
		t.Probe = func(ctx context.Context) (desktop.Reading, *desktop.Certificate, error) { return f.probeSelf(ctx, cs) }
		return t
	}
	server := &web{address: cs.URL, trust: cs.Trust, now: f.Now}
	t.Close = server.close
	t.Probe = func(ctx context.Context) (desktop.Reading, *desktop.Certificate, error) {
		var services []desktop.Service
		var wait sync.WaitGroup
		wait.Go(func() { services = probeGateways(ctx, cs.SecureGateways) })
		health, certificate, err := f.health(ctx, server, token)
		wait.Wait()
		return desktop.ConnectionServerReading{Health: health, Services: services}, certificate, err
	}
	return t
}

// health reads a peer's health document.
func (f TargetFactory) health(ctx context.Context, server *web, token desktop.SecretRef) (desktop.PeerHealth, *desktop.Certificate, error) {
	var health desktop.PeerHealth
	header, err := f.bearer(ctx, token)
	if err != nil {
		return health, nil, err
	}
	status, body, certificate, err := server.get(ctx, server.address+desktop.HealthPath, header)
	switch {
	case err != nil:
		return health, certificate, err
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return health, certificate, &desktop.Failure{Cause: desktop.Refused, Reason: server.address + " does not accept the peer token"}
	case status != http.StatusOK:
		return health, certificate, &desktop.Failure{Cause: desktop.Broken, Reason: fmt.Sprintf("%s answers with status %d", server.address, status)}
	}
	if err := json.Unmarshal(body, &health); err != nil || health.Version == "" {
		return health, certificate, &desktop.Failure{Cause: desktop.Broken, Reason: server.address + " does not return a health document", Err: err}
	}
	return health, certificate, nil
}

// probeSelf reads this server's own health. If the server's address is not reachable, probeSelf
// does not fail, but adds a problem to the reading.
func (f TargetFactory) probeSelf(ctx context.Context, cs desktop.ConnectionServer) (desktop.Reading, *desktop.Certificate, error) {
	health, err := f.Self(ctx)
	if err != nil {
		return nil, nil, err
	}
	u, err := reach.ParseHTTPS(cs.URL)
	if err != nil {
		return nil, nil, err
	}
	port := u.Port()
	if port == "" {
		port = "443"
	}
	certificate, err := reach.Probe(ctx, net.JoinHostPort(u.Hostname(), port), cs.Trust, f.Now)
	isSelfSigned := certificate != nil && certificate.SelfSigned // as on a new installation
	if err != nil && !isSelfSigned {
		health.Problems = append(health.Problems, desktop.FailureOf(err).Reason)
	}
	return desktop.ConnectionServerReading{Health: health, Services: probeGateways(ctx, cs.SecureGateways)}, certificate, nil
}

// probeGateways checks the secure gateways of a server concurrently.
func probeGateways(ctx context.Context, gateways []desktop.SecureGateway) []desktop.Service {
	out := make([]desktop.Service, len(gateways))
	var wait sync.WaitGroup
	for i, g := range gateways {
		wait.Go(func() {
			out[i] = desktop.Service{Name: g.Service, Status: desktop.ServiceDown}
			if accepts(ctx, g.Address) {
				out[i].Status = desktop.ServiceUp
			}
		})
	}
	wait.Wait()
	return out
}

// minOpenTime is how long a gateway must keep a new connection open to count as up. It is
// longer than the round trip to a distant gateway that closes the connection.
const minOpenTime = 500 * time.Millisecond

// accepts reports whether an address accepts connections and does not close
// them at once. Gateways may send first or wait for the client.
func accepts(ctx context.Context, address string) bool {
	conn, err := reach.Connect(ctx, address, nil)
	if err != nil {
		return false
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(minOpenTime)); err != nil {
		return false
	}
	_, err = conn.Read(make([]byte, 1))
	return err == nil || errors.Is(err, os.ErrDeadlineExceeded)
}
