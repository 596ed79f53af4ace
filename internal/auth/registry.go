package auth

import (
	"cmp"
	"context"
	"fmt"
	"net/mail"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"vigil/internal/audit"
	"vigil/internal/fault"
	"vigil/internal/secret"
)

// Registry manages organisations, users and tokens. It enforces that callers
// grant no more than they have, and that an organisation always has an admin.
// It is safe for concurrent use.
type Registry struct {
	// TokenLife is the lifetime of API tokens created without an expiry;
	// DefaultTokenLife if zero.
	TokenLife time.Duration

	store Store
	now   func() time.Time
	cache *tokenCache
	used  *usage
}

// DefaultTokenLife is the lifetime of an API token by default. It is limited,
// so that a forgotten token does not grant access for ever.
const DefaultTokenLife = 90 * 24 * time.Hour

// NewRegistry returns a registry on a store. Now is time.Now if nil.
func NewRegistry(store Store, now func() time.Time) *Registry {
	if now == nil {
		now = time.Now
	}
	return &Registry{store: store, now: now, cache: newTokenCache(store, now), used: newUsage()}
}

// clearCache returns err after it cleared the token cache. The cache is cleared
// after failures too: a change may have been committed although its response
// was lost.
func (r *Registry) clearCache(err error) error {
	r.cache.forget()
	return err
}

// CreateOrg adds an organisation with its first admin. It has no caller to check,
// because only the operator calls it.
func (r *Registry) CreateOrg(ctx context.Context, name, admin string) (Org, User, error) {
	name, err := checkName("name", name)
	if err != nil {
		return Org{}, User{}, err
	}
	admin, err = checkName("admin", admin)
	if err != nil {
		return Org{}, User{}, err
	}
	now := r.now()
	o := Org{ID: OrgID(uuid.NewString()), Name: name, CreatedAt: now}
	u := User{ID: UserID(uuid.NewString()), Org: o.ID, Name: admin, Role: Admin, Version: 1, CreatedAt: now, UpdatedAt: now}
	return o, u, r.clearCache(r.store.CreateOrg(ctx, o, u))
}

// Orgs returns all organisations by name.
func (r *Registry) Orgs(ctx context.Context) ([]Org, error) { return r.store.Orgs(ctx) }

// SetOrgDisabled disables or enables an organisation.
func (r *Registry) SetOrgDisabled(ctx context.Context, id OrgID, disabled bool) error {
	return r.clearCache(r.store.SetOrgDisabled(ctx, id, disabled))
}

// Operator returns the caller of commands on the command line: an admin of one
// organisation without a token.
func Operator(org OrgID) Caller { return Caller{Org: org, Name: "operator", Role: Admin} }

// UserEdit are the fields of a user that can be set.
type UserEdit struct {
	Name     string
	Email    string
	Role     Role
	Disabled bool
	Accounts AccountLimit
}

func (e *UserEdit) check(caller Caller) error {
	var err error
	if e.Name, err = checkName("name", e.Name); err != nil {
		return err
	}
	e.Email = strings.TrimSpace(e.Email)
	if e.Email != "" {
		if a, err := mail.ParseAddress(e.Email); err != nil || a.Address != e.Email || len(e.Email) > 254 {
			return fault.Field("email", "must be an e-mail address")
		}
	}
	if e.Role == NoRole {
		return fault.Field("role", "is missing")
	}
	if err := checkLimited(e.Accounts, e.Role); err != nil {
		return err
	}
	return checkGrant(caller, e.Role)
}

// checkGrant returns an error if a caller grants a role above their own.
func checkGrant(caller Caller, r Role) error {
	if !caller.Role.Includes(r) {
		return fault.New(fault.Forbidden, "role %s cannot be given by a caller with role %s", r, caller.Role)
	}
	return nil
}

// AddUser adds a user to the caller's organisation.
func (r *Registry) AddUser(ctx context.Context, caller Caller, e UserEdit) (User, error) {
	if err := e.check(caller); err != nil {
		return User{}, err
	}
	now := r.now()
	u := User{
		ID: UserID(uuid.NewString()), Org: caller.Org, Name: e.Name, Email: e.Email, Role: e.Role,
		Disabled: e.Disabled, Version: 1, CreatedAt: now, UpdatedAt: now, Accounts: e.Accounts,
	}
	audit.Note(ctx, "user_id", string(u.ID))
	return u, r.clearCache(r.store.CreateUser(ctx, u))
}

// Users returns the users of the caller's organisation by name.
func (r *Registry) Users(ctx context.Context, caller Caller) ([]User, error) {
	return r.store.Users(ctx, caller.Org)
}

// User returns one user of the caller's organisation.
func (r *Registry) User(ctx context.Context, caller Caller, id UserID) (User, error) {
	return r.store.User(ctx, caller.Org, id)
}

