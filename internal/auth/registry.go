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

// Registry keeps organisations, users and tokens by the rules: nobody grants
// more than they have, and an organisation always has an admin. It is safe for
// concurrent use.
type Registry struct {
	// TokenLife is how long API tokens are good for whose end is not said;
	// DefaultTokenLife if zero.
	TokenLife time.Duration

	store Store
	now   func() time.Time
	view  *view
	used  *usage
}

// DefaultTokenLife is how long an API token is good for unless told otherwise: a
// forgotten one does not open the door for ever.
const DefaultTokenLife = 90 * 24 * time.Hour

// NewRegistry returns a registry on a store. Now is time.Now if nil.
func NewRegistry(store Store, now func() time.Time) *Registry {
	if now == nil {
		now = time.Now
	}
	return &Registry{store: store, now: now, view: newView(store, now), used: newUsage()}
}

// changed passes on the outcome of a change, after which nothing that was known
// about tokens may be relied on. That holds for failures too: a change may have
// been made although its answer was lost.
func (r *Registry) changed(err error) error {
	r.view.forget()
	return err
}

// CreateOrg adds an organisation with its first admin. It is the operator's
// business, so that no caller is asked for.
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
	return o, u, r.changed(r.store.CreateOrg(ctx, o, u))
}

// Orgs returns all organisations by name.
func (r *Registry) Orgs(ctx context.Context) ([]Org, error) { return r.store.Orgs(ctx) }

// SetOrgDisabled shuts an organisation out, or lets it in again.
func (r *Registry) SetOrgDisabled(ctx context.Context, id OrgID, disabled bool) error {
	return r.changed(r.store.SetOrgDisabled(ctx, id, disabled))
}

// Operator is a caller who acts on the command line, with every right in one
// organisation and no token.
func Operator(org OrgID) Caller { return Caller{Org: org, Name: "operator", Role: Admin} }

// UserEdit is what can be said about a user.
type UserEdit struct {
	Name     string
	Email    string
	Role     Role
	Disabled bool
}

func (e *UserEdit) check(by Caller) error {
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
	return checkGrant(by, e.Role)
}

// checkGrant refuses to give what the giver does not have.
func checkGrant(by Caller, r Role) error {
	if !by.Role.Includes(r) {
		return fault.New(fault.Forbidden, "role %s cannot be given by a caller with role %s", r, by.Role)
	}
	return nil
}

// AddUser adds a user to the caller's organisation.
func (r *Registry) AddUser(ctx context.Context, by Caller, e UserEdit) (User, error) {
	if err := e.check(by); err != nil {
		return User{}, err
	}
	now := r.now()
	u := User{
		ID: UserID(uuid.NewString()), Org: by.Org, Name: e.Name, Email: e.Email, Role: e.Role,
		Disabled: e.Disabled, Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	audit.Note(ctx, "user_id", string(u.ID))
	return u, r.changed(r.store.CreateUser(ctx, u))
}

// Users returns the users of the caller's organisation by name.
func (r *Registry) Users(ctx context.Context, by Caller) ([]User, error) {
	return r.store.Users(ctx, by.Org)
}

// User returns one user of the caller's organisation.
func (r *Registry) User(ctx context.Context, by Caller, id UserID) (User, error) {
	return r.store.User(ctx, by.Org, id)
}

// ChangeUser replaces what is said about a user. A version of 0 stands for any;
// otherwise it fails with fault.Stale unless it is the current one.
func (r *Registry) ChangeUser(ctx context.Context, by Caller, id UserID, version int64, e UserEdit) (User, error) {
	if err := e.check(by); err != nil {
		return User{}, err
	}
	for attempt := 1; ; attempt++ {
		u, err := r.store.User(ctx, by.Org, id)
		if err != nil {
			return User{}, err
		}
		if version != 0 && version != u.Version {
			return User{}, staleUser()
		}
		if err := checkGrant(by, u.Role); err != nil {
			return User{}, err
		}
		u.Name, u.Email, u.Role, u.Disabled = e.Name, e.Email, e.Role, e.Disabled
		u.Version, u.UpdatedAt = u.Version+1, r.now()
		err = r.changed(r.store.ReplaceUser(ctx, u))
		// Whoever does not care which version they change wins in the end.
		if fault.Is(err, fault.Stale) && version == 0 && attempt < 10 {
			continue
		}
		return u, err
	}
}

func staleUser() error {
	return fault.New(fault.Stale, "the user has changed since it was read; read it again")
}

// RemoveUser removes a user and the user's tokens and returns the user as it
// was. A version of 0 stands for any.
func (r *Registry) RemoveUser(ctx context.Context, by Caller, id UserID, version int64) (User, error) {
	u, err := r.store.DeleteUser(ctx, by.Org, id, version)
	return u, r.changed(err)
}

// TokenEdit is what can be said about a new token.
type TokenEdit struct {
	Name      string
	User      UserID    // the caller's if empty
	Role      Role      // the lower of the caller's and the user's if NoRole
	ExpiresAt time.Time // after the registry's TokenLife if zero
	Limits    TokenLimits
}

// IssueToken makes an API token and returns its text, which nobody can find out
// later.
func (r *Registry) IssueToken(ctx context.Context, by Caller, e TokenEdit) (Token, secret.Text, error) {
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
		e.User = by.User
	}
	u, err := r.store.User(ctx, by.Org, e.User)
	if fault.Is(err, fault.NotFound) {
		return Token{}, secret.Text{}, fault.Field("userId", "names no user of this organisation")
	}
	if err != nil {
		return Token{}, secret.Text{}, err
	}
	if e.Role == NoRole {
		e.Role = min(u.Role, by.Role)
	}
	if err := checkGrant(by, e.Role); err != nil {
		return Token{}, secret.Text{}, err
	}
	if !u.Role.Includes(e.Role) {
		return Token{}, secret.Text{}, fault.Field("role", "is above that of the user, which is %s", u.Role)
	}
	if !by.Limits.includes(e.Limits) {
		return Token{}, secret.Text{}, fault.New(fault.Forbidden, "your token is limited to scopes or addresses; one that it makes must be limited to the same or fewer")
	}
	text := newTokenText()
	hash, ok := hashToken(text)
	if !ok {
		return Token{}, secret.Text{}, fmt.Errorf("a new API token is not valid")
	}
	t := Token{
		ID: TokenID(uuid.NewString()), Org: by.Org, User: u.ID, Name: name, Hint: hintOf(text), Role: e.Role,
		CreatedBy: by.User, CreatedAt: now, ExpiresAt: e.ExpiresAt, Limits: e.Limits,
	}
	audit.Note(ctx, "token_id", string(t.ID))
	audit.Note(ctx, "user_id", string(t.User))
	return t, text, r.changed(r.store.CreateToken(ctx, t, hash))
}

// Tokens returns the tokens of the caller's organisation, newest first.
func (r *Registry) Tokens(ctx context.Context, by Caller) ([]Token, error) {
	return r.store.Tokens(ctx, by.Org)
}

// RevokeToken makes a token and all access tokens got with it worthless.
func (r *Registry) RevokeToken(ctx context.Context, by Caller, id TokenID) (Token, error) {
	t, err := r.store.RevokeToken(ctx, by.Org, id, r.now())
	return t, r.changed(err)
}

// checkName trims a name and refuses one that could not be shown on a line.
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
