// Package sso logs users in at an OpenID Connect identity provider: the
// authorization code flow with PKCE.
//
// [Provider.Start] returns the address of the provider's login page and the
// value of a short-lived cookie. [Provider.Finish] verifies the provider's
// response: it must belong to the browser that has the cookie, and the ID token
// must be signed by the provider, for this client, with the nonce of this login,
// and not be expired. [Mapping] turns the groups of the user into an
// organisation and a role.
//
// The provider is contacted when somebody logs in, not at start: a server whose
// identity provider is unreachable starts, and accepts API tokens.
package sso

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"vigil/internal/secret"
)

// Options configure single sign-on.
type Options struct {
	Issuer      string
	ClientID    string
	Secret      string        // reference to the client secret (file:PATH or env:NAME); empty for a public client
	Scopes      []string      // openid is always requested
	GroupsClaim string        // name of the claim with the groups
	RedirectURL func() string // address of the callback, as registered at the provider
	HTTP        *http.Client
	Sealer      Sealer
	Now         func() time.Time
}

// Provider is an identity provider. It is safe for concurrent use.
type Provider struct {
	o Options

	flight singleflight.Group
	mu     sync.Mutex
	found  *oidc.Provider
	asked  time.Time // of the last discovery, successful or not
	failed error     // of the last discovery
}

// New returns a provider without contacting it.
func New(o Options) *Provider { return &Provider{o: o} }

const (
	metadataAge = time.Hour       // after which the provider's metadata are read again
	retryAfter  = 5 * time.Second // after a failed discovery
)

