package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"vigil/internal/fault"
	"vigil/internal/secret"
)

// AuthenticatorOptions configure the access tokens of a server.
type AuthenticatorOptions struct {
	Audience string        // the aud claim of access tokens; required
	Life     time.Duration // lifetime of access tokens; 30 minutes if zero, at most the MaxLife of Keys
}

// Authenticator authenticates callers: it exchanges API tokens for access tokens and
// returns the caller of an access token. It is safe for concurrent use.
type Authenticator struct {
	AuthenticatorOptions
	registry *Registry
	keys     *Keys
	networks *LoginNetworks
	failures *failures
}

// NewAuthenticator returns the authenticator of one server.
func NewAuthenticator(r *Registry, k *Keys, o AuthenticatorOptions) *Authenticator {
	o.Life = cmp.Or(o.Life, 30*time.Minute)
	return &Authenticator{AuthenticatorOptions: o, registry: r, keys: k, networks: NewLoginNetworks(r.store.TokenNetworks, r.now), failures: newFailures(r.now)}
}

// A Grant is the result of exchanging an API token.
type Grant struct {
	Caller      Caller
	AccessToken secret.Text
	IDToken     secret.Text
	Scope       string        // space-separated scopes: openid and the granted roles
	ValidFor    time.Duration // the access token is valid for at least this long
}

// Exchange exchanges the text of an API token for an access token. Every invalid
// token fails with the same fault.Invalid message, or with fault.Limited if its network
// sent too many; the cause is logged only.
func (a *Authenticator) Exchange(ctx context.Context, text secret.Text, address string) (Grant, error) {
	s, err := a.Authenticate(ctx, text, address)
	if err != nil {
		return Grant{Caller: s.Caller()}, err
	}
	return a.issue(ctx, s, a.registry.now())
}

// badAPIToken returns the error for an invalid token. A network that sent too
// many of them must wait, longer each time; a valid token is accepted from it
// nevertheless.
func (a *Authenticator) badAPIToken(address string, cause error) error {
	if wait := a.failures.add(address); wait > 0 {
		return &fault.Error{Kind: fault.Limited, Message: "too many invalid API tokens were sent from this address", After: wait, Err: cause}
	}
	return fault.Wrap(fault.Invalid, cause, "the API token is not valid")
}

// Authenticate returns the state of the API token with the given text, for a login
// that lasts as long as the token is valid. It fails like Exchange.
func (a *Authenticator) Authenticate(ctx context.Context, text secret.Text, address string) (TokenState, error) {
	hash, ok := hashToken(text)
	if !ok {
		return TokenState{}, a.badAPIToken(address, errors.New("it is malformed"))
	}
	s, err := a.registry.store.TokenStateByHash(ctx, hash)
	if fault.Is(err, fault.NotFound) {
		return TokenState{}, a.badAPIToken(address, errors.New("it is unknown"))
	}
	if err != nil {
		return TokenState{}, fmt.Errorf("look up API token: %w", err)
	}
	now := a.registry.now()
	if cause := s.check(now, address); cause != nil {
		return s, a.badAPIToken(address, cause)
	}
	a.networks.Add(accountOf(hash), address)
	a.registry.used.add(Use{s.Token.ID, now, address})
	return s, nil
}

func accountOf(h TokenHash) string { return string(h[:]) }

// KnownAccount returns the rate limit account of a login with this token, if
// the token was used from the address's network before; otherwise "".
func (a *Authenticator) KnownAccount(ctx context.Context, text secret.Text, address string) string {
	hash, ok := hashToken(text)
	if !ok {
		return ""
	}
	known, err := a.networks.Has(ctx, accountOf(hash), address)
	if err != nil || !known {
		return "" // the login gets and reports the same error
	}
	return accountOf(hash)
}

