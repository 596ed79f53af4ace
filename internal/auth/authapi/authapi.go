// Package authapi is the HTTP API of package auth: the token exchange, the
// published keys, API tokens, users, and the guard of all other routes.
package authapi

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"vigil/internal/auth"
	"vigil/internal/auth/websession"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/secret"
)

// API handles the requests of this package.
type API struct {
	Registry      *auth.Registry
	Authenticator *auth.Authenticator
	Keys          *auth.Keys
	Sessions      *websession.Sessions // of browsers; may be nil
	SSO           *SSO                 // nil if single sign-on is not configured
	Devices       *auth.Devices        // logins that are confirmed in a browser; may be nil
}

// The roles that routes need.
const (
	viewer = "viewer"
	admin  = "admin"
)

// Routes returns the routes of this package with the role that each needs.
func (a *API) Routes() []httpapi.Route {
	login := httpapi.Limits{Body: 16 << 10, Rate: httpapi.RateLogin}
	exchange := login
	exchange.Account = knownAccount(a, func(r authorizeRequest) secret.Text { return r.RefreshToken })
	return append(append(a.sessionRoutes(login), a.deviceRoutes(login)...), []httpapi.Route{
		{Pattern: "POST /csp/gateway/am/api/auth/api-tokens/authorize", Need: httpapi.Public, Operation: "authorize", Login: true, Limits: exchange, Handler: httpapi.JSON(a.authorize)},
		{Pattern: "GET /.well-known/jwks.json", Need: httpapi.Public, Operation: "getKeys", Handler: httpapi.JSON(a.publishKeys)},

		{Pattern: "GET /v1/api-tokens", Need: admin, Operation: "listApiTokens", Handler: httpapi.JSON(a.listTokens)},
		{Pattern: "POST /v1/api-tokens", Need: admin, Operation: "createApiToken", SecretAnswer: true, Handler: httpapi.JSON(a.createToken)},
		{Pattern: "DELETE /v1/api-tokens/{token_id}", Need: admin, Operation: "revokeApiToken", Handler: httpapi.JSON(a.revokeToken)},

		{Pattern: "GET /v1/users", Need: viewer, Operation: "listUsers", Handler: httpapi.JSON(a.listUsers)},
		{Pattern: "POST /v1/users", Need: admin, Operation: "createUser", Handler: httpapi.JSON(a.createUser)},
		{Pattern: "GET /v1/users/{user_id}", Need: viewer, Operation: "getUser", Handler: httpapi.JSON(a.getUser)},
		{Pattern: "PUT /v1/users/{user_id}", Need: admin, Operation: "updateUser", Handler: httpapi.JSON(a.putUser)},
		{Pattern: "DELETE /v1/users/{user_id}", Need: admin, Operation: "deleteUser", Handler: httpapi.JSON(a.deleteUser)},
	}...)
}

// sessionRoutes returns the routes that log browsers in and out.
func (a *API) sessionRoutes(login httpapi.Limits) []httpapi.Route {
	if a.Sessions == nil {
		return nil
	}
	begin := login
	begin.Account = knownAccount(a, func(r loginRequest) secret.Text { return r.APIToken })
	return []httpapi.Route{
		{Pattern: "POST /console/session", Need: httpapi.Public, Operation: "beginSession", Login: true, Limits: begin, Handler: a.login},
		{Pattern: "GET /console/session", Need: viewer, Operation: "getSession", Limited: true, SecretAnswer: true, Handler: httpapi.JSON(a.getSession)},
		{Pattern: "DELETE /console/session", Need: viewer, Operation: "endSession", Limited: true, Handler: httpapi.JSON(a.logout)},
		{Pattern: "GET /v1/users/{user_id}/sessions", Need: admin, Operation: "listUserSessions", Handler: httpapi.JSON(a.listSessions)},
		{Pattern: "DELETE /v1/users/{user_id}/sessions/{session_id}", Need: admin, Operation: "endUserSession", Handler: httpapi.JSON(a.endUserSession)},
		{Pattern: "GET /console/open", Need: httpapi.Public, Operation: "openConsole", Limits: login, Hidden: true, Handler: httpapi.Stream(a.open)},
		{Pattern: "GET /console/sso/start", Need: httpapi.Public, Operation: "startSingleSignOn", Limits: login, Handler: httpapi.Stream(a.startSSO)},
		{Pattern: "GET /console/sso/callback", Need: httpapi.Public, Operation: "finishSingleSignOn", Login: true, Limits: login, Handler: httpapi.Stream(a.finishSSO)},
	}
}

