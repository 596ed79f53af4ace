// Package api serves the desktop server's REST API: its OpenAPI document, its
// routes as data, and their handlers.
//
// The monitor lists are documents that the board caches encoded, so that a
// request is a lookup and a write.
package api

import (
	"context"
	_ "embed"
	"time"

	"vigil/internal/audit"
	"vigil/internal/auth/websession"
	"vigil/internal/desktop"
	"vigil/internal/desktop/alert"
	"vigil/internal/desktop/heartbeat"
	"vigil/internal/desktop/session"
	"vigil/internal/httpapi"
	"vigil/internal/secret"
)

// Document is the OpenAPI document of the server.
//
//go:embed openapi.yaml
var Document []byte

// Board provides the monitoring state that the API serves.
type Board interface {
	Document(k desktop.Kind) desktop.Document
	Overview() desktop.Document
	Pulse() desktop.Pulse
	Matching(k desktop.Kind, match func(desktop.Record) bool) []byte
	PublicID(k desktop.Kind, id desktop.ID) desktop.ID
	ComponentID(public desktop.ID) desktop.ID
	Record(k desktop.Kind, id desktop.ID) (desktop.Record, []byte, bool)
	Domains() []desktop.DomainInfo
	Domain(sid string) (desktop.Domain, bool)
	VirtualCenters() []desktop.VirtualCenterInfo
}

// Options configure the API. All fields are required unless stated otherwise.
type Options struct {
	Board         Board
	Authenticator *session.Authenticator
	Accounts      desktop.AccountStore
	History       desktop.HistoryStore
	Samples       desktop.SampleStore
	Heartbeats    *heartbeat.Service
	Rules         alert.Store
	Alerts        *alert.Engine

	// SealPassword seals the password of an instant clone account for its database
	// row.
	SealPassword func(ctx context.Context, id desktop.ID, password secret.Text) ([]byte, error)

	// TryAccount tries the credentials of an instant clone account at its domain.
	// It fails with a *session.Refusal when the domain refuses them.
	TryAccount func(ctx context.Context, d desktop.Domain, username string, password secret.Text) error

	// Revision returns the revision of the configuration that administrators store.
	Revision func(ctx context.Context) (desktop.Revision, error)

	// Health returns this server's health for its peers.
	Health func(ctx context.Context) (desktop.PeerHealth, error)

	// PeerToken returns the token that peers authenticate with; empty without
	// peers.
	PeerToken func(ctx context.Context) (secret.Text, error)

	// Browsers manages the sessions of browsers.
	Browsers *websession.Sessions

	// Audit reads the audit log.
	Audit func(ctx context.Context, f audit.Filter) ([]audit.Record, error)

	// Incidents injects faults in the demo; nil elsewhere.
	Incidents IncidentSwitches

	Now func() time.Time
}

// API handles the requests.
type API struct{ Options }

// New returns the API.
func New(o Options) *API { return &API{o} }

// Values of Route.Need.
const (
	viewer = string(session.Monitor)
	admin  = string(session.Administrator)
	agent  = "agent" // a client certificate of the server's authority
	peer   = "peer"  // the token that connection servers share
)

// RateMonitor names the rate limit of the monitor lists. There is no limit by
// default, because the lists are cheap to serve.
const RateMonitor = "monitor"

// Rates returns the rate limits of the desktop server. Logins also have a
// throttle per user.
func Rates() map[string]httpapi.Rate {
	return map[string]httpapi.Rate{
		RateMonitor:       {},
		httpapi.RateLogin: {PerSecond: 100, Burst: 1000},
	}
}

// Routes returns all routes below /rest.
func (a *API) Routes() []httpapi.Route {
	var all []httpapi.Route
	for _, group := range [][]httpapi.Route{
		a.authRoutes(), a.accountRoutes(), a.configRoutes(), a.monitorRoutes(), a.alertRoutes(), a.keyRoutes(), a.agentRoutes(), a.incidentRoutes(),
	} {
		all = append(all, group...)
	}
	return all
}

