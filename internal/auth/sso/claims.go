package sso

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// login reads the user of a verified ID token. Where the ID token lacks the
// claim with the groups, it asks the provider's user info endpoint.
func (p *Provider) login(ctx context.Context, found *oidc.Provider, id *oidc.IDToken, token *oauth2.Token) (Login, error) {
	out := Login{Issuer: id.Issuer, Subject: id.Subject}
	claims := map[string]any{}
	if err := id.Claims(&claims); err != nil {
		return out, fail(Invalid, fmt.Errorf("read the ID token: %w", err))
	}
	if claimOf(claims, p.o.GroupsClaim) == nil && found.UserInfoEndpoint() != "" {
		more, err := p.userInformation(ctx, found, id.Subject, token)
		if err != nil {
			return out, err
		}
		for name, value := range more {
			if _, taken := claims[name]; !taken {
				claims[name] = value
			}
		}
	}
	unverified := claims["email_verified"] == false || claims["email_verified"] == "false"
	if email, _ := claims["email"].(string); !unverified {
		out.Email = email
	}
	out.Name = nameOf(claims, out)
	groups, err := groupsOf(claims, p.o.GroupsClaim)
	out.Groups = groups
	return out, err
}

// groupsOf returns the values of the claim with the groups: a list of texts, or
// one text.
func groupsOf(claims map[string]any, name string) ([]string, error) {
	if name == "email" { // only a verified address counts: users could enter any address themselves
		if email := verifiedEmail(claims); email != "" {
			return []string{email}, nil
		}
		return nil, fail(NoGroup, errors.New("the identity provider has not verified the e-mail address"))
	}
	switch value := claimOf(claims, name).(type) {
	case nil:
		return nil, fail(NoGroup, fmt.Errorf("the identity provider sent no claim %q", name))
	case string:
		return []string{value}, nil
	case []any:
		var all []string
		for _, one := range value {
			if text, ok := one.(string); ok {
				all = append(all, text)
			}
		}
		return all, nil
	}
	return nil, fail(NoGroup, fmt.Errorf("the claim %q is neither a text nor a list of texts", name))
}

// claimOf returns a claim by its name, or by its path in nested claims, such as
// realm_access.roles.
func claimOf(claims map[string]any, name string) any {
	if value, ok := claims[name]; ok {
		return value
	}
	first, rest, nested := strings.Cut(name, ".")
	inner, _ := claims[first].(map[string]any)
	if !nested || inner == nil {
		return nil
	}
	return claimOf(inner, rest)
}

// verifiedEmail returns the e-mail address if the provider has verified it, otherwise
// "". Some providers send the boolean email_verified as a text.
func verifiedEmail(claims map[string]any) string {
	email, _ := claims["email"].(string)
	switch claims["email_verified"] {
	case true, "true":
		return email
	}
	return ""
}

// nameOf returns the name that the user gets in Vigil.
func nameOf(claims map[string]any, l Login) string {
	for _, claim := range []string{"preferred_username", "email", "name"} {
		if s, _ := claims[claim].(string); strings.TrimSpace(s) != "" {
			return printable(s)
		}
	}
	return printable(l.Subject)
}
