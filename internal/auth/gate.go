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

// GateOptions describe the access tokens of a server.
type GateOptions struct {
	Audience string        // the aud of its access tokens; required
	Life     time.Duration // of access tokens; 30 minutes if zero, and no more than Keys allow
}

// Gate lets callers in: it trades API tokens for access tokens and says who
// holds an access token. It is safe for concurrent use.
type Gate struct {
	GateOptions
	registry *Registry
	keys     *Keys
	places   *Places
	failures *failures
}

// NewGate returns the gate of one server.
func NewGate(r *Registry, k *Keys, o GateOptions) *Gate {
	o.Life = cmp.Or(o.Life, 30*time.Minute)
	return &Gate{GateOptions: o, registry: r, keys: k, places: NewPlaces(r.store.TokenPlaces, r.now), failures: newFailures(r.now)}
}

// A Grant is what an API token is traded for.
type Grant struct {
	Caller      Caller
	AccessToken secret.Text
	IDToken     secret.Text
	Scope       string        // what the token is good for, in words
	Lasts       time.Duration // the access token is good for at least this long
}

// Exchange trades the text of an API token for an access token. Whatever is
// wrong with it, the caller learns only that it is not valid, with
// fault.Invalid; the cause is for the log.
func (g *Gate) Exchange(ctx context.Context, text secret.Text, address string) (Grant, error) {
	s, err := g.Admit(ctx, text, address)
	if err != nil {
		return Grant{Caller: s.Caller()}, err
	}
	return g.issue(ctx, s, g.registry.now())
}

// badAPIToken refuses a token. A network that has sent too many of them is told
// to wait, longer each time; a good token is accepted from it all the same.
func (g *Gate) badAPIToken(address string, cause error) error {
	if wait := g.failures.add(address); wait > 0 {
		return &fault.Error{Kind: fault.Limited, Message: "too many API tokens that are not valid came from this address", After: wait, Err: cause}
	}
	return fault.Wrap(fault.Invalid, cause, "the API token is not valid")
}

// Admit says whom the text of an API token belongs to, for a login that lasts
// as long as the token is good. It fails as Exchange does.
func (g *Gate) Admit(ctx context.Context, text secret.Text, address string) (Standing, error) {
	hash, ok := hashToken(text)
	if !ok {
		return Standing{}, g.badAPIToken(address, errors.New("it is malformed"))
	}
	s, err := g.registry.store.StandingByHash(ctx, hash)
	if fault.Is(err, fault.NotFound) {
		return Standing{}, g.badAPIToken(address, errors.New("it is unknown"))
	}
	if err != nil {
		return Standing{}, fmt.Errorf("look up API token: %w", err)
	}
	now := g.registry.now()
	if cause := s.check(now, address); cause != nil {
		return s, g.badAPIToken(address, cause)
	}
	g.places.Add(accountOf(hash), address)
	g.registry.used.add(Use{s.Token.ID, now, address})
	return s, nil
}

func accountOf(h TokenHash) string { return string(h[:]) }

// KnownAccount names the account that limits count a login with this token
// against, if the token was used from the address's network before. Otherwise it
// returns "".
func (g *Gate) KnownAccount(ctx context.Context, text secret.Text, address string) string {
	hash, ok := hashToken(text)
	if !ok {
		return ""
	}
	known, err := g.places.Has(ctx, accountOf(hash), address)
	if err != nil || !known {
		return "" // the login itself meets the same error, and reports it
	}
	return accountOf(hash)
}

// Holder says whom an API token that somebody logged in with belongs to now. It
// fails with fault.Unauthenticated for one that is no longer good.
func (g *Gate) Holder(ctx context.Context, id TokenID, address string) (Standing, error) {
	s, err := g.registry.view.standing(ctx, id)
	if fault.Is(err, fault.NotFound) {
		return Standing{}, refusal(errors.New("the API token is gone"))
	}
	if err != nil {
		return Standing{}, fmt.Errorf("look up API token: %w", err)
	}
	now := g.registry.now()
	if cause := s.check(now, address); cause != nil {
		return s, refusal(cause)
	}
	g.registry.used.add(Use{s.Token.ID, now, address})
	return s, nil
}

// issue signs the tokens of a grant.
func (g *Gate) issue(ctx context.Context, s Standing, now time.Time) (Grant, error) {
	// Tokens count whole seconds. Counting from the last one, the token lasts for
	// its life less at most a second.
	now = now.Truncate(time.Second)
	c := Claims{
		Audience: g.Audience, Subject: string(s.User.ID), Org: string(s.Org.ID), Roles: []string{s.role().String()},
		Session: string(s.Token.ID), ExpiresAt: now.Add(g.Life),
	}
	access, err := g.keys.Sign(ctx, AccessType, c)
	if err != nil {
		return Grant{}, err
	}
	// It tells a client about its user and opens nothing: neither its type nor
	// its audience is that of an access token.
	c.Audience += "-client"
	c.Extra = map[string]any{"name": s.User.Name, "org_name": s.Org.Name}
	if s.User.Email != "" {
		c.Extra["email"] = s.User.Email
	}
	id, err := g.keys.Sign(ctx, PlainType, c)
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
		Scope: strings.Join(scope, " "), Lasts: g.Life - time.Second,
	}, nil
}

// Caller is the holder of the token, with the role that it grants now.
func (s Standing) Caller() Caller { return s.caller(s.role()) }

func (s Standing) caller(r Role) Caller {
	return Caller{Org: s.Org.ID, User: s.User.ID, Name: s.User.Name, Role: r, Token: s.Token.ID, Limits: s.Token.Limits}
}

// Identify says who holds an access token. It fails with fault.Unauthenticated
// for one that is not, or no longer, good.
func (g *Gate) Identify(ctx context.Context, text, address string) (Caller, error) {
	c, err := g.keys.Verify(ctx, text, Want{Type: AccessType, Audience: g.Audience})
	if err != nil {
		return Caller{}, err
	}
	s, err := g.registry.view.standing(ctx, TokenID(c.Session))
	if fault.Is(err, fault.NotFound) {
		return Caller{}, refusal(errors.New("the API token is gone"))
	}
	if err != nil {
		return Caller{}, fmt.Errorf("look up API token: %w", err)
	}
	now := g.registry.now()
	if cause := s.check(now, address); cause != nil {
		return s.caller(NoRole), refusal(cause)
	}
	if string(s.User.ID) != c.Subject || string(s.Org.ID) != c.Org {
		return Caller{}, refusal(errors.New("it is not the API token's user"))
	}
	// A role that was lowered counts at once, one that was raised with the next
	// access token.
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
	g.registry.used.add(Use{s.Token.ID, now, address})
	return s.caller(role), nil
}
