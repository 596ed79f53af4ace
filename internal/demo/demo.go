// Package demo runs both servers in a temporary folder, with simulated clouds
// and a simulated desktop environment, so that one command demonstrates Vigil.
package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"vigil/internal/atomicfile"
	"vigil/internal/auth"
	"vigil/internal/config"
	"vigil/internal/fault"
	"vigil/internal/instance"
	"vigil/internal/posture/app"
	"vigil/internal/secret"
	"vigil/internal/sim/estate"
	"vigil/internal/telemetry"
)

// Options configure the demo.
type Options struct {
	ReadyFile     string // written when everything runs; none when empty
	EnvFile       string // shell variables for the command line, written when everything runs; none when empty
	Database      string // a temporary SQLite file when empty
	Listen        string // address of the posture server
	DesktopListen string
	Out           io.Writer // for the addresses and login data
	Log           *slog.Logger
	Version       string
}

// Ready is the content of the ready file.
type Ready struct {
	ConsoleURL       string     `json:"console_url"` // one-time link that opens the console logged in
	PostureURL       string     `json:"posture_url"`
	AuthURL          string     `json:"auth_url"`
	EventsURL        string     `json:"events_url"`
	DesktopURL       string     `json:"desktop_url"`
	SSOURL           string     `json:"sso_url"` // of the simulated identity provider
	APIToken         string     `json:"api_token"`
	ViewerAPIToken   string     `json:"viewer_api_token"`
	OtherOrgAPIToken string     `json:"other_org_api_token"`
	DesktopDomain    string     `json:"desktop_domain"`
	DesktopUsername  string     `json:"desktop_username"`
	DesktopPassword  string     `json:"desktop_password"`
	Sim              *simulated `json:"sim,omitempty"`
}

