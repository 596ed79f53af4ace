package api

import (
	"context"
	"net/http"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/heartbeat"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

type enrolmentToken struct {
	ID        string         `json:"id"`
	Kind      desktop.Kind   `json:"kind"`
	Component desktop.ID     `json:"component_id"`
	Token     string         `json:"token,omitempty"` // only in the response of createToken
	CreatedBy string         `json:"created_by"`
	CreatedAt desktop.Millis `json:"created_at"`
	ExpiresAt desktop.Millis `json:"expires_at"`
	UsedAt    desktop.Millis `json:"used_at,omitempty"`
}

func tokenOf(t heartbeat.Token) enrolmentToken {
	return enrolmentToken{
		ID: t.ID, Kind: t.Agent.Kind, Component: t.Agent.ID, CreatedBy: t.CreatedBy,
		CreatedAt: desktop.MillisOf(t.CreatedAt), ExpiresAt: desktop.MillisOf(t.ExpiresAt), UsedAt: desktop.MillisOf(t.UsedAt),
	}
}

type tokenSpec struct {
	Kind      string     `json:"kind" required:"true" enum:"GATEWAY,RDS_SERVER"`
	Component desktop.ID `json:"component_id" required:"true"`
	ExpiresIn int        `json:"expires_in_seconds"` // 0 for the default
}

// Validate checks the requested lifetime.
func (s tokenSpec) Validate() error {
	if s.ExpiresIn < 0 || s.ExpiresIn > 30*24*3600 {
		return fault.Field("expires_in_seconds", "must be from 1 to 2592000")
	}
	return nil
}

func (a *API) listTokens(ctx context.Context, _ httpapi.None) ([]enrolmentToken, error) {
	all, err := a.Heartbeats.Store.Tokens(ctx)
	return httpapi.Each(all, tokenOf), err
}

func (a *API) createToken(ctx context.Context, in tokenSpec) (httpapi.Reply, error) {
	agent := heartbeat.Agent{Kind: desktop.Kind(in.Kind), ID: in.Component}
	if !a.Heartbeats.Knows(agent) {
		return httpapi.Reply{}, fault.Field("component_id", "is not a %s of the inventory", in.Kind)
	}
	t, secret, err := a.Heartbeats.NewToken(ctx, callerOf(ctx).Name, agent, time.Duration(in.ExpiresIn)*time.Second)
	if err != nil {
		return httpapi.Reply{}, err
	}
	wire := tokenOf(t)
	wire.Token = secret
	return httpapi.Created("/rest/config/v1/enrollment-tokens/"+t.ID, "", wire), nil
}

func (a *API) deleteToken(ctx context.Context, in idPath) (httpapi.Reply, error) {
	return httpapi.NoContent(), a.Heartbeats.Store.DeleteToken(ctx, in.ID)
}

type enrolledAgent struct {
	Kind     desktop.Kind   `json:"kind"`
	ID       desktop.ID     `json:"id"`
	Name     string         `json:"name"`
	Serial   string         `json:"certificate_serial"`
	NotAfter desktop.Millis `json:"certificate_not_after"`
	Revoked  bool           `json:"revoked"`
	LastSeen desktop.Millis `json:"last_seen_at,omitempty"`
}

func (a *API) listAgents(ctx context.Context, _ httpapi.None) ([]enrolledAgent, error) {
	all, err := a.Heartbeats.Roster(ctx)
	return httpapi.Each(all, func(m heartbeat.Member) enrolledAgent {
		return enrolledAgent{
			Kind: m.Agent.Kind, ID: m.Agent.ID, Name: m.Name, Serial: m.Newest.Serial,
			NotAfter: desktop.MillisOf(m.Newest.NotAfter), Revoked: !m.Newest.RevokedAt.IsZero(),
			LastSeen: desktop.MillisOf(m.LastSeen),
		}
	}), err
}

type agentPath struct {
	Kind string `path:"kind"`
	ID   string `path:"id"`
}

func (a *API) revokeAgent(ctx context.Context, in agentPath) (httpapi.Reply, error) {
	kind, ok := heartbeat.ParseKind(in.Kind)
	if !ok {
		return httpapi.Reply{}, fault.New(fault.NotFound, "there are no agents of this kind")
	}
	return httpapi.NoContent(), a.Heartbeats.Revoke(ctx, heartbeat.Agent{Kind: kind, ID: desktop.ID(in.ID)})
}

func (a *API) enrol(ctx context.Context, in heartbeat.EnrolRequest) (heartbeat.Enrolment, error) {
	return a.Heartbeats.Enrol(ctx, in)
}

// The handlers below need the client certificate of the request, which
// functions adapted by httpapi.JSON cannot access.

func (a *API) renew(_ http.ResponseWriter, r *http.Request) (any, error) {
	var in heartbeat.RenewRequest
	if err := httpapi.Bind(r, &in); err != nil {
		return nil, err
	}
	return a.Heartbeats.Renew(r.Context(), clientOf(r), in)
}

func (a *API) agentStatus(_ http.ResponseWriter, r *http.Request) (any, error) {
	return a.Heartbeats.AgentStatus(r.Context(), clientOf(r))
}

func (a *API) gatewayBeat(_ http.ResponseWriter, r *http.Request) (any, error) {
	var in heartbeat.GatewayReport
	if err := httpapi.Bind(r, &in); err != nil {
		return nil, err
	}
	return a.Heartbeats.GatewayBeat(r.Context(), clientOf(r), desktop.ID(r.PathValue("id")), in)
}

func (a *API) agentBeat(_ http.ResponseWriter, r *http.Request) (any, error) {
	var in heartbeat.AgentReport
	if err := httpapi.Bind(r, &in); err != nil {
		return nil, err
	}
	return a.Heartbeats.AgentBeat(r.Context(), clientOf(r), desktop.ID(r.PathValue("id")), in)
}
