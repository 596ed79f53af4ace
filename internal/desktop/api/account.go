package api

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"vigil/internal/desktop"
	"vigil/internal/desktop/session"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
	"vigil/internal/secret"
)

type account struct {
	DomainSID string     `json:"ad_domain_id"`
	ID        desktop.ID `json:"id"`
	Username  string     `json:"username"`
}

func accountOf(v desktop.InstantCloneAccount) account { return account{v.DomainSID, v.ID, v.Username} }

type idPath struct {
	ID string `path:"id"`
}

type accountSpec struct {
	DomainSID string   `json:"ad_domain_id" required:"true"`
	Username  string   `json:"username" required:"true"`
	Password  Password `json:"password" required:"true"`
	Verify    *bool    `query:"verify"`
}

// Validate checks the fields that need no query to the domain.
func (s accountSpec) Validate() error {
	n := utf8.RuneCountInString(s.Username)
	switch {
	case n == 0 || n > 256:
		return fault.Field("username", "must have 1 to 256 characters")
	case strings.ContainsAny(s.Username, `@\`) || strings.ContainsFunc(s.Username, unicode.IsControl):
		return fault.Field("username", "must be a plain account name of the domain")
	case s.Password.IsZero():
		return fault.Field("password", "must not be empty")
	}
	return nil
}

type accountUpdate struct {
	ID       string   `path:"id"`
	Password Password `json:"password" required:"true"`
	Verify   *bool    `query:"verify"`
}

// Validate checks the fields that need no query to the domain.
func (u accountUpdate) Validate() error {
	if u.Password.IsZero() {
		return fault.Field("password", "must not be empty")
	}
	return nil
}

func (a *API) listAccounts(ctx context.Context, _ httpapi.None) ([]account, error) {
	all, err := a.Accounts.Accounts(ctx)
	return httpapi.Each(all, accountOf), err
}

func (a *API) getAccount(ctx context.Context, in idPath) (account, error) {
	v, err := a.Accounts.Account(ctx, desktop.ID(in.ID))
	return accountOf(v), err
}

func (a *API) createAccount(ctx context.Context, in accountSpec) (httpapi.Reply, error) {
	d, ok := a.Board.Domain(in.DomainSID)
	if !ok {
		return httpapi.Reply{}, fault.Field("ad_domain_id", "is not a known directory domain")
	}
	if err := a.checkUnused(ctx, in.DomainSID, in.Username); err != nil {
		return httpapi.Reply{}, err
	}
	if in.Verify == nil || *in.Verify {
		if err := a.tryAccount(ctx, d, in.Username, in.Password.Text); err != nil {
			return httpapi.Reply{}, err
		}
	}
	now := a.Now()
	v := desktop.InstantCloneAccount{
		ID: desktop.ID(uuid.NewString()), DomainSID: in.DomainSID, Username: in.Username, CreatedAt: now, UpdatedAt: now,
	}
	sealed, err := a.SealPassword(ctx, v.ID, in.Password.Text)
	if err != nil {
		return httpapi.Reply{}, err
	}
	httpapi.Note(ctx, "account", string(v.ID))
	if err := a.Accounts.AddAccount(ctx, v, sealed); err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Created("/rest/config/v1/ic-domain-accounts/"+string(v.ID), "", accountOf(v)), nil
}

// checkUnused returns an error if the domain already has an account with this name.
// createAccount calls it before it tries the password; the store checks again, for
// concurrent requests.
func (a *API) checkUnused(ctx context.Context, sid, username string) error {
	all, err := a.Accounts.Accounts(ctx)
	if err != nil {
		return err
	}
	for _, v := range all {
		if v.DomainSID == sid && strings.EqualFold(v.Username, username) {
			return fault.New(fault.Conflict, "the domain already has an account with this name")
		}
	}
	return nil
}

// tryAccount tries credentials at the domain, under the same throttle as
// logins.
func (a *API) tryAccount(ctx context.Context, d desktop.Domain, username string, password secret.Text) error {
	after, err := a.Authenticator.Verify(ctx, d, username, httpapi.Source(ctx), func() error {
		return a.TryAccount(ctx, d, username, password)
	})
	r, refused := errors.AsType[*session.Refusal](err)
	_, unreachable := errors.AsType[*desktop.Failure](err)
	switch {
	case refused && after > 0: // the throttle refused: the domain was not asked
		return &fault.Error{
			Kind: fault.Limited, After: after,
			Message: "too many attempts with wrong credentials; send verify=false to store the account without verification",
		}
	case refused:
		return fault.Wrap(fault.Invalid, err, "the domain does not accept the account: %s", r.Cause)
	case unreachable:
		return &fault.Error{
			Kind: fault.Unavailable, After: 10 * time.Second, Err: err,
			Message: "the domain is not reachable now; send verify=false to store the account without verification",
		}
	}
	return err
}

func (a *API) updateAccount(ctx context.Context, in accountUpdate) (httpapi.Reply, error) {
	v, err := a.Accounts.Account(ctx, desktop.ID(in.ID))
	if err != nil {
		return httpapi.Reply{}, err
	}
	if in.Verify == nil || *in.Verify {
		d, ok := a.Board.Domain(v.DomainSID)
		if !ok {
			return httpapi.Reply{}, fault.New(fault.Invalid, "the account's domain is no longer in the inventory; send verify=false to store the password without verification")
		}
		if err := a.tryAccount(ctx, d, v.Username, in.Password.Text); err != nil {
			return httpapi.Reply{}, err
		}
	}
	sealed, err := a.SealPassword(ctx, v.ID, in.Password.Text)
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.NoContent(), a.Accounts.ChangePassword(ctx, v.ID, sealed, a.Now())
}

func (a *API) deleteAccount(ctx context.Context, in idPath) (httpapi.Reply, error) {
	if _, err := uuid.Parse(in.ID); err != nil {
		return httpapi.Reply{}, fault.Field("id", "must be a UUID")
	}
	return httpapi.NoContent(), a.Accounts.RemoveAccount(ctx, desktop.ID(in.ID))
}
