package api

import (
	"context"

	"vigil/internal/auth"
	"vigil/internal/desktop"
	"vigil/internal/desktop/session"
	"vigil/internal/httpapi"
)

type monitoringKey struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Hint      string         `json:"hint"`
	Key       string         `json:"key,omitempty"` // only in the response of createKey
	CreatedBy string         `json:"created_by"`
	CreatedAt desktop.Millis `json:"created_at"`
	ExpiresAt desktop.Millis `json:"expires_at,omitempty"`
	LastUsed  desktop.Millis `json:"last_used_at,omitempty"`

	LastAddress string   `json:"last_used_address,omitempty"`
	Addresses   []string `json:"addresses"` // from which the key can be used; empty for any
}

func keyOf(k session.Key) monitoringKey {
	return monitoringKey{
		ID: k.ID, Name: k.Name, Hint: k.Hint, CreatedBy: k.CreatedBy,
		CreatedAt: desktop.MillisOf(k.CreatedAt), ExpiresAt: desktop.MillisOf(k.ExpiresAt), LastUsed: desktop.MillisOf(k.LastUsedAt),
		LastAddress: k.LastAddress, Addresses: k.Limits.AddressList(),
	}
}

type keySpec struct {
	Name      string         `json:"name" required:"true"`
	ExpiresAt desktop.Millis `json:"expires_at"`
	Addresses []string       `json:"addresses" maxItems:"50"`
}

func (a *API) listKeys(ctx context.Context, _ httpapi.None) ([]monitoringKey, error) {
	all, err := a.Authenticator.Store.Keys(ctx)
	return httpapi.Each(all, keyOf), err
}

func (a *API) createKey(ctx context.Context, in keySpec) (httpapi.Reply, error) {
	limits, err := auth.NewTokenLimits(nil, in.Addresses)
	if err != nil {
		return httpapi.Reply{}, err
	}
	k, text, err := a.Authenticator.NewKey(ctx, callerOf(ctx).Name, in.Name, in.ExpiresAt.Time(), limits)
	if err != nil {
		return httpapi.Reply{}, err
	}
	wire := keyOf(k)
	wire.Key = text
	return httpapi.Created("/rest/config/v1/monitoring-keys/"+k.ID, "", wire), nil
}

func (a *API) deleteKey(ctx context.Context, in idPath) (httpapi.Reply, error) {
	return httpapi.NoContent(), a.Authenticator.DeleteKey(ctx, in.ID)
}
