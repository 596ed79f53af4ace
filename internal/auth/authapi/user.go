package authapi

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"vigil/internal/auth"
	"vigil/internal/fault"
	"vigil/internal/httpapi"
)

// Values of a user's status.
const (
	active   = "active"
	disabled = "disabled"
)

type userRecord struct {
	ID             auth.UserID   `json:"id"`
	Name           string        `json:"name"`
	Email          string        `json:"email,omitempty"`
	Role           auth.Role     `json:"role"`
	Status         string        `json:"status"`
	ETag           string        `json:"eTag"`
	CreatedTime    httpapi.Time  `json:"createdTime"`
	LastUpdateTime httpapi.Time  `json:"lastUpdateTime"`
	LastSeenTime   *httpapi.Time `json:"lastSeenTime,omitempty"`
	LimitedTo      *limitedTo    `json:"limitedTo,omitempty"`
	SingleSignOn   bool          `json:"singleSignOn"` // created by single sign-on, which sets name, email and role
}

func wireUser(u auth.User) userRecord {
	status := active
	if u.Disabled {
		status = disabled
	}
	return userRecord{
		ID: u.ID, Name: u.Name, Email: u.Email, Role: u.Role, Status: status, ETag: userTag(u),
		CreatedTime: httpapi.Time{Time: u.CreatedAt}, LastUpdateTime: httpapi.Time{Time: u.UpdatedAt}, LastSeenTime: wireTime(u.LastSeenAt), SingleSignOn: u.Subject != "", LimitedTo: wireLimit(u.Accounts),
	}
}

func userTag(u auth.User) string { return strconv.FormatInt(u.Version, 10) }

func (a *API) listUsers(ctx context.Context, _ httpapi.None) (list[userRecord], error) {
	caller, err := callerOf(ctx)
	if err != nil {
		return list[userRecord]{}, err
	}
	all, err := a.Registry.Users(ctx, caller)
	return list[userRecord]{len(all), httpapi.Each(all, wireUser)}, err
}

// userEdit is the body of POST and PUT. A PUT without email, status or limit
// keeps them.
type userEdit struct {
	Name   string                   `json:"name" required:"true"`
	Email  httpapi.Optional[string] `json:"email"`
	Role   string                   `json:"role" required:"true" enum:"viewer,analyst,admin"`
	Status httpapi.Optional[string] `json:"status" enum:"active,disabled"`

	LimitedTo httpapi.Optional[limitedTo] `json:"limitedTo"`
}

// onto applies the edit to the old user.
func (e userEdit) onto(old auth.User) (auth.UserEdit, error) {
	role, err := auth.ParseRole(e.Role)
	if err != nil {
		return auth.UserEdit{}, err
	}
	if e.Status.Sent && e.Status.Null {
		return auth.UserEdit{}, fault.Field("status", "must not be null")
	}
	edit := auth.UserEdit{Name: e.Name, Email: e.Email.Or(old.Email), Role: role, Disabled: old.Disabled}
	if e.Status.Set() {
		edit.Disabled = e.Status.Value == disabled
	}
	edit.Accounts = old.Accounts
	if e.LimitedTo.Sent {
		edit.Accounts = auth.AccountLimit{}
	}
	if e.LimitedTo.Set() {
		if edit.Accounts, err = e.LimitedTo.Value.limit(); err != nil {
			return edit, err
		}
	}
	return edit, nil
}

func (a *API) createUser(ctx context.Context, in userEdit) (httpapi.Reply, error) {
	caller, err := callerOf(ctx)
	if err != nil {
		return httpapi.Reply{}, err
	}
	edit, err := in.onto(auth.User{})
	if err != nil {
		return httpapi.Reply{}, err
	}
	u, err := a.Registry.AddUser(ctx, caller, edit)
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Created("/v1/users/"+string(u.ID), userTag(u), wireUser(u)), nil
}

type userPath struct {
	ID    string        `path:"user_id"`
	Match httpapi.Match `header:"If-Match"`
}

func (a *API) getUser(ctx context.Context, in userPath) (httpapi.Reply, error) {
	caller, err := callerOf(ctx)
	if err != nil {
		return httpapi.Reply{}, err
	}
	u, err := a.Registry.User(ctx, caller, auth.UserID(in.ID))
	return httpapi.Tagged(userTag(u), wireUser(u)), err
}

// version returns the user and the version that the change requires: 0, for any,
// if the request has no If-Match; otherwise the current version, which If-Match
// must allow.
func (a *API) version(ctx context.Context, caller auth.Caller, in userPath) (auth.User, int64, error) {
	u, err := a.Registry.User(ctx, caller, auth.UserID(in.ID))
	if err == nil {
		err = in.Match.Check(userTag(u))
	}
	if !in.Match.Sent() {
		return u, 0, err
	}
	return u, u.Version, err
}

type putUserRequest struct {
	userPath
	userEdit
}

func (a *API) putUser(ctx context.Context, in putUserRequest) (httpapi.Reply, error) {
	caller, err := callerOf(ctx)
	if err != nil {
		return httpapi.Reply{}, err
	}
	old, version, err := a.version(ctx, caller, in.userPath)
	if err != nil {
		return httpapi.Reply{}, err
	}
	edit, err := in.onto(old)
	if err != nil {
		return httpapi.Reply{}, err
	}
	updated := old
	updated.Name, updated.Email, updated.Role, updated.Disabled, updated.Accounts = edit.Name, edit.Email, edit.Role, edit.Disabled, edit.Accounts
	httpapi.Note(ctx, NoteChanged, strings.Join(changes(old, updated), ","))
	u, err := a.Registry.ChangeUser(ctx, caller, old.ID, version, edit)
	if err != nil {
		return httpapi.Reply{}, err
	}
	return httpapi.Tagged(userTag(u), wireUser(u)), nil
}

// changes returns the names of the members in which two versions of a user
// differ.
func changes(a, b auth.User) []string {
	var names []string
	for name, differs := range map[string]bool{
		"name": a.Name != b.Name, "email": a.Email != b.Email, "role": a.Role != b.Role, "status": a.Disabled != b.Disabled,
		"limitedTo": a.Accounts != b.Accounts,
	} {
		if differs {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func (a *API) deleteUser(ctx context.Context, in userPath) (userRecord, error) {
	caller, err := callerOf(ctx)
	if err != nil {
		return userRecord{}, err
	}
	_, version, err := a.version(ctx, caller, in)
	if err != nil {
		return userRecord{}, err
	}
	u, err := a.Registry.RemoveUser(ctx, caller, auth.UserID(in.ID), version)
	return wireUser(u), err
}
