package authapi

import (
	"context"
	"time"

	"vigil/internal/auth"
	"vigil/internal/httpapi"
	"vigil/internal/secret"
)

// tokenRecord describes an API token to admins.
type tokenRecord struct {
	ID          auth.TokenID  `json:"id"`
	Name        string        `json:"name"`
	UserID      auth.UserID   `json:"userId"`
	Role        auth.Role     `json:"role"`
	Hint        string        `json:"hint"` // first characters of its text
	CreatedBy   string        `json:"createdBy,omitempty"`
	CreatedTime httpapi.Time  `json:"createdTime"`
	ExpiryTime  *httpapi.Time `json:"expiryTime,omitempty"`
	LastUsed    *httpapi.Time `json:"lastUsedTime,omitempty"`
	LastAddress string        `json:"lastUsedAddress,omitempty"`
	Scopes      []string      `json:"scopes"`    // empty for all
	Addresses   []string      `json:"addresses"` // empty for all
	LimitedTo   *limitedTo    `json:"limitedTo,omitempty"`
}

// newTokenRecord describes a token that was just created. Only this description
// contains the token's text.
type newTokenRecord struct {
	tokenRecord
	Token string `json:"token"`
}

func wireToken(t auth.Token) tokenRecord {
	return tokenRecord{
		ID: t.ID, Name: t.Name, UserID: t.User, Role: t.Role, Hint: t.Hint, CreatedBy: string(t.CreatedBy),
		CreatedTime: httpapi.Time{Time: t.CreatedAt}, ExpiryTime: wireTime(t.ExpiresAt),
		LastUsed: wireTime(t.LastUsedAt), LastAddress: t.LastAddress,
		Scopes: t.Limits.ScopeList(), Addresses: t.Limits.AddressList(), LimitedTo: wireLimit(t.Accounts),
	}
}

func wireTime(t time.Time) *httpapi.Time {
	if t.IsZero() {
		return nil
	}
	return &httpapi.Time{Time: t}
}

// list is the response of operations that list all objects.
type list[T any] struct {
	TotalCount int `json:"totalCount"`
	Results    []T `json:"results"`
}

func (a *API) listTokens(ctx context.Context, _ httpapi.None) (list[tokenRecord], error) {
	caller, err := callerOf(ctx)
	if err != nil {
		return list[tokenRecord]{}, err
	}
	all, err := a.Registry.Tokens(ctx, caller)
	return list[tokenRecord]{len(all), httpapi.Each(all, wireToken)}, err
}

type createTokenRequest struct {
	Name       string    `json:"name" required:"true"`
	UserID     string    `json:"userId"`
	Role       string    `json:"role" enum:"viewer,analyst,admin"`
	ExpiryTime time.Time `json:"expiryTime"`
	Scopes     []string  `json:"scopes" maxItems:"10"`
	Addresses  []string  `json:"addresses" maxItems:"50"`

	LimitedTo *limitedTo `json:"limitedTo"`
}

func (a *API) createToken(ctx context.Context, in createTokenRequest) (httpapi.Reply, error) {
	caller, err := callerOf(ctx)
	if err != nil {
		return httpapi.Reply{}, err
	}
	edit := auth.TokenEdit{Name: in.Name, User: auth.UserID(in.UserID), ExpiresAt: in.ExpiryTime}
	if in.Role != "" {
		if edit.Role, err = auth.ParseRole(in.Role); err != nil {
			return httpapi.Reply{}, err
		}
	}
	if edit.Limits, err = auth.NewTokenLimits(in.Scopes, in.Addresses); err != nil {
		return httpapi.Reply{}, err
	}
	if edit.Accounts, err = in.LimitedTo.limit(); err != nil {
		return httpapi.Reply{}, err
	}
	t, text, err := a.Registry.IssueToken(ctx, caller, edit)
	if err != nil {
		return httpapi.Reply{}, err
	}
	return createdToken(t, text), nil
}

func createdToken(t auth.Token, text secret.Text) httpapi.Reply {
	return httpapi.Created("/v1/api-tokens/"+string(t.ID), "", newTokenRecord{wireToken(t), text.Reveal()})
}

type tokenPath struct {
	ID string `path:"token_id"`
}

func (a *API) revokeToken(ctx context.Context, in tokenPath) (tokenRecord, error) {
	caller, err := callerOf(ctx)
	if err != nil {
		return tokenRecord{}, err
	}
	t, err := a.Registry.RevokeToken(ctx, caller, auth.TokenID(in.ID))
	return wireToken(t), err
}
