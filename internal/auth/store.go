package auth

import (
	"context"
	"errors"
	"time"
)

// Store stores organisations, users and API tokens. Any number of processes
// share it.
//
// Methods are safe for concurrent use. They fail with fault.NotFound for an
// object that does not exist or belongs to another organisation.
type Store interface {
	// Generation returns a number that changes whenever the result of
	// [Store.TokenState] may change, except by use of a token.
	Generation(ctx context.Context) (int64, error)

	// CreateOrg adds an organisation with its first user. It fails with
	// fault.Conflict if the name is taken, ignoring case.
	CreateOrg(ctx context.Context, o Org, first User) error

	// Orgs returns all organisations by name.
	Orgs(ctx context.Context) ([]Org, error)

	// SetOrgDisabled disables or enables an organisation.
	SetOrgDisabled(ctx context.Context, id OrgID, disabled bool) error

	// CreateUser adds a user. It fails with fault.Conflict if the name is taken.
	CreateUser(ctx context.Context, u User) error

	// Users returns the users of an organisation by name.
	Users(ctx context.Context, org OrgID) ([]User, error)

	// User returns one user.
	User(ctx context.Context, org OrgID, id UserID) (User, error)

	// UserBySubject returns the user of an organisation with a subject of an identity
	// provider.
	UserBySubject(ctx context.Context, org OrgID, issuer, subject string) (User, error)

	// ReplaceUser updates the name, email, role, disabled flag, account limit,
	// update time and version of a user. It fails with fault.Stale unless the stored version is
	// u.Version-1. It fails with fault.Conflict if the name is taken, or if the
	// organisation would have no enabled admin after the change, or would lose its
	// last admin with a valid API token.
	ReplaceUser(ctx context.Context, u User) error

	// DeleteUser removes a user and the user's tokens, and returns the removed
	// user. It fails with fault.Stale unless version is 0 or the current version.
	// It fails with fault.Conflict if the organisation would have no enabled admin
	// after the removal, or would lose its last admin with a valid API token.
	DeleteUser(ctx context.Context, org OrgID, id UserID, version int64) (User, error)

	// CreateToken adds an API token of an existing user. If it is a token of single
	// sign-on, the user's other sign-on tokens that have expired or are revoked are
	// deleted.
	CreateToken(ctx context.Context, t Token, h TokenHash) error

	// Tokens returns the tokens of an organisation that are not revoked, newest
	// first, without those of single sign-on.
	Tokens(ctx context.Context, org OrgID) ([]Token, error)

	// RevokeToken revokes a token and returns it. It fails with fault.NotFound if
	// the token is already revoked.
	RevokeToken(ctx context.Context, org OrgID, id TokenID, at time.Time) (Token, error)

	// RevokeSignOns revokes the single sign-on tokens of an identity in all
	// organisations except the organisation keep.
	RevokeSignOns(ctx context.Context, issuer, subject string, keep OrgID, at time.Time) error

	// TokenState returns a token with its user and organisation.
	TokenState(ctx context.Context, id TokenID) (TokenState, error)

	// TokenStateByHash is like TokenState, by the hash of the token's text.
	TokenStateByHash(ctx context.Context, h TokenHash) (TokenState, error)

	// TokenNetworks returns the networks from which unrevoked tokens, without those of
	// single sign-on, were last used. LoginNetwork.Account is the hash of the token.
	TokenNetworks(ctx context.Context) ([]LoginNetwork, error)

	// Used records when tokens were last used. It ignores tokens that no longer
	// exist.
	Used(ctx context.Context, uses []Use) error
}

// A TokenState is an API token with the current state of its user and
// organisation.
type TokenState struct {
	Org   Org
	User  User
	Token Token
}

// Use is one use of a token.
type Use struct {
	Token   TokenID
	At      time.Time
	Address string
}

// check returns an error if the token is not valid now or must not be used from this
// address.
func (s TokenState) check(now time.Time, address string) error {
	switch {
	case !s.Token.RevokedAt.IsZero():
		return errors.New("the API token is revoked")
	case !s.Token.ExpiresAt.IsZero() && !now.Before(s.Token.ExpiresAt):
		return errors.New("the API token has expired")
	case s.User.Disabled:
		return errors.New("the user is disabled")
	case s.Org.Disabled:
		return errors.New("the organisation is disabled")
	case s.role() == NoRole:
		return errors.New("the token grants no role")
	case !s.Token.Limits.AllowsAddress(address):
		return errors.New("the API token is not allowed from this address")
	}
	return nil
}

// role returns the role that the token grants now.
func (s TokenState) role() Role { return min(s.User.Role, s.Token.Role) }
