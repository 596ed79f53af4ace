package api

import (
	"context"
	"crypto/x509"
	"net/http"
	"strings"

	"vigil/internal/desktop/session"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/secret"
)

// Guard authenticates the sender of a request and checks that they may use the
// route. It is the server's [httpapi.Guard].
func (a *API) Guard(r *http.Request, need string) (context.Context, error) {
	switch need {
	case agent:
		return a.guardAgent(r)
	case peer:
		return a.guardPeer(r)
	}
	ctx, caller, err := a.identify(r)
	if err != nil {
		return nil, err
	}
	httpapi.SetCaller(ctx, httpapi.Caller{ID: caller.ID, Name: caller.Name, Admin: caller.Role == session.Administrator})
	if need == admin && caller.Role != session.Administrator {
		return nil, fault.New(fault.Forbidden, "a monitoring key may only read monitoring data")
	}
	return context.WithValue(ctx, callerKey{}, caller), nil
}

// bearer returns the token of the Authorization header. The case of the scheme
// is ignored. Some clients send the token without a scheme.
func bearer(r *http.Request) string {
	value := strings.TrimSpace(r.Header.Get("Authorization"))
	scheme, token, ok := strings.Cut(value, " ")
	switch {
	case !ok:
		return value
	case strings.EqualFold(scheme, "Bearer"):
		return strings.TrimSpace(token)
	}
	return ""
}

type callerKey struct{}

// callerOf returns the caller of a guarded route.
func callerOf(ctx context.Context) session.Caller {
	c, _ := ctx.Value(callerKey{}).(session.Caller)
	return c
}

// clientOf returns the client certificate of a request, or nil. The handshake
// has proved possession of the key; the heartbeat service checks the issuer.
func clientOf(r *http.Request) *x509.Certificate {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil
	}
	return r.TLS.PeerCertificates[0]
}

func (a *API) guardAgent(r *http.Request) (context.Context, error) {
	agent, err := a.Heartbeats.Recognize(clientOf(r))
	if err != nil {
		return nil, err
	}
	httpapi.SetCaller(r.Context(), httpapi.Caller{ID: string(agent.Kind) + "/" + string(agent.ID), Name: string(agent.ID)})
	return r.Context(), nil
}

func (a *API) guardPeer(r *http.Request) (context.Context, error) {
	want, err := a.PeerToken(r.Context())
	if err != nil {
		return nil, err
	}
	got := secret.NewText(bearer(r))
	if want.IsZero() || !got.Equal(want) {
		return nil, fault.New(fault.Unauthenticated, "the peer token is required")
	}
	httpapi.SetCaller(r.Context(), httpapi.Caller{ID: "peer", Name: "peer"})
	return r.Context(), nil
}
