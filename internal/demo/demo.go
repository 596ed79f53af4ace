// Package demo runs everything on a temporary folder, with simulated clouds
// beside it, so that one command shows what Vigil does.
package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"vigil/internal/auth"
	"vigil/internal/config"
	"vigil/internal/install"
	"vigil/internal/posture/app"
	"vigil/internal/telemetry"
)

// Options say how the demo runs.
type Options struct {
	ReadyFile string // written once everything runs; none when empty
	Database  string // a temporary SQLite file when empty
	Listen    string
	Out       io.Writer // where to look and how to log in
	Log       *slog.Logger
	Version   string
}

// Ready is what the ready file says. Keys of parts that do not run are left out.
type Ready struct {
	PostureURL       string     `json:"posture_url"`
	AuthURL          string     `json:"auth_url"`
	APIToken         string     `json:"api_token"`
	ViewerAPIToken   string     `json:"viewer_api_token"`
	OtherOrgAPIToken string     `json:"other_org_api_token"`
	Sim              *simulated `json:"sim,omitempty"`
}

// Run runs the demo until ctx ends.
func Run(ctx context.Context, o Options) (err error) {
	dir, err := os.MkdirTemp("", "vigil-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	conf := config.Config{DataDir: dir, Database: o.Database}
	conf.Posture = config.Posture{Enabled: true, Workers: 8, Rate: 2000, Timeout: 30 * time.Second}
	conf.Posture.Listen, conf.Posture.PlainHTTP = o.Listen, true
	conf.Complete()
	if err := conf.Validate(); err != nil {
		return err
	}
	in, err := install.Open(ctx, conf, time.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()

	world, err := newWorld()
	if err != nil {
		return err
	}
	server, err := app.New(ctx, app.Options{
		Install: in, Cloud: world.cloud, Log: o.Log, Metrics: telemetry.NewRegistry(telemetry.ThisBuild(o.Version)), Now: time.Now,
	})
	if err != nil {
		return err
	}
	url, err := server.Listen(ctx)
	if err != nil {
		return err
	}
	ready := Ready{PostureURL: url, AuthURL: url, Sim: &world.sim}
	if err := addTokens(ctx, in.Registry, &ready); err != nil {
		return err
	}
	if err := announce(o, ready); err != nil {
		return err
	}
	return server.Serve(ctx)
}

// addTokens makes the demo organisation, a second one, and tokens for both.
func addTokens(ctx context.Context, r *auth.Registry, ready *Ready) error {
	org, admin, err := r.CreateOrg(ctx, "demo "+time.Now().UTC().Format("2006-01-02 15:04:05.000"), "admin")
	if err != nil {
		return err
	}
	other, otherAdmin, err := r.CreateOrg(ctx, "other "+time.Now().UTC().Format("2006-01-02 15:04:05.000"), "admin")
	if err != nil {
		return err
	}
	for _, t := range []struct {
		into *string
		org  auth.OrgID
		user auth.UserID
		role auth.Role
	}{
		{&ready.APIToken, org.ID, admin.ID, auth.Admin},
		{&ready.ViewerAPIToken, org.ID, admin.ID, auth.Viewer},
		{&ready.OtherOrgAPIToken, other.ID, otherAdmin.ID, auth.Admin},
	} {
		_, text, err := r.IssueToken(ctx, auth.Operator(t.org), auth.TokenEdit{Name: "demo " + t.role.String(), User: t.user, Role: t.role})
		if err != nil {
			return err
		}
		*t.into = text.Reveal()
	}
	return nil
}

// announce says where to look, to people and to the ready file.
func announce(o Options, r Ready) error {
	fmt.Fprintf(o.Out, `Vigil runs on a temporary folder. Ctrl-C ends it and removes everything.

  API         %s   (try it at %s/docs/api)
  admin       %s
  viewer      %s

An access token for the admin:

  curl -s %s/csp/gateway/am/api/auth/api-tokens/authorize -d refresh_token=%s
`, r.PostureURL, r.PostureURL, r.APIToken, r.ViewerAPIToken, r.AuthURL, r.APIToken)
	if o.ReadyFile == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	// Whoever waits for the file must not read half of it.
	part := o.ReadyFile + ".part"
	if err := os.WriteFile(part, append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(part, o.ReadyFile)
}
