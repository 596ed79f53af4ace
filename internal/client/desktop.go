package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"vigil/internal/fault"
)

// Credentials are those of a user in the directory of a desktop server.
type Credentials struct{ Domain, User, Password string }

// desktopAccessLife is how long an access token of a desktop server is used.
// The server does not return its lifetime, which is 30 minutes by default. A
// token that expired earlier is renewed when the server refuses it.
const desktopAccessLife = 25 * time.Minute

// LoginDesktop opens a session at a desktop server. The password is not stored.
func (c *Client) LoginDesktop(ctx context.Context, credentials Credentials) error {
	var got struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	in := Record{"domain": credentials.Domain, "username": credentials.User, "password": credentials.Password}
	if err := c.callPublic(ctx, "/rest/login", in, &got); err != nil {
		return err
	}
	if got.Access == "" || got.Refresh == "" {
		return fault.New(fault.Invalid, "%s is not a desktop server of Vigil", c.profile.URL)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.profile.Token = got.Refresh
	return c.keep(got.Access, desktopAccessLife)
}

// LogoutDesktop ends the profile's session at a desktop server.
func (c *Client) LogoutDesktop(ctx context.Context) error {
	return c.callPublic(ctx, "/rest/logout", Record{"refresh_token": c.profile.Token}, nil)
}

// refreshDesktop requests a new access token of the session. The caller holds mu. The
// server refuses a refresh token of an ended session with the status 400 (fault.Invalid).
func (c *Client) refreshDesktop(ctx context.Context) error {
	var got struct {
		Access string `json:"access_token"`
	}
	err := c.callPublic(ctx, "/rest/refresh", Record{"refresh_token": c.profile.Token}, &got)
	if fault.Is(err, fault.Invalid) || err == nil && got.Access == "" {
		return fault.New(fault.Unauthenticated, "the session at %s has ended; run vigil desktop login", c.profile.URL)
	}
	if err != nil {
		return err
	}
	return c.keep(got.Access, desktopAccessLife)
}

// callPublic is [Client.Public] for the login operations of desktop servers: if the
// operation does not exist, the error says that this is no desktop server.
func (c *Client) callPublic(ctx context.Context, path string, in Record, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	answer, err := c.request(ctx, http.MethodPost, path, "", body, "")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusNotFound, answer.StatusCode == http.StatusMethodNotAllowed:
		return fault.New(fault.Unavailable, "%s is not a desktop server of Vigil", c.profile.URL)
	case answer.StatusCode/100 != 2:
		return problem(answer)
	}
	if out == nil {
		return nil
	}
	return decodeLogin(answer, c.profile.URL, "desktop", out)
}
