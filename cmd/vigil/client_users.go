package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"vigil/internal/client"
	"vigil/internal/fault"
)

type usersCmd struct {
	List   usersListCmd   `cmd:"" default:"withargs" help:"List users. The default of vigil users."`
	Add    usersAddCmd    `cmd:"" help:"Add a user."`
	Set    usersSetCmd    `cmd:"" help:"Change the role, status or accounts of a user."`
	Delete usersDeleteCmd `cmd:"" help:"Delete a user, with its sessions and API tokens."`
}

type usersListCmd struct{ listFlags }

// Run implements the command.
func (c *usersListCmd) Run(e *environment) error {
	return c.get(e, http.MethodGet, "/v1/users", "results", "ID=id NAME=name EMAIL=email ROLE=role STATUS=status", nil)
}

// addTo adds the flags to a request as its member limitedTo, if any of them is given.
func (f accountLimitFlags) addTo(in client.Record) error {
	tags, err := f.tags()
	if len(f.Account)+len(tags) > 0 {
		in["limitedTo"] = client.Record{"cloudAccountIds": append([]string{}, f.Account...), "tags": tags}
	}
	return err
}

type usersAddCmd struct {
	profileFlags
	accountLimitFlags
	Name  string `arg:"" help:"Name of the user."`
	Email string `help:"Email address."`
	Role  string `enum:"viewer,analyst,admin" default:"viewer" help:"Role: viewer, analyst or admin."`
}

// Run implements the command.
func (c *usersAddCmd) Run(e *environment) error {
	in := client.Record{"name": c.Name, "role": c.Role}
	if c.Email != "" {
		in["email"] = c.Email
	}
	if err := c.addTo(in); err != nil {
		return err
	}
	u, err := c.call(e, http.MethodPost, "/v1/users", in)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "user %s has the id %s; \"vigil tokens create\" gives it an API token\n", c.Name, client.Text(u, "id"))
	return nil
}

type usersSetCmd struct {
	profileFlags
	accountLimitFlags
	User        string `arg:"" completes:"users" help:"Name, email address or id of the user."`
	Role        string `enum:"viewer,analyst,admin," default:"" help:"Role: viewer, analyst or admin."`
	Status      string `enum:"active,disabled," default:"" help:"active or disabled. A disabled user cannot log in, and its tokens are refused."`
	AllAccounts bool   `help:"Remove the limit to some cloud accounts."`
}

// Run implements the command. It fails if somebody else changes the user meanwhile.
func (c *usersSetCmd) Run(e *environment) error {
	in := client.Record{}
	if err := c.addTo(in); err != nil {
		return err
	}
	if c.AllAccounts {
		if len(in) > 0 {
			return fault.New(fault.Invalid, "--all-accounts cannot be used with --account or --account-tag")
		}
		in["limitedTo"] = nil
	}
	if c.Status != "" {
		in["status"] = c.Status
	}
	if c.Role == "" && len(in) == 0 {
		return fault.New(fault.Invalid, "nothing to change: give --role, --status, --account, --account-tag or --all-accounts")
	}
	to, err := c.client()
	if err != nil {
		return err
	}
	u, err := findUser(e, to, c.User)
	if err != nil {
		return err
	}
	in["name"], in["role"] = u["name"], u["role"]
	if c.Role != "" {
		in["role"] = c.Role
	}
	var changed client.Record
	if err := to.CallIfMatch(e.ctx, http.MethodPut, "/v1/users/"+url.PathEscape(client.Text(u, "id")), `"`+client.Text(u, "eTag")+`"`, in, &changed); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "user %s has the role %s and is %s\n", client.Text(changed, "name"), client.Text(changed, "role"), client.Text(changed, "status"))
	return nil
}

type usersDeleteCmd struct {
	profileFlags
	User string `arg:"" completes:"users" help:"Name, email address or id of the user."`
}

// Run implements the command.
func (c *usersDeleteCmd) Run(e *environment) error {
	to, err := c.client()
	if err != nil {
		return err
	}
	u, err := findUser(e, to, c.User)
	if err != nil {
		return err
	}
	if err := to.Call(e.ctx, http.MethodDelete, "/v1/users/"+url.PathEscape(client.Text(u, "id")), nil, nil); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "user %s is deleted\n", client.Text(u, "name"))
	return nil
}

// findUser returns the user with an id, name or email address. The empty text is refused: it would match every user without an
// email address.
func findUser(e *environment, to *client.Client, user string) (client.Record, error) {
	if user == "" {
		return nil, fault.New(fault.Invalid, "the user is empty: give a name, email address or id; see vigil users")
	}
	var users client.Record
	if err := to.Call(e.ctx, http.MethodGet, "/v1/users", nil, &users); err != nil {
		return nil, err
	}
	var found []client.Record
	for _, u := range client.Records(users, "results") {
		if client.Text(u, "id") == user {
			return u, nil
		}
		if strings.EqualFold(client.Text(u, "name"), user) || strings.EqualFold(client.Text(u, "email"), user) {
			found = append(found, u)
		}
	}
	switch len(found) {
	case 0:
		return nil, fault.New(fault.NotFound, "there is no user %q; see vigil users", user)
	case 1:
		return found[0], nil
	}
	return nil, fault.New(fault.Invalid, "%d users are called %q; give the id, see vigil users", len(found), user)
}
