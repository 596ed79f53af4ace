package authapi

import (
	"context"
	"time"

	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/secret"
)

type authorizeRequest struct {
	RefreshToken secret.Text `form:"refresh_token"`
}

func (r authorizeRequest) Validate() error {
	if r.RefreshToken.IsZero() {
		return fault.Field("refresh_token", "is missing")
	}
	return nil
}

// authorization is the response of the exchange.
type authorization struct {
	IDToken      string `json:"id_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int    `json:"expires_in"` // seconds
	Scope        string `json:"scope"`
	AccessToken  string `json:"access_token"`
	RefreshToken string `json:"refresh_token"`
}

func (a *API) authorize(ctx context.Context, in authorizeRequest) (authorization, error) {
	g, err := a.Authenticator.Exchange(ctx, in.RefreshToken, httpapi.Source(ctx))
	note(ctx, g.Caller)
	if err != nil {
		noteCause(ctx, err)
		return authorization{}, err
	}
	return authorization{
		IDToken: g.IDToken.Reveal(), TokenType: "bearer", ExpiresIn: int(g.ValidFor / time.Second), Scope: g.Scope,
		AccessToken: g.AccessToken.Reveal(), RefreshToken: in.RefreshToken.Reveal(),
	}, nil
}

// publishKeys returns the JWK set. Clients may cache it for half of the time for
// which a new key is published before it signs, so that they know the key by then.
func (a *API) publishKeys(ctx context.Context, _ httpapi.None) (httpapi.Reply, error) {
	set, err := a.Keys.Published(ctx)
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.OK(set).With("Cache-Control", "public, max-age=300"), nil
}