// ChangeUser replaces the editable fields of a user. It fails with fault.Stale
// unless version is 0 or the current version.
func (r *Registry) ChangeUser(ctx context.Context, caller Caller, id UserID, version int64, e UserEdit) (User, error) {
	if err := e.check(caller); err != nil {
		return User{}, err
	}
	for attempt := 1; ; attempt++ {
		u, err := r.store.User(ctx, caller.Org, id)
		if err != nil {
			return User{}, err
		}
		if version != 0 && version != u.Version {
			return User{}, staleUser()
		}
		if err := checkGrant(caller, u.Role); err != nil {
			return User{}, err
		}
		u.Name, u.Email, u.Role, u.Disabled, u.Accounts = e.Name, e.Email, e.Role, e.Disabled, e.Accounts
		u.Version, u.UpdatedAt = u.Version+1, r.now()
		err = r.clearCache(r.store.ReplaceUser(ctx, u))
		// Without a version the change must succeed: retry it on the new version.
		if fault.Is(err, fault.Stale) && version == 0 && attempt < 10 {
			continue
		}
		return u, err
	}
}

func staleUser() error {
	return fault.New(fault.Stale, "the user has changed since it was read; read it again")
}

// RemoveUser removes a user and the user's tokens, and returns the removed
// user. It fails with fault.Stale unless version is 0 or the current version.
func (r *Registry) RemoveUser(ctx context.Context, caller Caller, id UserID, version int64) (User, error) {
	u, err := r.store.DeleteUser(ctx, caller.Org, id, version)
	return u, r.clearCache(err)
}

// TokenEdit are the fields of a new token.
type TokenEdit struct {
	Name      string
	User      UserID    // the caller if empty
	Role      Role      // if NoRole, the lower of the caller's and the user's
	ExpiresAt time.Time // after TokenLife if zero
	Limits    TokenLimits
	Accounts  AccountLimit
}

// IssueToken creates an API token and returns its text, which cannot be read
// again later.
func (r *Registry) IssueToken(ctx context.Context, caller Caller, e TokenEdit) (Token, secret.Text, error) {
	name, err := checkName("name", e.Name)
	if err != nil {
		return Token{}, secret.Text{}, err
	}
	now := r.now()
	if !e.ExpiresAt.IsZero() && !e.ExpiresAt.After(now) {
		return Token{}, secret.Text{}, fault.Field("expiryTime", "must lie in the future")
	}
	if e.ExpiresAt.IsZero() {
		e.ExpiresAt = now.Add(cmp.Or(r.TokenLife, DefaultTokenLife))
	}
	if e.User == "" {
		e.User = caller.User
	}
	u, err := r.store.User(ctx, caller.Org, e.User)
	if fault.Is(err, fault.NotFound) {
		return Token{}, secret.Text{}, fault.Field("userId", "is not a user of this organisation")
	}
	if err != nil {
		return Token{}, secret.Text{}, err
	}
	if e.Role == NoRole {
		e.Role = min(u.Role, caller.Role)
	}
	if err := checkGrant(caller, e.Role); err != nil {
		return Token{}, secret.Text{}, err
	}
	if !u.Role.Includes(e.Role) {
		return Token{}, secret.Text{}, fault.Field("role", "is above that of the user, which is %s", u.Role)
	}
	if err := checkLimited(e.Accounts, e.Role); err != nil {
		return Token{}, secret.Text{}, err
	}
	if !caller.Limits.includes(e.Limits) {
		return Token{}, secret.Text{}, fault.New(fault.Forbidden, "your token is limited to scopes or addresses; a token created with it must be limited to the same or fewer")
	}
	text := newTokenText()
	hash, ok := hashToken(text)
	if !ok {
		return Token{}, secret.Text{}, fmt.Errorf("a new API token is not valid")
	}
	t := Token{
		ID: TokenID(uuid.NewString()), Org: caller.Org, User: u.ID, Name: name, Hint: hintOf(text), Role: e.Role,
		CreatedBy: caller.User, CreatedAt: now, ExpiresAt: e.ExpiresAt, Limits: e.Limits, Accounts: e.Accounts,
	}
	audit.Note(ctx, "token_id", string(t.ID))
	audit.Note(ctx, "user_id", string(t.User))
	return t, text, r.clearCache(r.store.CreateToken(ctx, t, hash))
}

// Tokens returns the tokens of the caller's organisation, newest first.
func (r *Registry) Tokens(ctx context.Context, caller Caller) ([]Token, error) {
	return r.store.Tokens(ctx, caller.Org)
}

// RevokeToken revokes a token and all access tokens that were issued for it.
func (r *Registry) RevokeToken(ctx context.Context, caller Caller, id TokenID) (Token, error) {
	t, err := r.store.RevokeToken(ctx, caller.Org, id, r.now())
	return t, r.clearCache(err)
}

// checkName trims a name and returns an error if it is empty, too long or not
// printable on one line.
func checkName(path, s string) (string, error) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return "", fault.Field(path, "is missing")
	case utf8.RuneCountInString(s) > 200:
		return "", fault.Field(path, "must have 200 characters at most")
	case strings.ContainsFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }):
		return "", fault.Field(path, "must be printable")
	}
	return s, nil
}
