package auth

import (
	"context"
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"vigil/internal/fault"
)

// A SignOn is a user whom an identity provider authenticated, with the access
// that the user's groups give.
type SignOn struct {
	Issuer, Subject string // identity at the provider
	Name            string
	Email           string
	Org             string // name or id of the organisation
	Role            Role
	Accounts        AccountLimit
	Life            time.Duration // maximum age of the session
}

// SignOn returns a token for a browser session of the user. The first login creates
// the user; every later login updates the name, e-mail address, role and account
// limit. Nobody has the text of the token. The session depends on the token:
// disabling the user or lowering the role affects the session at once.
//
// The user is found by issuer and subject only, never by name or e-mail address; so a
// login cannot take over another user. Sessions of the same identity in other
// organisations end.
//
// It fails with fault.NotFound when there is no such organisation, and with
// fault.Forbidden when the user or the organisation is disabled.
func (r *Registry) SignOn(ctx context.Context, in SignOn) (TokenState, error) {
	if err := checkLimited(in.Accounts, in.Role); err != nil {
		return TokenState{}, err
	}
	org, err := r.orgNamed(ctx, in.Org)
	if err != nil {
		return TokenState{}, err
	}
	if err := r.clearCache(r.store.RevokeSignOns(ctx, in.Issuer, in.Subject, org.ID, r.now())); err != nil {
		return TokenState{Org: org}, err
	}
	if org.Disabled {
		return TokenState{Org: org}, fault.New(fault.Forbidden, "the organisation is disabled")
	}
	u, err := r.signOnUser(ctx, org.ID, in)
	if err != nil {
		return TokenState{Org: org}, err
	}
	if u.Disabled {
		return TokenState{Org: org, User: u}, fault.New(fault.Forbidden, "the user is disabled")
	}
	now := r.now()
	text := newTokenText()
	hash, ok := hashToken(text)
	if !ok {
		return TokenState{}, fmt.Errorf("a new API token is not valid")
	}
	// Role and accounts are those of this login even if the user could not be
	// changed: see refresh.
	t := Token{
		ID: TokenID(uuid.NewString()), Org: org.ID, User: u.ID, Name: "Single sign-on", Hint: hintOf(text), Role: in.Role,
		CreatedBy: u.ID, CreatedAt: now, ExpiresAt: now.Add(in.Life), SignOn: true, Accounts: in.Accounts,
	}
	return TokenState{Org: org, User: u, Token: t}, r.clearCache(r.store.CreateToken(ctx, t, hash))
}

// SignOff ends all sessions by single sign-on of an identity that has lost its
// access.
func (r *Registry) SignOff(ctx context.Context, issuer, subject string) error {
	return r.clearCache(r.store.RevokeSignOns(ctx, issuer, subject, "", r.now()))
}

// orgNamed returns an organisation by its name, ignoring case, or its id.
func (r *Registry) orgNamed(ctx context.Context, name string) (Org, error) {
	orgs, err := r.store.Orgs(ctx)
	if err != nil {
		return Org{}, err
	}
	i := slices.IndexFunc(orgs, func(o Org) bool { return string(o.ID) == name || strings.EqualFold(o.Name, name) })
	if i < 0 {
		return Org{}, fault.New(fault.NotFound, "there is no organisation %q", name)
	}
	return orgs[i], nil
}

// signOnUser returns the user of an identity, created or updated.
func (r *Registry) signOnUser(ctx context.Context, org OrgID, in SignOn) (User, error) {
	name, err := checkName("name", in.Name)
	if err != nil {
		if name, err = checkName("subject", in.Subject); err != nil {
			return User{}, err
		}
	}
	if a, err := mail.ParseAddress(in.Email); err != nil || a.Address != in.Email || len(in.Email) > 254 {
		in.Email = ""
	}
	const attempts = 20
	for attempt := 1; ; attempt++ {
		u, err := r.store.UserBySubject(ctx, org, in.Issuer, in.Subject)
		if err == nil {
			u, err = r.refresh(ctx, u, name, in)
		} else if fault.Is(err, fault.NotFound) {
			now := r.now()
			u = User{
				ID: UserID(uuid.NewString()), Org: org, Name: name, Email: in.Email, Role: in.Role, Version: 1,
				CreatedAt: now, UpdatedAt: now, Issuer: in.Issuer, Subject: in.Subject, Accounts: in.Accounts,
			}
			if attempt > 1 { // another user has the name
				u.Name = fmt.Sprintf("%s (single sign-on %d)", name, attempt-1)
			}
			err = r.clearCache(r.store.CreateUser(ctx, u))
		}
		// A conflict is a name that is taken, or a concurrent first login.
		if (fault.Is(err, fault.Conflict) || fault.Is(err, fault.Stale)) && attempt < attempts {
			continue
		}
		return u, err
	}
}

// refresh updates a user at a login. Where the new name is taken, the user keeps
// the old one; where the organisation would lose its last admin, the user keeps
// the role, and only the role of the token is lower.
func (r *Registry) refresh(ctx context.Context, u User, name string, in SignOn) (User, error) {
	keepBoth := u
	keepBoth.Email = in.Email
	keepRole := keepBoth
	keepRole.Name = name
	keepName := keepBoth
	keepName.Role, keepName.Accounts = in.Role, in.Accounts
	all := keepName
	all.Name = name
	// After a conflict, the next candidate is tried.
	candidates := []User{all, keepName, keepRole, keepBoth}
	if strings.HasPrefix(u.Name, name+" (single sign-on ") { // the name was taken when the user was created
		candidates = []User{keepName, keepBoth}
	}
	for _, c := range candidates {
		if c == u {
			return u, nil
		}
		c.Version, c.UpdatedAt = u.Version+1, r.now()
		err := r.clearCache(r.store.ReplaceUser(ctx, c))
		if !fault.Is(err, fault.Conflict) {
			return c, err
		}
	}
	return u, nil
}
