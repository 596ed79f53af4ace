package app

import (
	"context"
	"time"

	"vigil/internal/auth"
	"vigil/internal/auth/authapi"
	"vigil/internal/httpapi"
	"vigil/internal/secret"
	"vigil/web"
)

// consoleRoutes serve the console and its public configuration.
func (a *App) consoleRoutes() ([]httpapi.Route, error) {
	routes, err := web.Routes()
	return append(routes, web.ConfigRoute(a.consoleConfig)), err
}

func (a *App) consoleConfig() web.Config {
	other := ""
	if a.o.Desktop != nil {
		other = a.o.Desktop()
	}
	login := []string{"apiToken"}
	if a.o.Install.Config.Posture.SSO.Enabled() {
		login = append(login, "oidc")
	}
	return web.Config{
		Product: "posture", Version: a.o.Version, Demo: a.o.Demo, Warning: a.o.Warning,
		OtherServer: web.Other("desktop", other), Login: login,
	}
}

// ConsoleLink returns the path of a one-time link that logs the holder of an API token
// in to the console.
func (a *App) ConsoleLink(ctx context.Context, token secret.Text, lifetime time.Duration) (string, error) {
	gate := auth.NewAuthenticator(a.o.Install.Registry, a.keys, auth.AuthenticatorOptions{Audience: audience})
	s, err := gate.Authenticate(ctx, token, "")
	if err != nil {
		return "", err
	}
	ticket, err := a.sessions.Invite(ctx, authapi.Invitation(s), lifetime)
	return "/console/open?ticket=" + ticket, err
}