// knownAccount returns the Limits.Account function of a route whose request
// contains an API token.
func knownAccount[In any](a *API, token func(In) secret.Text) func(*http.Request) string {
	return func(r *http.Request) string {
		var in In
		if httpapi.Bind(r, &in) != nil {
			return "" // the handler reports the error
		}
		return a.Authenticator.KnownAccount(r.Context(), token(in), httpapi.Source(r.Context()))
	}
}

// Names of audit notes.
const (
	NoteActor   = "actor"   // user id of the caller
	NoteCause   = "cause"   // the actual reason of a refusal, which the response does not reveal
	NoteChanged = "changed" // names of the members that changed, separated by commas
)

// Guard returns a guard that accepts callers with an access token or a browser
// session whose role includes the one that the route needs. Handlers get the
// caller from [auth.CallerFrom]. Sessions may be nil.
func Guard(g *auth.Authenticator, sessions *websession.Sessions) httpapi.Guard {
	return func(r *http.Request, need string) (context.Context, error) {
		role, err := auth.ParseRole(need)
		if err != nil {
			return nil, errors.New("the route needs an unknown role: " + need)
		}
		ctx, caller, err := identify(r, g, sessions)
		note(ctx, caller)
		if err != nil {
			noteCause(ctx, err)
			return nil, err
		}
		if !caller.Role.Includes(role) {
			return nil, fault.New(fault.Forbidden, "this needs the role %s; yours is %s", role, caller.Role)
		}
		if scope := ScopeOf(httpapi.Pattern(ctx)); !caller.Limits.AllowsScope(scope) {
			return nil, fault.New(fault.Forbidden, "the API token is limited to %s; this needs %s", caller.Limits.Scopes, scope)
		}
		if caller.Limited() && !httpapi.OpenToLimited(ctx) {
			return nil, fault.New(fault.Forbidden, "your access is limited to some cloud accounts; this concerns the whole organisation")
		}
		return auth.WithCaller(ctx, caller), nil
	}
}

// identify returns the sender of a request. An Authorization header has
// precedence over a cookie, because only programs set it, deliberately.
func identify(r *http.Request, g *auth.Authenticator, sessions *websession.Sessions) (context.Context, auth.Caller, error) {
	ctx := r.Context()
	if sessions != nil && len(r.Header.Values("Authorization")) == 0 && sessions.Has(r) {
		return identifySession(r, g, sessions)
	}
	token, err := bearer(r.Header)
	if err != nil {
		return ctx, auth.Caller{}, err
	}
	caller, err := g.Identify(ctx, token, httpapi.Source(ctx))
	return ctx, caller, err
}

// bearer returns the token of an Authorization header. The scheme is
// case-insensitive.
func bearer(h http.Header) (string, error) {
	values := h.Values("Authorization")
	if len(values) == 0 {
		return "", fault.New(fault.Unauthenticated, "an access token is required")
	}
	scheme, token, _ := strings.Cut(strings.TrimSpace(values[0]), " ")
	token = strings.TrimSpace(token)
	if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", fault.New(fault.Unauthenticated, "the Authorization header must be: Bearer, a space, an access token")
	}
	return token, nil
}

// note passes the caller to log, limits and audit. Rate limits count by API
// token.
func note(ctx context.Context, c auth.Caller) {
	if c.Token == "" {
		return
	}
	httpapi.SetCaller(ctx, httpapi.Caller{ID: string(c.Token), Name: c.Name, Org: string(c.Org), Admin: c.Role.Includes(auth.Admin)})
	httpapi.Note(ctx, NoteActor, string(c.User))
}

// noteCause adds the reason of a refusal to the audit record. The response does
// not reveal it.
func noteCause(ctx context.Context, err error) {
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Err != nil {
		httpapi.Note(ctx, NoteCause, f.Err.Error())
	}
}

// callerOf returns the caller of a guarded route.
func callerOf(ctx context.Context) (auth.Caller, error) {
	c, ok := auth.CallerFrom(ctx)
	if !ok {
		return c, errors.New("a guarded route was called without a caller")
	}
	return c, nil
}
