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

// Login methods of console sessions.
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
	// browserSession describes who is logged in. Fields of browser sessions are
	// omitted for a caller with an access token.
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
		Limited      bool          `json:"limited"` // to some cloud accounts
		Scopes       []string      `json:"scopes"`  // parts of the API that the token may use; empty for all
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

// identifySession returns the sender of a request with a cookie. The session is
// valid as long as the API token that was used to log in.
func identifySession(r *http.Request, g *auth.Authenticator, sessions *websession.Sessions) (context.Context, auth.Caller, error) {
	ctx := r.Context()
	session, err := sessions.Authenticate(r)
	if err != nil {
		// If the session is known, the audit record of the refusal contains the user.
		return ctx, auth.Caller{Org: auth.OrgID(session.Org), User: auth.UserID(session.Subject), Token: auth.TokenID(session.Grant)}, err
	}
	s, err := g.Holder(ctx, auth.TokenID(session.Grant), httpapi.Source(ctx))
	return withSession(ctx, session), s.Caller(), err
}

// IdentityOf returns the identity of a browser session that was opened with an
// API token.
func IdentityOf(s auth.TokenState, method string) websession.Identity {
	return websession.Identity{
		Org: string(s.Org.ID), Subject: string(s.User.ID), Grant: string(s.Token.ID), Name: s.User.Name, Method: method,
	}
}

// Invitation returns the identity of a session that is opened by a one-time
// link for the holder of an API token.
func Invitation(s auth.TokenState) websession.Identity { return IdentityOf(s, methodLink) }

// login opens a browser session for an API token.
func (a *API) login(_ http.ResponseWriter, r *http.Request) (any, error) {
	ctx := r.Context()
	if err := websession.CheckOrigin(r); err != nil {
		return nil, err
	}
	var in loginRequest
	if err := httpapi.Bind(r, &in); err != nil {
		return nil, err
	}
	s, err := a.Authenticator.Authenticate(ctx, in.APIToken, httpapi.Source(ctx))
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

// open opens a browser session for a one-time link, and redirects to the
// console.
func (a *API) open(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	identity, err := a.Sessions.Redeem(ctx, r.URL.Query().Get("ticket"))
	if err != nil {
		return err
	}
	if _, err := a.Authenticator.Holder(ctx, auth.TokenID(identity.Grant), httpapi.Source(ctx)); err != nil {
		return err
	}
	if _, err := a.Sessions.Begin(r, identity); err != nil {
		return err
	}
	http.Redirect(w, r, "/console/", http.StatusSeeOther)
	return nil
}

func (a *API) getSession(ctx context.Context, _ httpapi.None) (browserSession, error) {
	caller, err := callerOf(ctx)
	if err != nil {
		return browserSession{}, err
	}
	s, err := a.Authenticator.Holder(ctx, caller.Token, httpapi.Source(ctx))
	if err != nil {
		return browserSession{}, err
	}
	session, _ := sessionFrom(ctx)
	out := a.sessionOf(s, session)
	out.Role = caller.Role // an access token may have been signed for a lower role
	return out, nil
}

func (a *API) sessionOf(s auth.TokenState, session websession.Session) browserSession {
	out := browserSession{
		UserID: string(s.User.ID), UserName: s.User.Name, Email: s.User.Email, Role: s.Caller().Role,
		Organization: organization{string(s.Org.ID), s.Org.Name}, Method: "accessToken", Limited: s.Caller().Limited(), Scopes: s.Token.Limits.ScopeList(),
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