// Holder returns the current state of an API token that was used to log in. It
// fails with fault.Unauthenticated if the token is no longer valid.
func (a *Authenticator) Holder(ctx context.Context, id TokenID, address string) (TokenState, error) {
	s, err := a.tokenState(ctx, id)
	if err != nil {
		return TokenState{}, err
	}
	now := a.registry.now()
	if cause := s.check(now, address); cause != nil {
		return s, refusal(cause)
	}
	a.registry.used.add(Use{s.Token.ID, now, address})
	return s, nil
}

// tokenState returns the state of an API token. It fails with fault.Unauthenticated if the
// token was removed.
func (a *Authenticator) tokenState(ctx context.Context, id TokenID) (TokenState, error) {
	s, err := a.registry.cache.state(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return TokenState{}, refusal(errors.New("the API token was removed"))
	}
	if err != nil {
		return TokenState{}, fmt.Errorf("look up API token: %w", err)
	}
	return s, nil
}

// issue signs the tokens of a grant.
func (a *Authenticator) issue(ctx context.Context, s TokenState, now time.Time) (Grant, error) {
	// JWT times are whole seconds. Truncation shortens the lifetime by less than a
	// second.
	now = now.Truncate(time.Second)
	c := Claims{
		Audience: a.Audience, Subject: string(s.User.ID), Org: string(s.Org.ID), Roles: []string{s.role().String()},
		Session: string(s.Token.ID), ExpiresAt: now.Add(a.Life),
	}
	access, err := a.keys.Sign(ctx, AccessType, c)
	if err != nil {
		return Grant{}, err
	}
	// The ID token describes the user to a client. Its type and audience differ
	// from an access token's, so that it grants no access.
	c.Audience += "-client"
	c.Extra = map[string]any{"name": s.User.Name, "org_name": s.Org.Name}
	if s.User.Email != "" {
		c.Extra["email"] = s.User.Email
	}
	id, err := a.keys.Sign(ctx, PlainType, c)
	if err != nil {
		return Grant{}, err
	}
	scope := []string{"openid"}
	for _, r := range Roles {
		if s.role().Includes(r) {
			scope = append(scope, r.String())
		}
	}
	return Grant{
		Caller: s.caller(s.role()), AccessToken: secret.NewText(access), IDToken: secret.NewText(id),
		Scope: strings.Join(scope, " "), ValidFor: a.Life - time.Second,
	}, nil
}

// Caller returns the holder of the token, with the role that it grants now.
func (s TokenState) Caller() Caller { return s.caller(s.role()) }

func (s TokenState) caller(r Role) Caller {
	return Caller{
		Org: s.Org.ID, User: s.User.ID, Name: s.User.Name, Role: r, Token: s.Token.ID, Limits: s.Token.Limits,
		UserAccounts: s.User.Accounts, TokenAccounts: s.Token.Accounts,
	}
}

// Identify returns the caller of an access token. It fails with
// fault.Unauthenticated if the token is not or no longer valid.
func (a *Authenticator) Identify(ctx context.Context, text, address string) (Caller, error) {
	c, err := a.keys.Verify(ctx, text, Want{Type: AccessType, Audience: a.Audience})
	if err != nil {
		return Caller{}, err
	}
	s, err := a.tokenState(ctx, TokenID(c.Session))
	if err != nil {
		return Caller{}, err
	}
	now := a.registry.now()
	if cause := s.check(now, address); cause != nil {
		return s.caller(NoRole), refusal(cause)
	}
	if string(s.User.ID) != c.Subject || string(s.Org.ID) != c.Org {
		return Caller{}, refusal(errors.New("the subject is not the API token's user"))
	}
	// A lowered role takes effect at once, a raised role with the next access
	// token.
	role := s.role()
	for _, name := range c.Roles {
		signed, err := ParseRole(name)
		if err != nil {
			return Caller{}, refusal(fmt.Errorf("role %q", name))
		}
		role = min(role, signed)
	}
	if len(c.Roles) == 0 {
		return Caller{}, refusal(errors.New("no roles"))
	}
	a.registry.used.add(Use{s.Token.ID, now, address})
	return s.caller(role), nil
}