// Run runs the demo until ctx is done.
func Run(ctx context.Context, o Options) (err error) {
	fmt.Fprintln(o.Out, "Starting two servers, three simulated clouds and simulated desktops, and collecting the first accounts ...")
	dir, err := os.MkdirTemp("", "vigil-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	desktops, err := estate.New(estate.Options{Dir: filepath.Join(dir, "estate"), ThisMachine: true, Events: estate.DemoEvents, Log: o.Log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, desktops.Stop()) }()
	provider, err := newIdentityProvider(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, provider.stop()) }()
	in, err := instance.OpenOrInit(ctx, settings(dir, desktops.InventoryFile(), provider.settings, o), time.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	world, err := newWorld(o.Log, telemetry.NewRegistry(telemetry.ThisBuild(o.Version)), nil)
	if err != nil {
		return err
	}
	defer world.close()
	return run(ctx, o, in, world, desktops, provider)
}

// run assembles both servers and serves until ctx is done or one of them fails.
func run(ctx context.Context, o Options, in *instance.Installation, w *world, desktops *estate.Estate, provider *identityProvider) error {
	var postureURL, desktopURL atomic.Value // set when the servers listen
	postureURL.Store("")
	desktopURL.Store("")
	var (
		posture *app.App
		desktop *desktopDemo
		start   errgroup.Group
	)
	start.Go(func() (err error) {
		posture, err = app.New(ctx, app.Options{
			Install: in, Warning: "demo: the clouds are simulated", Cloud: w.clouds, Sources: w.clouds.Sources(), Client: w.clouds.Client(), Log: o.Log,
			Metrics: w.metrics, Now: time.Now, Version: o.Version, Demo: true, Desktop: func() string { return desktopURL.Load().(string) },
		})
		if err != nil {
			return err
		}
		url, err := posture.Listen(ctx)
		if err != nil {
			return err
		}
		provider.redirect.Store(&url)
		postureURL.Store(url)
		return nil
	})
	start.Go(func() (err error) {
		desktop, err = newDesktop(ctx, in, desktops, func() string { return postureURL.Load().(string) }, o)
		if err != nil {
			return err
		}
		desktopURL.Store(desktop.url)
		return nil
	})
	if err := start.Wait(); err != nil {
		return err
	}
	url := postureURL.Load().(string)
	ready := Ready{
		PostureURL: url, AuthURL: url, EventsURL: url, DesktopURL: desktop.url, SSOURL: provider.settings.Issuer, Sim: &w.sim,
		DesktopDomain: desktops.Admin.Domain, DesktopUsername: desktops.Admin.Username, DesktopPassword: desktops.Admin.Password,
	}
	org, err := addTokens(ctx, in.Registry, &ready)
	if err != nil {
		return err
	}
	if err := provider.mapTo(org, w.firstAccount()); err != nil {
		return err
	}
	var servers errgroup.Group
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	serve := func(f func(context.Context) error) {
		servers.Go(func() error {
			defer stop() // when one server fails, stop the other
			return f(ctx)
		})
	}
	serve(posture.Serve)
	serve(desktop.app.Serve)
	// Machines enrol while the accounts are collected.
	var joined sync.WaitGroup
	joined.Go(func() { desktop.join(ctx, o.Log) })
	err = w.onboard(ctx, posture, org)
	if err == nil {
		servers.Go(func() error {
			generateHistory(ctx, in.DB, org, len(w.sets), o.Log)
			return nil
		})
		err = w.stream(ctx, url, ready.APIToken)
	}
	joined.Wait()
	if err == nil {
		var link string
		link, err = posture.ConsoleLink(ctx, secret.NewText(ready.APIToken), 24*time.Hour)
		ready.ConsoleURL = url + link
	}
	if err == nil {
		err = announce(o, ready, desktops.ControlURL())
	}
	if err != nil {
		stop()
	}
	return errors.Join(err, servers.Wait())
}

// settings returns the configuration of an installation in its own folder.
func settings(dir, inventory string, sso config.SSO, o Options) config.Config {
	c := config.Config{DataDir: filepath.Join(dir, "data"), Database: o.Database}
	c.Posture = config.Posture{Enabled: true, Workers: 8, Rate: 2000, Timeout: 30 * time.Second}
	c.Posture.Listen, c.Posture.PlainHTTP = o.Listen, true
	c.Posture.NotifyPrivate = true // so that notifications can be tried with a receiver on this machine
	c.Posture.SSO = sso
	c.Desktop = config.Desktop{Enabled: true, Inventory: inventory}
	c.Desktop.Listen = o.DesktopListen
	c.Complete()
	return c
}

// createOrg creates an organisation. If an earlier demo has left one of that name in the
// database, the time is appended to the name of the new one.
func createOrg(ctx context.Context, r *auth.Registry, name string) (auth.Org, auth.User, error) {
	org, admin, err := r.CreateOrg(ctx, name, "admin")
	if fault.Is(err, fault.Conflict) {
		return r.CreateOrg(ctx, name+" "+time.Now().UTC().Format("2006-01-02 15:04:05.000"), "admin")
	}
	return org, admin, err
}

// addTokens creates the demo organisation, a second one, and tokens for both.
// It returns the id of the demo organisation.
func addTokens(ctx context.Context, r *auth.Registry, ready *Ready) (auth.OrgID, error) {
	org, admin, err := createOrg(ctx, r, "Demo")
	if err != nil {
		return "", err
	}
	other, otherAdmin, err := createOrg(ctx, r, "Other")
	if err != nil {
		return "", err
	}
	for _, t := range []struct {
		target *string
		org    auth.OrgID
		user   auth.UserID
		role   auth.Role
	}{
		{&ready.APIToken, org.ID, admin.ID, auth.Admin},
		{&ready.ViewerAPIToken, org.ID, admin.ID, auth.Viewer},
		{&ready.OtherOrgAPIToken, other.ID, otherAdmin.ID, auth.Admin},
	} {
		_, text, err := r.IssueToken(ctx, auth.Operator(t.org), auth.TokenEdit{Name: "demo " + t.role.String(), User: t.user, Role: t.role})
		if err != nil {
			return "", err
		}
		*t.target = text.Reveal()
	}
	return org.ID, nil
}

// announce prints the addresses and login data, and writes the ready file.
func announce(o Options, r Ready, incidents string) error {
	fmt.Fprintf(o.Out, `Vigil runs in a temporary folder, with simulated clouds and desktops. Ctrl-C ends it and removes everything.

  console       %s
                (this link logs you in, once; later log in with the admin's token, or by
                single sign-on at a simulated identity provider)

  posture API   %s   (try it at %s/docs/api)
  admin         %s
  viewer        %s

  desktop API   %s   (try it at %s/docs/api)
  log in as     %s\%s with the password %s

Get an access token for the admin of the posture server:

  curl -s %s/csp/gateway/am/api/auth/api-tokens/authorize -d refresh_token=%s

List the faults of the desktops, inject one, and remove it:

  curl -s %s/incidents
  curl -X POST %s/incidents/NAME
  curl -X DELETE %s/incidents/NAME
`, r.ConsoleURL, r.PostureURL, r.PostureURL, r.APIToken, r.ViewerAPIToken, r.DesktopURL, r.DesktopURL, r.DesktopDomain, r.DesktopUsername, r.DesktopPassword, r.AuthURL, r.APIToken, incidents, incidents, incidents)
	if o.EnvFile != "" {
		text := fmt.Sprintf("export VIGIL_URL=%s VIGIL_TOKEN=%s\n", r.PostureURL, r.APIToken)
		if err := atomicfile.WriteBytes(o.EnvFile, 0o600, []byte(text)); err != nil {
			return err
		}
	}
	if o.ReadyFile == "" {
		return nil
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	// Write atomically, so that a waiting program does not read a partial file.
	return atomicfile.WriteBytes(o.ReadyFile, 0o600, append(text, '\n'))
}
