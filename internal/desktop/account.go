package desktop

import (
	"context"
	"time"
)

// An InstantCloneAccount is a directory account that joins instant clones to
// their domain. Its password is stored sealed, separately from this record.
type InstantCloneAccount struct {
	ID        ID
	DomainSID string
	Username  string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// AccountStore stores instant clone accounts with their sealed passwords.
//
// Methods are safe for concurrent use. They fail with fault.NotFound for an
// unknown account; adding a username that the domain already has, ignoring
// case, fails with fault.Conflict. Values are copies.
type AccountStore interface {
	// Accounts returns all accounts, in ID order.
	Accounts(ctx context.Context) ([]InstantCloneAccount, error)

	// Account returns one account.
	Account(ctx context.Context, id ID) (InstantCloneAccount, error)

	// AddAccount stores a new account with its sealed password.
	AddAccount(ctx context.Context, a InstantCloneAccount, sealed []byte) error

	// ChangePassword replaces the sealed password of an account.
	ChangePassword(ctx context.Context, id ID, sealed []byte, at time.Time) error

	// SealedPassword returns the sealed password of an account.
	SealedPassword(ctx context.Context, id ID) ([]byte, error)

	// RemoveAccount deletes an account and its password.
	RemoveAccount(ctx context.Context, id ID) error
}
