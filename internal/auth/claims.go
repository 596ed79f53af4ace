package auth

import (
	"encoding/json"
	"fmt"
	"time"
)

// Types of JSON web token, as their header names them.
const (
	AccessType = "at+jwt" // RFC 9068
	PlainType  = "JWT"
)

// Claims are the content of a signed token.
type Claims struct {
	Issuer    string
	Audience  string // exactly one: tokens for several audiences are refused
	Subject   string
	Org       string
	Roles     []string
	Session   string // id of the API token or session that, when revoked, invalidates this token
	ID        string // unique among tokens
	IssuedAt  time.Time
	NotBefore time.Time
	ExpiresAt time.Time
	Extra     map[string]any // further claims by name; see reservedNames
}

// wireClaims is the JSON payload. Pointers distinguish a missing time from
// 1970. Times are whole seconds, because many clients parse nothing else.
type wireClaims struct {
	Issuer    string   `json:"iss"`
	Audience  string   `json:"aud"`
	Subject   string   `json:"sub"`
	Org       string   `json:"org,omitempty"`
	Roles     []string `json:"roles,omitempty"`
	Session   string   `json:"sid,omitempty"`
	ID        string   `json:"jti"`
	IssuedAt  *int64   `json:"iat"`
	NotBefore *int64   `json:"nbf"`
	ExpiresAt *int64   `json:"exp"`
}

// reservedNames are the names of the claims that have their own field. Extra must not
// contain them.
var reservedNames = []string{"iss", "aud", "sub", "org", "roles", "sid", "jti", "iat", "nbf", "exp"}

// encode returns the payload of a token with these claims.
func (c Claims) encode() ([]byte, error) {
	seconds := func(t time.Time) *int64 {
		s := t.Unix()
		return &s
	}
	wire, err := json.Marshal(wireClaims{
		c.Issuer, c.Audience, c.Subject, c.Org, c.Roles, c.Session, c.ID,
		seconds(c.IssuedAt), seconds(c.NotBefore), seconds(c.ExpiresAt),
	})
	if err != nil || len(c.Extra) == 0 {
		return wire, err
	}
	for _, name := range reservedNames {
		if _, reserved := c.Extra[name]; reserved {
			return nil, fmt.Errorf("claim %q is reserved and cannot be in Extra", name)
		}
	}
	extra, err := json.Marshal(c.Extra)
	if err != nil {
		return nil, err
	}
	// Join two JSON objects: {"a":1} and {"b":2} become {"a":1,"b":2}.
	wire[len(wire)-1] = ','
	return append(wire, extra[1:]...), nil
}

// decodeClaims decodes a payload whose signature was verified.
func decodeClaims(payload []byte) (Claims, error) {
	var w wireClaims
	if err := json.Unmarshal(payload, &w); err != nil {
		return Claims{}, fmt.Errorf("read claims: %w", err)
	}
	var extra map[string]any
	if err := json.Unmarshal(payload, &extra); err != nil {
		return Claims{}, fmt.Errorf("read claims: %w", err)
	}
	for _, name := range reservedNames {
		delete(extra, name)
	}
	if len(extra) == 0 {
		extra = nil
	}
	timeOf := func(s *int64) time.Time {
		if s == nil {
			return time.Time{}
		}
		return time.Unix(*s, 0).UTC()
	}
	return Claims{
		Issuer: w.Issuer, Audience: w.Audience, Subject: w.Subject, Org: w.Org, Roles: w.Roles,
		Session: w.Session, ID: w.ID, IssuedAt: timeOf(w.IssuedAt), NotBefore: timeOf(w.NotBefore),
		ExpiresAt: timeOf(w.ExpiresAt), Extra: extra,
	}, nil
}