// discover returns the provider with its metadata. Concurrent calls share one
// request, and a failure is remembered for a few seconds, so that many logins
// do not wait for a provider that is unreachable.
func (p *Provider) discover(ctx context.Context) (*oidc.Provider, error) {
	if found, err := p.known(); found != nil || err != nil {
		return found, err
	}
	done := p.flight.DoChan("", func() (any, error) {
		// The request is shared: it is not cancelled with one of its callers.
		found, err := oidc.NewProvider(oidc.ClientContext(context.WithoutCancel(ctx), p.o.HTTP), p.o.Issuer)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked, p.failed = p.o.Now(), err
		if err == nil {
			p.found = found
		}
		return p.found, err
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case result := <-done:
		if found, _ := result.Val.(*oidc.Provider); found != nil {
			return found, nil // older metadata are used when they cannot be renewed
		}
		return nil, result.Err
	}
}

// known returns the result of the last discovery while it is valid, and nil for both
// when a discovery is due.
func (p *Provider) known() (*oidc.Provider, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	age := p.o.Now().Sub(p.asked)
	switch {
	case p.failed == nil && p.found != nil && age < metadataAge:
		return p.found, nil
	case p.failed != nil && age < retryAfter && p.found != nil:
		return p.found, nil
	case p.failed != nil && age < retryAfter:
		return nil, p.failed
	}
	return nil, nil
}

// client returns the OAuth client of a login.
func (p *Provider) client(found *oidc.Provider) (*oauth2.Config, error) {
	text, err := clientSecret(p.o.Secret)
	if err != nil {
		return nil, err
	}
	scopes := p.o.Scopes
	if !slices.Contains(scopes, oidc.ScopeOpenID) {
		scopes = append([]string{oidc.ScopeOpenID}, scopes...)
	}
	endpoint := found.Endpoint()
	endpoint.AuthStyle = authStyle(found, !text.IsZero())
	return &oauth2.Config{
		ClientID: p.o.ClientID, ClientSecret: text.Reveal(), Endpoint: endpoint, RedirectURL: p.o.RedirectURL(), Scopes: scopes,
	}, nil
}

// authStyle returns how the client authenticates at the token endpoint: by HTTP basic
// authentication, the default of the OpenID Connect specification, unless the client
// has no secret or the provider supports only parameters (client_secret_post).
func authStyle(found *oidc.Provider, hasSecret bool) oauth2.AuthStyle {
	if !hasSecret {
		return oauth2.AuthStyleInParams
	}
	var metadata struct {
		Methods []string `json:"token_endpoint_auth_methods_supported"`
	}
	if err := found.Claims(&metadata); err != nil {
		return oauth2.AuthStyleInHeader
	}
	if slices.Contains(metadata.Methods, "client_secret_post") && !slices.Contains(metadata.Methods, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// clientSecret reads the client secret. It is read for every login, so that a
// replaced secret is used at once. The error never contains the secret.
func clientSecret(reference string) (secret.Text, error) {
	kind, where, _ := strings.Cut(reference, ":")
	var text string
	switch kind {
	case "":
		return secret.Text{}, nil
	case "env":
		text = os.Getenv(where)
	case "file":
		data, err := os.ReadFile(where)
		if err != nil {
			return secret.Text{}, fmt.Errorf("read the client secret: %w", err)
		}
		text = strings.TrimSpace(string(data))
	}
	if text == "" {
		return secret.Text{}, fmt.Errorf("the client secret in %s is empty", reference)
	}
	return secret.NewText(text), nil
}

// Start begins a login: it returns the address to redirect the browser to, and
// the value of the cookie that binds the login to the browser. The user returns
// to returnTo, a path of the console.
func (p *Provider) Start(ctx context.Context, returnTo string) (address, cookie string, err error) {
	found, err := p.discover(ctx)
	if err != nil {
		return "", "", fail(Unavailable, fmt.Errorf("read the metadata of the identity provider: %w", err))
	}
	client, err := p.client(found)
	if err != nil {
		return "", "", fail(Misconfigured, err)
	}
	a := attempt{
		State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Return: SafeReturn(returnTo),
		Ends: p.o.Now().Add(AttemptLife),
	}
	if cookie, err = p.seal(ctx, a); err != nil {
		return "", "", fail(Misconfigured, err)
	}
	return client.AuthCodeURL(a.State, oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), cookie, nil
}

// A Login is a user whom the provider authenticated.
type Login struct {
	Issuer  string
	Subject string // id of the user at the provider
	Name    string
	Email   string // empty if the provider says that it is not verified
	Groups  []string
	Return  string // path of the console to return to
}

// Finish ends a login: it verifies the parameters that the provider sent back
// with the browser. Cookie is the value that Start returned. If Finish fails, it
// returns the members of the login that it had verified before the failure.
func (p *Provider) Finish(ctx context.Context, cookie string, query url.Values) (Login, error) {
	a, err := p.open(ctx, cookie)
	if err != nil {
		return Login{}, fail(Expired, err)
	}
	if subtle.ConstantTimeCompare([]byte(query.Get("state")), []byte(a.State)) != 1 {
		return Login{}, fail(Expired, errors.New("the state is not that of the login that this browser started"))
	}
	// RFC 9207: the response names the provider that made it.
	if iss := query.Get("iss"); iss != "" && iss != p.o.Issuer {
		return Login{}, fail(Invalid, errors.New("the response is from another issuer"))
	}
	if code := query.Get("error"); code != "" {
		return Login{}, fail(reasonForCode(code), fmt.Errorf("the identity provider answers %s", printable(code)))
	}
	if query.Get("code") == "" {
		return Login{}, fail(Invalid, errors.New("the response has no code"))
	}
	found, err := p.discover(ctx)
	if err != nil {
		return Login{}, fail(Unavailable, fmt.Errorf("read the metadata of the identity provider: %w", err))
	}
	login, err := p.redeem(ctx, found, query.Get("code"), a)
	login.Return = a.Return
	return login, err
}

// redeem exchanges a code for an ID token, and verifies it.
func (p *Provider) redeem(ctx context.Context, found *oidc.Provider, code string, a attempt) (Login, error) {
	client, err := p.client(found)
	if err != nil {
		return Login{}, fail(Misconfigured, err)
	}
	ctx = oidc.ClientContext(ctx, p.o.HTTP)
	token, err := client.Exchange(ctx, code, oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return Login{}, exchangeFailure(err)
	}
	raw, _ := token.Extra("id_token").(string)
	if raw == "" {
		return Login{}, fail(Invalid, errors.New("the identity provider sent no ID token"))
	}
	id, err := found.VerifierContext(ctx, &oidc.Config{ClientID: p.o.ClientID, Now: p.o.Now}).Verify(ctx, raw)
	if err != nil {
		return Login{}, fail(Invalid, fmt.Errorf("verify the ID token: %w", err))
	}
	if err := p.checkID(id, token, a); err != nil {
		return Login{}, fail(Invalid, err)
	}
	return p.login(ctx, found, id, token)
}

// checkID makes the checks of an ID token that the verifier leaves to its
// caller.
func (p *Provider) checkID(id *oidc.IDToken, token *oauth2.Token, a attempt) error {
	var claims struct {
		Party string `json:"azp"` // id of the client that the token was issued to; required with several audiences
	}
	if err := id.Claims(&claims); err != nil {
		return err
	}
	switch {
	case subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(a.Nonce)) != 1:
		return errors.New("the ID token has another nonce")
	case id.Subject == "" || len(id.Subject) > maxSubject:
		return errors.New("the ID token has no valid subject")
	case claims.Party != "" && claims.Party != p.o.ClientID, claims.Party == "" && len(id.Audience) > 1:
		return errors.New("the ID token was issued to another client")
	case id.AccessTokenHash != "":
		return id.VerifyAccessToken(token.AccessToken)
	}
	return nil
}

// maxSubject is the maximum length of a subject in the OpenID Connect
// specification.
const maxSubject = 255
