// Package auth authenticates and authorises callers: organisations, users, API
// tokens, roles, and the keys that sign access tokens.
//
// An API token is a long-lived secret of a user. [Authenticator.Exchange] exchanges it
// for an access token, a JWT that is valid for half an hour; [Authenticator.Identify]
// returns the caller of an access token. Revoking an API token, lowering a
// role, or disabling a user or an organisation affects access tokens at once:
// Identify checks the current state, not only the signature.
//
// [Keys] sign and verify tokens for any issuer and audience, and rotate without
// interrupting sessions. [Registry] manages users and tokens and enforces the
// rules about them. Package auth knows neither HTTP nor SQL; see authapi and
// authdb.
package auth

import (
	"context"
	"time"
)

// OrgID identifies an organisation.
type OrgID string

// UserID identifies a user. It is unique across organisations.
type UserID string

// TokenID identifies an API token; it is not secret.
type TokenID string

// An Org is a customer. All data belongs to one organisation, and requests see
// only the data of their caller's organisation.
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
	Name      string // unique in the organisation, ignoring case
	Email     string // may be empty
	Role      Role
	Disabled  bool
	Version   int64 // incremented by every change
	CreatedAt time.Time
	UpdatedAt time.Time

	Accounts AccountLimit // the accounts that the user may see

	// Issuer and subject of a user that single sign-on created; empty for other users.
	Issuer, Subject string

	// LastSeenAt is when one of the user's tokens or sessions was last used, with a
	// precision of a minute; zero for never. Only [Store.Users] and [Store.User] set it.
	LastSeenAt time.Time
}

// A Token describes an API token. Only its holder knows the text.
type Token struct {
	ID          TokenID
	Org         OrgID
	User        UserID
	Name        string
	Hint        string // the first characters of the text, to distinguish tokens
	Role        Role   // the highest role it grants; limited by the user's role
	CreatedBy   UserID // empty when created on the command line
	CreatedAt   time.Time
	ExpiresAt   time.Time // zero for never
	RevokedAt   time.Time // zero if not revoked
	LastUsedAt  time.Time // zero for never; with a precision of a minute
	LastAddress string
	Limits      TokenLimits
	Accounts    AccountLimit // the accounts that it gives access to; limited by the user's
	// SignOn means that the token stands for a browser session by single sign-on.
	// Nobody has its text.
	SignOn bool
}

// A Caller is the authenticated sender of a request.
type Caller struct {
	Org   OrgID
	User  UserID
	Name  string // of the user
	Role  Role
	Token TokenID // the API token behind the access token

	Limits TokenLimits // of that token

	// The accounts that the user and the token are limited to. An account must be
	// allowed by both.
	UserAccounts, TokenAccounts AccountLimit
}

// Limited reports whether the caller may see only some of the organisation's
// accounts.
func (c Caller) Limited() bool { return !c.UserAccounts.IsZero() || !c.TokenAccounts.IsZero() }

type callerKey struct{}

// WithCaller returns a context that carries the caller.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerFrom returns the caller of the request that ctx belongs to. It returns
// false for public routes.
func CallerFrom(ctx context.Context) (Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(Caller)
	return c, ok
}
