package authapi

import (
	"context"
	"net/http"

	"vigil/internal/auth"
	"vigil/internal/auth/websession"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/secret"
)

// Ways to log in to the console, as sessions carry them.
const (
	methodToken = "apiToken"
	methodLink  = "link"
)

type (
	loginRequest struct {
		APIToken secret.Text `json:"apiToken" required:"true"`
	}
	organization struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	// browserSession says who is logged in. What only a browser session has is
	// left out of the answer to a caller with an access token.
	browserSession struct {
		UserID       string        `json:"userId"`
		UserName     string        `json:"userName"`
		Email        string        `json:"email,omitempty"`
		Role         auth.Role     `json:"role"`
		Organization organization  `json:"organization"`
		Method       string        `json:"method"`
		SessionID    string        `json:"sessionId,omitempty"`
		StartTime    *httpapi.Time `json:"startTime,omitempty"`
		EndTime      *httpapi.Time `json:"endTime,omitempty"`
		IdleEndTime  *httpapi.Time `json:"idleEndTime,omitempty"`
		CSRFToken    string        `json:"csrfToken,omitempty"`
	}
)

type sessionKey struct{}

func withSession(ctx context.Context, s websession.Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

func sessionFrom(ctx context.Context) (websession.Session, bool) {
	s, ok := ctx.Value(sessionKey{}).(websession.Session)
	return s, ok
}

// identifySession says who sent a request with a cookie. The session is as good
// as the API token that it began with.
func identifySession(r *http.Request, g *auth.Gate, sessions *websession.Sessions) (context.Context, auth.Caller, error) {
	ctx := r.Context()
	session, err := sessions.Authenticate(r)
	if err != nil {
		return ctx, auth.Caller{Org: auth.OrgID(session.Org), User: auth.UserID(session.Subject), Token: auth.TokenID(session.Grant)}, err
	}
	s, err := g.Holder(ctx, auth.TokenID(session.Grant), httpapi.Source(ctx))
	return withSession(ctx, session), s.Caller(), err
}

// IdentityOf is the identity of a browser session that rests on an API token.
func IdentityOf(s auth.Standing, method string) websession.Identity {
	return websession.Identity{
		Org: string(s.Org.ID), Subject: string(s.User.ID), Grant: string(s.Token.ID), Name: s.User.Name, Method: method,
	}
}

// Invitation is the identity of a session that a one-time link begins for the
// holder of an API token.
func Invitation(s auth.Standing) websession.Identity { return IdentityOf(s, methodLink) }

// login begins a browser session for an API token.
func (a *API) login(_ http.ResponseWriter, r *http.Request) (any, error) {
	ctx := r.Context()
	if err := websession.CheckOrigin(r); err != nil {
		return nil, err
	}
	var in loginRequest
	if err := httpapi.Bind(r, &in); err != nil {
		return nil, err
	}
	s, err := a.Gate.Admit(ctx, in.APIToken, httpapi.Source(ctx))
	note(ctx, s.Caller())
	if err != nil {
		noteCause(ctx, err)
		return nil, err
	}
	session, err := a.Sessions.Begin(r, IdentityOf(s, methodToken))
	if err != nil {
		return nil, err
	}
	httpapi.Note(ctx, "session", session.ID)
	return a.sessionOf(s, session), nil
}

// open begins a browser session for a one-time link, and goes on to the console.
func (a *API) open(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	who, err := a.Sessions.Redeem(ctx, r.URL.Query().Get("ticket"))
	if err != nil {
		return err
	}
	if _, err := a.Gate.Holder(ctx, auth.TokenID(who.Grant), httpapi.Source(ctx)); err != nil {
		return err
	}
	if _, err := a.Sessions.Begin(r, who); err != nil {
		return err
	}
	http.Redirect(w, r, "/console/", http.StatusSeeOther)
	return nil
}

func (a *API) getSession(ctx context.Context, _ httpapi.None) (browserSession, error) {
	by, err := caller(ctx)
	if err != nil {
		return browserSession{}, err
	}
	s, err := a.Gate.Holder(ctx, by.Token, httpapi.Source(ctx))
	if err != nil {
		return browserSession{}, err
	}
	session, _ := sessionFrom(ctx)
	out := a.sessionOf(s, session)
	out.Role = by.Role // an access token may have been signed for less
	return out, nil
}

func (a *API) sessionOf(s auth.Standing, session websession.Session) browserSession {
	out := browserSession{
		UserID: string(s.User.ID), UserName: s.User.Name, Email: s.User.Email, Role: s.Caller().Role,
		Organization: organization{string(s.Org.ID), s.Org.Name}, Method: "accessToken",
	}
	if session.ID != "" {
		out.SessionID, out.Method, out.CSRFToken = session.ID, session.Method, session.CSRFToken()
		out.StartTime, out.EndTime = wireTime(session.CreatedAt), wireTime(session.EndsAt)
		out.IdleEndTime = wireTime(a.Sessions.IdleEnd(session))
	}
	return out
}

func (a *API) logout(ctx context.Context, _ httpapi.None) (httpapi.Reply, error) {
	session, ok := sessionFrom(ctx)
	if !ok {
		return httpapi.Reply{}, fault.New(fault.NotFound, "the request does not belong to a browser session")
	}
	return httpapi.NoContent(), a.Sessions.Logout(ctx, session)
}
