package auth

import (
	"context"
	"errors"
	"time"
)

// Store keeps organisations, users and API tokens. Any number of processes
// share it.
//
// Methods are safe for concurrent use. One that names something the store does
// not hold, or that belongs to another organisation, fails with fault.NotFound.
type Store interface {
	// Generation returns a number that changes with every change to what
	// [Store.Standing] returns, other than the use of a token.
	Generation(ctx context.Context) (int64, error)

	// CreateOrg adds an organisation with its first user. It fails with
	// fault.Conflict if the name is taken, without regard to case.
	CreateOrg(ctx context.Context, o Org, first User) error

	// Orgs returns all organisations by name.
	Orgs(ctx context.Context) ([]Org, error)

	// SetOrgDisabled shuts an organisation out, or lets it in again.
	SetOrgDisabled(ctx context.Context, id OrgID, disabled bool) error

	// CreateUser adds a user. It fails with fault.Conflict if the name is taken.
	CreateUser(ctx context.Context, u User) error

	// Users returns the users of an organisation by name.
	Users(ctx context.Context, org OrgID) ([]User, error)

	// User returns one user.
	User(ctx context.Context, org OrgID, id UserID) (User, error)

	// ReplaceUser stores what can change of u: name, email, role, disabled,
	// time of update and version. The stored version must be u.Version-1, else
	// it fails with fault.Stale. It fails with fault.Conflict if the name is
	// taken, or if no enabled admin would be left.
	ReplaceUser(ctx context.Context, u User) error

	// DeleteUser removes a user and the user's tokens and returns the user as it
	// was. A version of 0 stands for
	// any; otherwise it fails with fault.Stale for another. It fails with
	// fault.Conflict if no enabled admin would be left.
	DeleteUser(ctx context.Context, org OrgID, id UserID, version int64) (User, error)

	// CreateToken adds an API token of a user who must exist.
	CreateToken(ctx context.Context, t Token, h TokenHash) error

	// Tokens returns the tokens of an organisation that are not revoked, newest
	// first.
	Tokens(ctx context.Context, org OrgID) ([]Token, error)

	// RevokeToken makes a token worthless and returns it. One that is revoked is
	// not found.
	RevokeToken(ctx context.Context, org OrgID, id TokenID, at time.Time) (Token, error)

	// Standing returns what a token stands for.
	Standing(ctx context.Context, id TokenID) (Standing, error)

	// StandingByHash finds it by the hash of the token's text.
	StandingByHash(ctx context.Context, h TokenHash) (Standing, error)

	// TokenPlaces returns from which networks tokens that are not revoked were
	// last used; the account is the token's hash.
	TokenPlaces(ctx context.Context) ([]Place, error)

	// Used records when tokens were last used. It ignores those that are gone.
	Used(ctx context.Context, uses []Use) error
}

// A Standing is an API token with its user and organisation as they are now.
type Standing struct {
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

// check says why the token is worthless, if it is.
func (s Standing) check(now time.Time, address string) error {
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
		return errors.New("no role is left")
	case !s.Token.Limits.AllowsAddress(address):
		return errors.New("the API token must not be used from this address")
	}
	return nil
}

// role is what the token grants now.
func (s Standing) role() Role { return min(s.User.Role, s.Token.Role) }
