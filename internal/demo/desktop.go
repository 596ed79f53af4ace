package demo

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/alert"
	"vigil/internal/desktop/app"
	"vigil/internal/desktop/heartbeat"
	"vigil/internal/desktop/store"
	"vigil/internal/instance"
	"vigil/internal/sim/estate"
	"vigil/internal/telemetry"
)

// desktopDemo is the desktop server with a simulated environment.
type desktopDemo struct {
	estate *estate.Estate
	app    *app.App
	url    string
}

// newDesktop starts the simulated environment and binds the server's address. posture returns
// the URL of the posture server.
func newDesktop(ctx context.Context, in *instance.Installation, e *estate.Estate, posture func() string, o Options) (*desktopDemo, error) {
	if err := e.Start(ctx); err != nil {
		return nil, err
	}
	d := &desktopDemo{estate: e}
	var err error
	d.app, err = app.New(ctx, app.Options{
		Install: in, Warning: "demo: the desktops are simulated", Log: o.Log, Metrics: telemetry.NewRegistry(telemetry.ThisBuild(o.Version)), Now: time.Now, Version: o.Version, Build: "demo",
		Incidents: e, Posture: posture,
		// The server calls Prepare when it binds its address, after New has returned.
		Prepare: func(url string) error {
			inv, err := e.WriteInventory(url)
			if err != nil {
				return err
			}
			return storeHistory(ctx, d.app.Store(), estate.GenerateHistory(inv, time.Now(), e.ControlURL()+"/notices"))
		},
		// The alert rules of the demo post to the simulation on this machine.
		Settings: app.Settings{Webhook: alert.WebhookOptions{AllowPlain: true, AllowLoopback: true}},
	})
	if err != nil {
		return d, err
	}
	d.url, err = d.app.Listen(ctx)
	return d, err
}

// storeHistory stores a simulated history, unless the store has one.
func storeHistory(ctx context.Context, st *store.Store, p estate.History) error {
	if _, err := st.Rule(ctx, p.Rules[0].ID); err == nil {
		return nil
	}
	groups := desktop.Grouper{NewID: store.ChangeID}
	groups.Group(p.Changes)
	errs := []error{st.AppendChanges(ctx, p.Changes)}
	versions := make(map[string]int64)
	for _, r := range p.Rules {
		versions[r.ID] = r.Version
		errs = append(errs, st.AddRule(ctx, r))
	}
	var alerts []alert.Transition
	for _, a := range p.Alerts {
		alerts = append(alerts, alert.Transition{RuleVersion: versions[a.RuleID], Alert: a})
	}
	return errors.Join(append(errs, st.Apply(ctx, alerts),
		st.AddSamples(ctx, desktop.FineStep, p.Fine), st.AddSamples(ctx, desktop.CoarseStep, p.Coarse))...)
}

// join makes gateways and RDS servers enrol and report, after the server
// answers.
func (d *desktopDemo) join(ctx context.Context, log *slog.Logger) {
	trust, err := thumbprint(ctx, d.url)
	if err == nil {
		err = d.estate.Join(ctx, d.url, trust, d.app.EnrolmentToken)
	}
	if err != nil && ctx.Err() == nil {
		log.ErrorContext(ctx, "simulated machines could not enrol", "error", err)
	}
}

// thumbprint connects to the server and returns the thumbprint of its self-signed certificate,
// so that clients can trust it. The connection is not verified: the server is on this machine.
func thumbprint(ctx context.Context, address string) (heartbeat.ServerTrust, error) {
	u, err := url.Parse(address)
	if err != nil {
		return heartbeat.ServerTrust{}, err
	}
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // only the thumbprint is read
	conn, err := dialer.DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return heartbeat.ServerTrust{}, err
	}
	defer conn.Close()
	sum := sha256.Sum256(conn.(*tls.Conn).ConnectionState().PeerCertificates[0].Raw)
	return heartbeat.ServerTrust{Thumbprint: hex.EncodeToString(sum[:])}, nil
}
