package authapi

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"

	"vigil/internal/auth"
	"vigil/internal/auth/sso"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

// SSO configures single sign-on.
type SSO struct {
	Provider *sso.Provider
	Mapping  func() (sso.Mapping, error) // called for every login, so that a changed file is used at once
	Count    func(outcome string)        // counts a login: "success", or the reason of the failure
	Log      *slog.Logger
}

const methodSSO = "oidc"

func (a *API) ssoCookie(value string) *http.Cookie {
	return a.Sessions.ShortCookie("sso", value, sso.AttemptLife)
}

func noSSO() error {
	return fault.New(fault.NotFound, "single sign-on is not configured on this server")
}

// startSSO redirects the browser to the login page of the identity provider.
func (a *API) startSSO(w http.ResponseWriter, r *http.Request) error {
	if a.SSO == nil {
		return noSSO()
	}
	address, cookie, err := a.SSO.Provider.Start(r.Context(), r.URL.Query().Get("return"))
	if err != nil {
		a.failSSO(w, r, err)
		return nil
	}
	httpapi.SetCookie(r.Context(), a.ssoCookie(cookie))
	http.Redirect(w, r, address, http.StatusSeeOther)
	return nil
}

// finishSSO is where the identity provider sends the browser back to. It opens
// a browser session, and redirects to the page where the login was started, or
// to the login page with the reason of the failure.
func (a *API) finishSSO(w http.ResponseWriter, r *http.Request) error {
	if a.SSO == nil {
		return noSSO()
	}
	ctx := r.Context()
	var cookie string
	if c, err := r.Cookie(a.ssoCookie("").Name); err == nil {
		cookie = c.Value
	}
	httpapi.SetCookie(ctx, a.ssoCookie("")) // deletes it: an attempt is valid once
	state, to, err := a.signOn(ctx, cookie, r.URL.Query())
	noteSignOn(ctx, state)
	if err == nil {
		_, err = a.Sessions.Begin(r, IdentityOf(state, methodSSO))
	}
	if err != nil {
		a.failSSO(w, r, err)
		return nil
	}
	a.SSO.Count("success")
	http.Redirect(w, r, to, http.StatusSeeOther)
	return nil
}

// noteSignOn adds the user to the log message and the audit record of the request. A
// refused user has no token.
func noteSignOn(ctx context.Context, s auth.TokenState) {
	note(ctx, s.Caller())
	if s.Token.ID == "" && s.Org.ID != "" {
		httpapi.SetCaller(ctx, httpapi.Caller{Name: s.User.Name, Org: string(s.Org.ID)})
		httpapi.Note(ctx, NoteActor, string(s.User.ID))
	}
}

// signOn verifies the response of the identity provider, and returns the token
// of the new session and the path to return to.
func (a *API) signOn(ctx context.Context, cookie string, query url.Values) (auth.TokenState, string, error) {
	login, entry, err := a.finishLogin(ctx, cookie, query)
	if login.Subject != "" {
		httpapi.Note(ctx, "subject", login.Subject)
	}
	// The user may have been in a permitted group before: end the sessions of that time.
	if err != nil && sso.ReasonOf(err) == sso.NoGroup {
		err = errors.Join(err, a.Registry.SignOff(ctx, login.Issuer, login.Subject))
	}
	if err != nil {
		return auth.TokenState{}, "", err
	}
	limit, err := entry.Limit()
	if err != nil {
		return auth.TokenState{}, "", &sso.Failure{Reason: sso.Misconfigured, Err: err}
	}
	state, err := a.Registry.SignOn(ctx, auth.SignOn{
		Issuer: login.Issuer, Subject: login.Subject, Name: login.Name, Email: login.Email,
		Org: entry.Organization, Role: entry.Role.Role, Accounts: limit, Life: a.Sessions.Life,
	})
	switch {
	case fault.Is(err, fault.NotFound): // the mapping names an unknown organisation
		err = &sso.Failure{Reason: sso.Misconfigured, Err: err}
	case fault.Is(err, fault.Forbidden):
		err = &sso.Failure{Reason: sso.Disabled, Err: err}
	}
	return state, login.Return, err
}

// finishLogin verifies the response of the identity provider, and returns the login and
// its entry in the mapping.
func (a *API) finishLogin(ctx context.Context, cookie string, query url.Values) (sso.Login, sso.Entry, error) {
	login, err := a.SSO.Provider.Finish(ctx, cookie, query)
	if err != nil {
		return login, sso.Entry{}, err
	}
	mapping, err := a.SSO.Mapping()
	if err != nil {
		return login, sso.Entry{}, &sso.Failure{Reason: sso.Misconfigured, Err: err}
	}
	entry, err := mapping.Find(login.Groups)
	return login, entry, err
}

// failSSO redirects to the login page, which shows a message for the reason. The
// cause is logged and audited only.
func (a *API) failSSO(w http.ResponseWriter, r *http.Request, err error) {
	ctx := r.Context()
	reason := sso.ReasonOf(err)
	a.SSO.Count(string(reason))
	httpapi.Note(ctx, NoteCause, err.Error())
	a.SSO.Log.WarnContext(ctx, "single sign-on failed", "request_id", httpapi.RequestID(ctx), "reason", string(reason), "err", err)
	http.Redirect(w, r, "/console/?sso="+string(reason), http.StatusSeeOther)
}