func (a *API) authRoutes() []httpapi.Route {
	// Concurrent logins of one user are serialised: the timeout leaves time for
	// many of them.
	login := httpapi.Limits{Rate: httpapi.RateLogin, Timeout: 90 * time.Second}
	return append(a.sessionRoutes(login), []httpapi.Route{
		{Pattern: "GET /rest/config/v1/audit", Need: admin, Operation: "listAuditRecords", Handler: httpapi.JSON(a.listAudit)},
		{Pattern: "POST /rest/login", Need: httpapi.Public, Operation: "loginUser", Login: true, Limits: a.loginLimits(login), Handler: httpapi.JSON(a.login)},
		{Pattern: "POST /rest/logout", Need: httpapi.Public, Operation: "logoutUser", Limits: login, Handler: httpapi.JSON(a.logout)},
		{Pattern: "POST /rest/refresh", Need: httpapi.Public, Operation: "refreshAccessToken", Limits: login, Handler: httpapi.JSON(a.refresh)},
	}...)
}

func (a *API) accountRoutes() []httpapi.Route {
	const path = "/rest/config/v1/ic-domain-accounts"
	return []httpapi.Route{
		{Pattern: "GET " + path, Need: admin, Operation: "listICDomainAccounts", Handler: httpapi.JSON(a.listAccounts)},
		{Pattern: "POST " + path, Need: admin, Operation: "createICDomainAccount", Handler: httpapi.JSON(a.createAccount)},
		{Pattern: "GET " + path + "/{id}", Need: admin, Operation: "getICDomainAccount", Handler: httpapi.JSON(a.getAccount)},
		{Pattern: "PUT " + path + "/{id}", Need: admin, Operation: "updateICDomainAccount", Handler: httpapi.JSON(a.updateAccount)},
		{Pattern: "DELETE " + path + "/{id}", Need: admin, Operation: "deleteICDomainAccount", Handler: httpapi.JSON(a.deleteAccount)},
	}
}

func (a *API) configRoutes() []httpapi.Route {
	return []httpapi.Route{
		{Pattern: "GET /rest/config/v1/virtual-centers", Need: viewer, Operation: "listVCInfo", Handler: httpapi.JSON(a.listVirtualCenters)},
		{Pattern: "GET /rest/external/v1/ad-domains", Need: viewer, Operation: "listADDomains", Handler: httpapi.JSON(a.listDomains)},
		{Pattern: "GET " + desktop.HealthPath, Need: peer, Operation: "getPeerHealth", Quiet: true, Handler: httpapi.JSON(a.peerHealth)},
	}
}

func (a *API) alertRoutes() []httpapi.Route {
	const path, groups = "/rest/config/v1/alert-rules", "/rest/monitor/alert-groups"
	return []httpapi.Route{
		{Pattern: "GET /rest/monitor/alerts", Need: viewer, Operation: "listAlerts", Handler: httpapi.JSON(a.listAlerts)},
		{Pattern: "GET " + groups, Need: viewer, Operation: "listAlertGroups", Handler: httpapi.JSON(a.listAlertGroups)},
		{Pattern: "PUT " + groups + "/{id}/acknowledgement", Need: admin, Operation: "acknowledgeAlertGroup", Handler: httpapi.JSON(a.acknowledgeGroup)},
		{Pattern: "DELETE " + groups + "/{id}/acknowledgement", Need: admin, Operation: "unacknowledgeAlertGroup", Handler: httpapi.JSON(a.unacknowledgeGroup)},
		{Pattern: "PUT " + groups + "/{id}/silence", Need: admin, Operation: "silenceAlertGroup", Handler: httpapi.JSON(a.silenceGroup)},
		{Pattern: "DELETE " + groups + "/{id}/silence", Need: admin, Operation: "unsilenceAlertGroup", Handler: httpapi.JSON(a.unsilenceGroup)},
		{Pattern: "GET " + path, Need: admin, Operation: "listAlertRules", Handler: httpapi.JSON(a.listRules)},
		{Pattern: "POST " + path, Need: admin, Operation: "createAlertRule", Handler: httpapi.JSON(a.createRule)},
		{Pattern: "GET " + path + "/{id}", Need: admin, Operation: "getAlertRule", Handler: httpapi.JSON(a.getRule)},
		{Pattern: "PUT " + path + "/{id}", Need: admin, Operation: "updateAlertRule", Handler: httpapi.JSON(a.updateRule)},
		{Pattern: "DELETE " + path + "/{id}", Need: admin, Operation: "deleteAlertRule", Handler: httpapi.JSON(a.deleteRule)},
		{Pattern: "POST " + path + "/{id}/test", Need: admin, Operation: "testAlertRule",
			Limits: httpapi.Limits{Timeout: 2 * time.Minute}, Handler: httpapi.JSON(a.testRule)},
	}
}

