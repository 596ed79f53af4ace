package api

import (
	"context"
	"net/http"

	"vigil/internal/auth/websession"
	"vigil/internal/desktop"
	"vigil/internal/desktop/session"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

// methodPassword is the login method of browsers.
const methodPassword = "password"

// sessionRoutes returns the routes that log browsers in and out, and list the
// caller's own sessions.
func (a *API) sessionRoutes(login httpapi.Limits) []httpapi.Route {
	const path = "/rest/config/v1/sessions"
	return []httpapi.Route{
		{Pattern: "POST /console/session", Need: httpapi.Public, Operation: "beginSession", Login: true, Limits: a.loginLimits(login), Handler: a.beginSession},
		{Pattern: "GET /console/session", Need: viewer, Operation: "getSession", SecretAnswer: true, Handler: httpapi.JSON(a.getSession)},
		{Pattern: "DELETE /console/session", Need: viewer, Operation: "endSession", Handler: httpapi.JSON(a.endSession)},
		{Pattern: "GET " + path, Need: admin, Operation: "listSessions", Handler: httpapi.JSON(a.listSessions)},
		{Pattern: "DELETE " + path + "/{id}", Need: admin, Operation: "revokeSession", Handler: httpapi.JSON(a.revokeSession)},
	}
}

// browserSession describes the caller. Fields of browser sessions are omitted
// for other callers. Members are spelt as in the posture server's API, so that
// one console serves both.
type browserSession struct {
	UserID      string        `json:"userId,omitempty"` // SID of the user; empty for a key
	UserName    string        `json:"userName"`
	Role        session.Role  `json:"role"`
	Method      string        `json:"method"`
	SessionID   string        `json:"sessionId,omitempty"`
	StartTime   *httpapi.Time `json:"startTime,omitempty"`
	EndTime     *httpapi.Time `json:"endTime,omitempty"`
	IdleEndTime *httpapi.Time `json:"idleEndTime,omitempty"`
	CSRFToken   string        `json:"csrfToken,omitempty"`
}

type webSessionKey struct{}

func webSessionOf(ctx context.Context) (websession.Session, bool) {
	s, ok := ctx.Value(webSessionKey{}).(websession.Session)
	return s, ok
}

// identify returns the sender of a request, by the Authorization header or a
// browser's cookie. A browser session is valid as long as the login that opened
// it.
func (a *API) identify(r *http.Request) (context.Context, session.Caller, error) {
	ctx := r.Context()
	token := bearer(r)
	if r.Header.Get("Authorization") != "" || !a.Browsers.Has(r) {
		caller, err := a.Authenticator.Identify(ctx, token, httpapi.Source(ctx))
		return ctx, caller, err
	}
	s, err := a.Browsers.Authenticate(r)
	if err != nil {
		return ctx, session.Caller{}, err
	}
	caller, err := a.Authenticator.Holder(ctx, s.Grant)
	return context.WithValue(ctx, webSessionKey{}, s), caller, err
}

func (a *API) beginSession(_ http.ResponseWriter, r *http.Request) (any, error) {
	if err := websession.CheckOrigin(r); err != nil {
		return nil, err
	}
	var in loginRequest
	if err := httpapi.Bind(r, &in); err != nil {
		return nil, err
	}
	ctx := r.Context()
	httpapi.Note(ctx, "domain", short(in.Domain))
	httpapi.Note(ctx, "username", short(in.Username))
	login, err := a.Authenticator.OpenSession(ctx, session.Credentials{
		Domain: in.Domain, Username: in.Username, Password: in.Password.Text, Source: httpapi.Source(ctx),
	}, a.Browsers.Life)
	if err != nil {
		return nil, err
	}
	name := login.User.Domain + `\` + login.User.Name
	s, err := a.Browsers.Begin(r, websession.Identity{Subject: login.User.SID, Grant: login.ID, Name: name, Method: methodPassword})
	if err != nil {
		return nil, err
	}
	return a.browserSessionOf(session.Caller{ID: login.ID, Name: name, SID: login.User.SID, Role: session.Administrator}, s), nil
}

// browserSessionOf describes a caller. s is zero if the caller uses no browser
// session.
func (a *API) browserSessionOf(c session.Caller, s websession.Session) browserSession {
	out := browserSession{UserID: c.SID, UserName: c.Name, Role: c.Role, Method: "accessToken"}
	if c.Role == session.Monitor {
		out.Method = "monitoringKey"
	}
	if s.ID != "" {
		out.SessionID, out.Method, out.CSRFToken = c.ID, s.Method, s.CSRFToken()
		out.StartTime, out.EndTime = &httpapi.Time{Time: s.CreatedAt}, &httpapi.Time{Time: s.EndsAt}
		out.IdleEndTime = &httpapi.Time{Time: a.Browsers.IdleEnd(s)}
	}
	return out
}

func (a *API) getSession(ctx context.Context, _ httpapi.None) (browserSession, error) {
	s, _ := webSessionOf(ctx)
	return a.browserSessionOf(callerOf(ctx), s), nil
}

// endSession logs a browser out: it ends the browser session and its login.
func (a *API) endSession(ctx context.Context, _ httpapi.None) (httpapi.Reply, error) {
	s, ok := webSessionOf(ctx)
	if !ok {
		return httpapi.Reply{}, fault.New(fault.NotFound, "the request does not belong to a browser session")
	}
	if err := a.Browsers.Logout(ctx, s); err != nil {
		return httpapi.Reply{}, err
	}
	err := a.Authenticator.End(ctx, s.Subject, s.Grant, httpapi.Source(ctx))
	if fault.Is(err, fault.NotFound) { // the login has ended already
		err = nil
	}
	return httpapi.NoContent(), err
}

type ownSession struct {
	ID        string         `json:"id"`
	Method    string         `json:"method"` // password for a browser, accessToken for a program
	Source    string         `json:"source"`
	Agent     string         `json:"agent,omitempty"`
	CreatedAt desktop.Millis `json:"created_at"`
	LastUsed  desktop.Millis `json:"last_used_at,omitempty"` // of a browser
	ExpiresAt desktop.Millis `json:"expires_at"`
	Current   bool           `json:"current"` // the session of this request
}

func (a *API) listSessions(ctx context.Context, _ httpapi.None) ([]ownSession, error) {
	caller := callerOf(ctx)
	logins, err := a.Authenticator.Sessions(ctx, caller.SID)
	if err != nil {
		return nil, err
	}
	browsers, err := a.Browsers.List(ctx, "", caller.SID)
	if err != nil {
		return nil, err
	}
	byLogin := make(map[string]websession.Session)
	for _, b := range browsers {
		byLogin[b.Grant] = b
	}
	return httpapi.Each(logins, func(s session.Session) ownSession {
		out := ownSession{
			ID: s.ID, Method: "accessToken", Source: s.Source, CreatedAt: desktop.MillisOf(s.CreatedAt),
			ExpiresAt: desktop.MillisOf(s.ExpiresAt), Current: s.ID == caller.ID,
		}
		if b, ok := byLogin[s.ID]; ok {
			out.Method, out.Agent, out.LastUsed = b.Method, b.Agent, desktop.MillisOf(b.UsedAt)
			out.ExpiresAt = desktop.MillisOf(a.Browsers.IdleEnd(b))
		}
		return out
	}), nil
}

func (a *API) revokeSession(ctx context.Context, in idPath) (httpapi.Reply, error) {
	return httpapi.NoContent(), a.Authenticator.End(ctx, callerOf(ctx).SID, in.ID, httpapi.Source(ctx))
}
