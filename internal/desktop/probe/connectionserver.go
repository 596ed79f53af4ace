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

// connectionServer makes the target of a connection server.
func (e Estate) connectionServer(cs desktop.ConnectionServer, token desktop.SecretRef) Target {
	type spec struct {
		Server desktop.ConnectionServer
		Token  desktop.SecretRef
	}
	t := Target{
		Ref: desktop.Ref{Kind: desktop.KindConnectionServer, ID: cs.ID, Name: cs.Name}, Spec: spec{cs, token},
		Careful: true, // a wrong token locks nobody
	}
	if cs.Self {
		t.Look = func(ctx context.Context) (desktop.Reading, *desktop.Certificate, error) { return e.lookAtSelf(ctx, cs) }
		return t
	}
	server := &web{address: cs.URL, trust: cs.Trust, now: e.Now}
	t.Close = server.close
	t.Look = func(ctx context.Context) (desktop.Reading, *desktop.Certificate, error) {
		var services []desktop.Service
		var wait sync.WaitGroup
		wait.Go(func() { services = lookAtGateways(ctx, cs.SecureGateways) })
		health, certificate, err := e.health(ctx, server, token)
		wait.Wait()
		return desktop.ConnectionServerReading{Health: health, Services: services}, certificate, err
	}
	return t
}

// health reads the health document of a peer.
func (e Estate) health(ctx context.Context, server *web, token desktop.SecretRef) (desktop.PeerHealth, *desktop.Certificate, error) {
	var health desktop.PeerHealth
	header, err := e.bearer(ctx, token)
	if err != nil {
		return health, nil, err
	}
	status, body, certificate, err := server.get(ctx, server.address+desktop.HealthPath, header)
	switch {
	case err != nil:
		return health, certificate, err
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return health, certificate, &desktop.Failure{Cause: desktop.Refused, Reason: server.address + " does not accept the peers' token"}
	case status != http.StatusOK:
		return health, certificate, &desktop.Failure{Cause: desktop.Broken, Reason: fmt.Sprintf("%s answers with status %d", server.address, status)}
	}
	if err := json.Unmarshal(body, &health); err != nil || health.Version == "" {
		return health, certificate, &desktop.Failure{Cause: desktop.Broken, Reason: server.address + " tells nothing of its health", Err: err}
	}
	return health, certificate, nil
}

// lookAtSelf tells of ourselves. That we cannot reach our own address is a
// problem we report; it does not keep us from telling the rest.
func (e Estate) lookAtSelf(ctx context.Context, cs desktop.ConnectionServer) (desktop.Reading, *desktop.Certificate, error) {
	health, err := e.Self(ctx)
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
	certificate, err := reach.Look(ctx, net.JoinHostPort(u.Hostname(), port), cs.Trust, e.Now)
	if err != nil && !(certificate != nil && certificate.SelfMade) {
		health.Problems = append(health.Problems, desktop.FailureOf(err).Reason)
	}
	return desktop.ConnectionServerReading{Health: health, Services: lookAtGateways(ctx, cs.SecureGateways)}, certificate, nil
}

// lookAtGateways tries the secure gateways of a server, all at a time.
func lookAtGateways(ctx context.Context, gateways []desktop.SecureGateway) []desktop.Service {
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

// lull is how long a gateway must leave a new connection open to count as up.
const lull = 100 * time.Millisecond

// accepts reports whether something accepts connections at an address and does
// not hang up at once. Gateways speak first or wait; either is fine.
func accepts(ctx context.Context, address string) bool {
	conn, err := reach.Connect(ctx, address, nil)
	if err != nil {
		return false
	}
	defer conn.Close()
	if err := conn.SetReadDeadline(time.Now().Add(lull)); err != nil {
		return false
	}
	_, err = conn.Read(make([]byte, 1))
	return err == nil || errors.Is(err, os.ErrDeadlineExceeded)
}
