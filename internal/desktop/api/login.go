package api

import (
	"context"
	"net/http"
	"strings"

	"vigil/internal/desktop/session"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

type loginRequest struct {
	Domain   string   `json:"domain" required:"true"`
	Username string   `json:"username" required:"true"`
	Password Password `json:"password" required:"true"`
}

// Validate checks the fields that need no query to the directory.
func (r loginRequest) Validate() error {
	switch {
	case r.Domain == "":
		return fault.Field("domain", "must not be empty")
	case r.Username == "":
		return fault.Field("username", "must not be empty")
	case strings.ContainsAny(r.Username, `@\`):
		return fault.Field("username", "must be a plain account name; the domain is sent separately")
	case r.Password.IsZero():
		return fault.Field("password", "must not be empty")
	}
	return nil
}

type tokens struct {
	AccessToken  string `json:"access_token"`
	RefreshToken string `json:"refresh_token"`
}

func (a *API) login(ctx context.Context, r loginRequest) (tokens, error) {
	httpapi.Note(ctx, "domain", short(r.Domain))
	httpapi.Note(ctx, "username", short(r.Username))
	got, err := a.Authenticator.Login(ctx, session.Credentials{
		Domain: r.Domain, Username: r.Username, Password: r.Password.Text, Source: httpapi.Source(ctx),
	})
	return tokens{got.Access, got.Refresh}, err
}

// loginLimits returns l with one change: a login of a user from a network where
// that user has logged in before counts against the rate limit of the user
// instead of that of the address.
func (a *API) loginLimits(l httpapi.Limits) httpapi.Limits {
	l.Account = func(r *http.Request) string {
		var in loginRequest
		if httpapi.Bind(r, &in) != nil {
			return "" // the handler reports the error
		}
		ctx := r.Context()
		return a.Authenticator.KnownAccount(ctx, session.Credentials{Domain: in.Domain, Username: in.Username, Source: httpapi.Source(ctx)})
	}
	return l
}

// short truncates text from unauthenticated senders, to limit the size of audit
// records.
func short(s string) string {
	if len(s) <= 100 {
		return s
	}
	return strings.ToValidUTF8(s[:100], "") + "..."
}

type refreshRequest struct {
	RefreshToken string `json:"refresh_token" required:"true"`
}

type accessToken struct {
	AccessToken string `json:"access_token"`
}

func (a *API) refresh(ctx context.Context, r refreshRequest) (accessToken, error) {
	token, err := a.Authenticator.Refresh(ctx, r.RefreshToken)
	return accessToken{token}, err
}

func (a *API) logout(ctx context.Context, r refreshRequest) (httpapi.Reply, error) {
	return httpapi.Reply{}, a.Authenticator.Logout(ctx, r.RefreshToken, httpapi.Source(ctx))
}
