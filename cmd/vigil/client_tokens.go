package main

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"vigil/internal/client"
)

type tokensCmd struct {
	List   tokensListCmd   `cmd:"" default:"withargs" help:"List API tokens. The default of vigil tokens."`
	Create tokensCreateCmd `cmd:"" help:"Create an API token and print it. It cannot be shown again."`
	Revoke tokensRevokeCmd `cmd:"" help:"Revoke an API token."`
}

type tokensListCmd struct{ listFlags }

// Run implements the command.
func (c *tokensListCmd) Run(e *environment) error {
	return c.get(e, http.MethodGet, "/v1/api-tokens", "results", "ID=id NAME=name ROLE=role EXPIRES=expiryTime USED=lastUsedTime FROM=lastUsedAddress", nil)
}

type tokensCreateCmd struct {
	profileFlags
	tokenFlags
	Name string  `arg:"" help:"Name of the token."`
	User *string `completes:"users" placeholder:"USER" help:"Name, email address or id of the user that it belongs to. Default: you."`
}

// Run implements the command. It prints the token alone on standard output, so that a
// script can store it.
func (c *tokensCreateCmd) Run(e *environment) error {
	in := client.Record{"name": c.Name, "role": c.Role}
	if len(c.Scope) > 0 {
		in["scopes"] = c.Scope
	}
	if len(c.Address) > 0 {
		in["addresses"] = c.Address
	}
	expires, err := endAfter("--expires", c.Expires)
	if err != nil {
		return err
	}
	if !expires.IsZero() {
		in["expiryTime"] = expires.UTC().Format(time.RFC3339)
	}
	if err := c.addTo(in); err != nil {
		return err
	}
	to, err := c.client()
	if err != nil {
		return err
	}
	if c.User != nil {
		u, err := findUser(e, to, *c.User)
		if err != nil {
			return err
		}
		in["userId"] = u["id"]
	}
	var created client.Record
	if err := to.Call(e.ctx, http.MethodPost, "/v1/api-tokens", in, &created); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "token %s, valid until %s; it cannot be shown again\n", client.Text(created, "id"), client.Text(created, "expiryTime"))
	fmt.Fprintln(e.stdout, client.Text(created, "token"))
	return nil
}

type tokensRevokeCmd struct {
	profileFlags
	ID string `arg:"" completes:"tokens" help:"Id of the token; see vigil tokens."`
}

// Run implements the command.
func (c *tokensRevokeCmd) Run(e *environment) error {
	t, err := c.call(e, http.MethodDelete, "/v1/api-tokens/"+url.PathEscape(c.ID), nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "token %s is revoked\n", client.Text(t, "name"))
	return nil
}
