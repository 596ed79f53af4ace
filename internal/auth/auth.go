// Package auth knows who is asking and what they may do: organisations, users,
// API tokens, roles, and the keys that sign access tokens.
//
// An API token is a long-lived secret of a user. [Gate.Exchange] trades it for
// an access token, a JWT of half an hour; [Gate.Identify] says who holds one.
// Taking away an API token, a role, a user or an organisation takes effect on
// access tokens at once: Identify looks at the present state, not only at what
// was signed.
//
// [Keys] sign and verify, for any issuer and audience, and rotate without
// anybody noticing. [Registry] keeps users and tokens by the rules. Package
// auth knows neither HTTP nor SQL; see authapi and authdb.
package auth

import (
	"context"
	"time"
)

// OrgID names an organisation.
type OrgID string

// UserID names a user. It is unique across organisations.
type UserID string

// TokenID names an API token; it is no secret.
type TokenID string

// An Org is a customer. Everything belongs to one, and no request ever sees
// another's.
type Org struct {
	ID        OrgID
	Name      string
	Disabled  bool
	CreatedAt time.Time
}

// A User is a person, or a program, of one organisation.
type User struct {
	ID        UserID
	Org       OrgID
	Name      string // unique in the organisation, without regard to case
	Email     string // may be empty
	Role      Role
	Disabled  bool
	Version   int64 // one more with every change
	CreatedAt time.Time
	UpdatedAt time.Time
}

// A Token is what is known about an API token. Its text is known to its holder
// alone.
type Token struct {
	ID          TokenID
	Org         OrgID
	User        UserID
	Name        string
	Hint        string // the first characters of the text, to tell tokens apart
	Role        Role   // the most it grants; never more than the user has
	CreatedBy   UserID // empty when made on the command line
	CreatedAt   time.Time
	ExpiresAt   time.Time // zero for never
	RevokedAt   time.Time // zero while it is good
	LastUsedAt  time.Time // zero for never; exact to a minute
	LastAddress string
	Limits      TokenLimits
}

// A Caller is who made a request.
type Caller struct {
	Org   OrgID
	User  UserID
	Name  string // of the user
	Role  Role
	Token TokenID // the API token behind the access token

	Limits TokenLimits // of that token
}

type callerKey struct{}

// WithCaller returns a context that knows the caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerFrom returns the caller of the request that ctx belongs to. It reports
// false on routes that anybody may call.
func CallerFrom(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(Caller)
	return c, ok
}