func (a *API) keyRoutes() []httpapi.Route {
	const path = "/rest/config/v1/monitoring-keys"
	return []httpapi.Route{
		{Pattern: "GET " + path, Need: admin, Operation: "listMonitoringKeys", Handler: httpapi.JSON(a.listKeys)},
		{Pattern: "POST " + path, Need: admin, Operation: "createMonitoringKey", SecretAnswer: true, Handler: httpapi.JSON(a.createKey)},
		{Pattern: "DELETE " + path + "/{id}", Need: admin, Operation: "deleteMonitoringKey", Handler: httpapi.JSON(a.deleteKey)},
	}
}

// agentRoutes returns the routes that agents and gateways call, and those that
// manage their enrolment. Heartbeats are marked Safe, so that they are not
// audited: their audit records would hide all others.
func (a *API) agentRoutes() []httpapi.Route {
	const tokens, agents = "/rest/config/v1/enrollment-tokens", "/rest/config/v1/agents"
	return []httpapi.Route{
		{Pattern: "GET " + tokens, Need: admin, Operation: "listEnrollmentTokens", Handler: httpapi.JSON(a.listTokens)},
		{Pattern: "POST " + tokens, Need: admin, Operation: "createEnrollmentToken", SecretAnswer: true, Handler: httpapi.JSON(a.createToken)},
		{Pattern: "DELETE " + tokens + "/{id}", Need: admin, Operation: "deleteEnrollmentToken", Handler: httpapi.JSON(a.deleteToken)},
		{Pattern: "GET " + agents, Need: admin, Operation: "listAgents", Handler: httpapi.JSON(a.listAgents)},
		{Pattern: "DELETE " + agents + "/{kind}/{id}", Need: admin, Operation: "revokeAgent", Handler: httpapi.JSON(a.revokeAgent)},

		{Pattern: "POST /rest/agent/v1/enroll", Need: httpapi.Public, Operation: "enrollAgent",
			Limits: httpapi.Limits{Body: 64 << 10, Rate: httpapi.RateLogin}, Handler: httpapi.JSON(a.enrol)},
		{Pattern: "POST /rest/agent/v1/renew", Need: agent, Operation: "renewAgentCertificate",
			Limits: httpapi.Limits{Body: 64 << 10}, Handler: a.renew},
		{Pattern: "GET /rest/agent/v1/self", Need: agent, Operation: "getAgentStanding", Quiet: true, Handler: a.agentStatus},
		{Pattern: "POST /rest/agent/v1/gateways/{id}/heartbeat", Need: agent, Operation: "reportGateway",
			Safe: true, Quiet: true, Limits: httpapi.Limits{Body: 64 << 10}, Handler: a.gatewayBeat},
		{Pattern: "POST /rest/agent/v1/rds-servers/{id}/heartbeat", Need: agent, Operation: "reportRDSServer",
			Safe: true, Quiet: true, Limits: httpapi.Limits{Body: 64 << 10}, Handler: a.agentBeat},
	}
}
