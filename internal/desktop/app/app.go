// Package app assembles the desktop server and runs it.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/apidoc"
	"vigil/internal/audit"
	"vigil/internal/audit/auditapi"
	"vigil/internal/auth"
	"vigil/internal/auth/websession"
	"vigil/internal/desktop"
	"vigil/internal/desktop/alert"
	"vigil/internal/desktop/api"
	"vigil/internal/desktop/directory"
	"vigil/internal/desktop/heartbeat"
	"vigil/internal/desktop/inventory"
	"vigil/internal/desktop/meter"
	"vigil/internal/desktop/probe"
	"vigil/internal/desktop/probe/eventdb"
	"vigil/internal/desktop/session"
	"vigil/internal/desktop/store"
	"vigil/internal/docsite"
	"vigil/internal/httpapi"
	"vigil/internal/idempotency"
	"vigil/internal/instance"
	"vigil/internal/secret"
	"vigil/internal/telemetry/tracing"
	"vigil/web"
)

// Options configure a desktop server.
type Options struct {
	Install *instance.Installation
	Log     *slog.Logger
	Metrics *prometheus.Registry
	Tracer  *tracing.Tracer // records traces; may be nil
	Now     func() time.Time
	Version string
	Build   string
	Warning string // shown by /healthz and in the console, such as that the monitored components are simulated

	// Reload triggers a reload of the inventory, as on SIGHUP. It may be nil.
	Reload <-chan os.Signal

	// Posture returns the address of the posture server, empty if there is none. It
	// may be nil.
	Posture func() string

	// Incidents injects faults into a simulated environment; nil otherwise.
	Incidents api.IncidentSwitches

	// Prepare is called with the server's URL once it is known, before the
	// inventory is read. The demo uses it to write the inventory and a simulated
	// history. It may be nil.
	Prepare func(url string) error

	Settings
}

// Settings are optional settings. The zero value means the defaults.
type Settings struct {
	AccessLife  time.Duration // lifetime of access tokens; 30 minutes
	RefreshLife time.Duration // lifetime of sessions; 8 hours
	Throttle    session.ThrottleOptions
	HistoryKept time.Duration // how long changes of statuses are kept; 90 days
	Probe       probe.Options // intervals and timeouts of probes; Observe and Now are set by New
	WatchEvery  time.Duration // how often to check the inventory file for changes; 5 s
	Tick        time.Duration // how often to derive statuses that change with time; 2 s
	SampleEvery time.Duration // how often to sample measures; 30 s
	AlertEvery  time.Duration // how often to evaluate alert rules, in addition to every change of a status; 15 s
	Webhook     alert.WebhookOptions
	Mail        alert.MailOptions
}

// App is a desktop server.
type App struct {
	o       Options
	store   *store.Store
	keys    *auth.Keys
	secrets inventory.Secrets

	board         *desktop.Board
	directory     *directory.Client
	heartbeats    *heartbeat.Service
	authenticator *session.Authenticator
	browsers      *websession.Sessions
	alerts        *alert.Engine
	probes        *probe.Scheduler
	targets       probe.TargetFactory
	watcher       *inventory.Watcher
	events        *eventdb.Log
	eventDB       *eventdb.Database // receives the events; nil without an event database
	eventDBSpec   desktop.EventDatabase
	stopping      atomic.Bool
	history       *historyWriter
	sampler       *meter.Sampler
	handler       *httpapi.Mux
	server        *httpapi.Server
	metrics       metrics
}

// New assembles a server. It starts nothing before Listen and Serve.
func New(ctx context.Context, o Options) (*App, error) {
	in := o.Install
	if err := store.Migrate(ctx, in.DB); err != nil {
		return nil, fmt.Errorf("migrate the tables: %w", err)
	}
	o.Settings.complete()
	a := &App{o: o, store: store.New(in.DB, in.Box, o.Now), board: desktop.NewBoard(o.Now), events: eventdb.NewLog()}
	a.secrets = inventory.Secrets{Vault: a.store}
	a.directory = directory.New(directory.Options{Secrets: a.secrets, Now: o.Now})
	a.keys = auth.NewKeys(in.Auth, in.Box, auth.KeyOptions{
		Realm: "desktop", Issuer: in.Config.Desktop.PublicURL, MaxLife: max(o.AccessLife, o.RefreshLife), Now: o.Now,
	})
	if err := a.keys.Maintain(ctx); err != nil {
		return nil, err
	}
	a.heartbeats = heartbeat.New(heartbeat.Options{
		Store: a.store, Component: a.component, Observe: a.reportBeat, Now: o.Now, Log: o.Log,
		Policy: func() desktop.Policy { return a.board.Inventory().Policy },
	})
	if err := a.heartbeats.Open(ctx); err != nil {
		return nil, err
	}
	a.newListeners()
	a.newProbes()
	if err := a.metrics.register(o.Metrics, a.board); err != nil {
		return nil, err
	}
	a.authenticator = session.NewAuthenticator(session.Options{
		Store: a.store, Keys: a.keys, Directory: loginDirectory{a.directory, a.board},
		AccessLife: o.AccessLife, RefreshLife: o.RefreshLife, KeyLife: in.Config.TokenLife, Throttle: o.Throttle, Now: o.Now, Log: o.Log, Report: a.reportLogin,
	})
	// Browsers use HTTPS also with a server on plain HTTP if its public address is https: then a proxy terminates TLS.
	https := !in.Config.Desktop.PlainHTTP || strings.HasPrefix(in.Config.Desktop.PublicURL, "https:")
	a.browsers = websession.New(in.DB, websession.Options{Realm: "desktop", Secure: https, Now: o.Now})
	var err error
	a.server, err = a.newServer()
	return a, err
}

func (s *Settings) complete() {
	orDefault(&s.AccessLife, 30*time.Minute)
	orDefault(&s.RefreshLife, 8*time.Hour)
	orDefault(&s.HistoryKept, 90*24*time.Hour)
	orDefault(&s.Tick, 2*time.Second)
}

func orDefault(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

// newListeners creates the listeners of the board: history, alerts, events.
func (a *App) newListeners() {
	a.history = newHistoryWriter(a.store, a.o.Log)
	a.sampler = &meter.Sampler{Board: a.board, Store: a.store, Every: a.o.SampleEvery, Now: a.o.Now, Log: a.o.Log}
	a.alerts = alert.NewEngine(alert.Options{
		Store: a.store, Board: a.board, Send: alert.NewChannels(a.o.Webhook, a.o.Mail),
		Every: a.o.AlertEvery, Now: a.o.Now, Log: a.o.Log, Kept: a.o.HistoryKept,
	})
	a.board.Listen(func(changes []desktop.Change) {
		a.history.add(changes)
		a.alerts.Wake()
		a.events.Record(statusEvents(changes, a.name())...)
	})
	a.events.Failed = func(err error, dropped int) {
		a.o.Log.Warn("write to the event database", "error", err, "lost", dropped)
	}
}

// newProbes creates the probes, and the watcher of the inventory that configures
// them.
func (a *App) newProbes() {
	options := a.o.Probe
	options.Now, options.Observe = a.o.Now, a.observe
	a.probes = probe.New(options)
	a.targets = probe.TargetFactory{
		Directory: a.directory, Secrets: a.secrets, Now: a.o.Now, Self: a.health,
		EventDatabase: a.eventDatabase, VirtualCenter: a.virtualCenter,
	}
	a.watcher = &inventory.Watcher{
		Path: a.o.Install.Config.Desktop.Inventory, Every: a.o.WatchEvery, Apply: a.apply,
		Reject: a.rejectInventory,
	}
}

// apiDocument is the document of the API. It is parsed once per process, because tests
// build many servers.
var apiDocument = sync.OnceValues(func() (*apidoc.Document, error) { return apidoc.Parse(api.Document) })

// newServer creates the HTTP server with all routes.
func (a *App) newServer() (*httpapi.Server, error) {
	in, conf := a.o.Install, a.o.Install.Config.Desktop
	health := &httpapi.Health{Warning: a.o.Warning}
	health.Add("database", in.DB.Check)
	health.AddNotice("disk", in.Space.Notice)
	health.AddNotice("audit", in.Witnesses.Notice)
	if err := errors.Join(a.o.Metrics.Register(in.Space.Collector()), a.o.Metrics.Register(in.Witnesses.Collector())); err != nil {
		return nil, err
	}
	served := a.newAPI()
	parsed, err := apiDocument()
	if err != nil {
		return nil, err
	}
	document, err := parsed.Routes(a.o.Warning)
	if err != nil {
		return nil, err
	}
	pages, err := docsite.Routes()
	if err != nil {
		return nil, err
	}
	console, err := web.Routes()
	if err != nil {
		return nil, err
	}
	console = append(console, web.ConfigRoute(a.consoleConfig))
	routes := slices.Concat(served.Routes(), console, document, pages, httpapi.HealthRoutes(health),
		[]httpapi.Route{httpapi.MetricsRoute(a.o.Metrics, string(session.Monitor))})
	metrics, err := httpapi.NewMetrics(a.o.Metrics, "desktop")
	if err != nil {
		return nil, err
	}
	proxies, err := conf.Proxies()
	if err != nil {
		return nil, err
	}
	a.handler, err = httpapi.NewMux(routes, httpapi.Options{
		Guard: served.Guard, Audit: recorder(in.Audit), Errors: httpapi.DesktopError,
		Log: a.o.Log, Metrics: metrics, Tracer: a.o.Tracer, Now: a.o.Now, Rates: api.Rates(), Proxies: proxies, Idempotency: idempotency.New(in.DB, "desktop", a.o.Now),
		Space: func() httpapi.Space { return httpapi.Space(in.Space.Level()) },
	})
	if err != nil {
		return nil, err
	}
	options := httpapi.ServerOptions{
		Address: conf.Listen, Handler: a.handler, Log: a.o.Log, Health: health, AllowPlain: conf.InsecureHTTP,
		ClientCAs: a.heartbeats.ClientCAs(), Proxies: proxies, Drain: conf.Drain,
	}
	switch {
	case conf.PlainHTTP:
	case conf.TLSCert != "":
		options.TLS, err = httpapi.LoadCertificate(conf.TLSCert, conf.TLSKey, a.o.Log, a.o.Now)
	default:
		options.TLS, err = httpapi.OwnCertificate(filepath.Join(in.Config.DataDir, "tls"), a.o.Log, a.o.Now)
	}
	if err != nil {
		return nil, err
	}
	return httpapi.NewServer(options)
}

// recorder returns an auditor that writes records with the scope of the desktop
// server, which distinguishes them from records of organisations.
func recorder(l *audit.Log) httpapi.Auditor { return scoped{auditapi.Recorder(l)} }

type scoped struct{ recorder httpapi.Auditor }

// Attach implements [httpapi.Auditor].
func (s scoped) Attach(ctx context.Context, p httpapi.Pending) context.Context {
	event := p.Event
	p.Event = func() (httpapi.Event, bool) {
		e, hasEvent := event()
		e.Caller.Org = api.AuditScope
		return e, hasEvent
	}
	return s.recorder.Attach(ctx, p)
}

// Append implements [httpapi.Auditor].
func (s scoped) Append(ctx context.Context, e httpapi.Event) error {
	e.Caller.Org = api.AuditScope
	return s.recorder.Append(ctx, e)
}

// consoleConfig returns the settings that the console needs before a login.
func (a *App) consoleConfig() web.Config {
	other := ""
	if a.o.Posture != nil {
		other = a.o.Posture()
	}
	return web.Config{
		Product: "desktop", Version: a.o.Version, Demo: a.o.Incidents != nil, Warning: a.o.Warning,
		OtherServer: web.Other("posture", other), Login: []string{"password"},
	}
}

func (a *App) newAPI() *api.API {
	var incidents api.IncidentSwitches
	if a.o.Incidents != nil {
		incidents = watchedIncidents{a.o.Incidents, a.probes}
	}
	return api.New(api.Options{
		Incidents: incidents, Browsers: a.browsers, Audit: a.o.Install.Audit.Page,
		Board: a.board, Authenticator: a.authenticator, Accounts: a.store, History: a.store, Samples: a.store, Heartbeats: a.heartbeats,
		Rules: a.store, Alerts: a.alerts, Now: a.o.Now, Health: a.health, Revision: a.store.Revision,
		SealPassword: func(ctx context.Context, id desktop.ID, password secret.Text) ([]byte, error) {
			return a.o.Install.Box.Seal(ctx, store.AccountCell(id), []byte(password.Reveal()))
		},
		TryAccount: a.tryAccount,
		PeerToken:  a.peerToken,
	})
}

// watchedIncidents triggers all probes when an incident begins or ends, so that
// its effect shows at once.
type watchedIncidents struct {
	api.IncidentSwitches
	probes *probe.Scheduler
}

// Begin implements [api.IncidentSwitches].
func (i watchedIncidents) Begin(name string) error {
	defer i.probes.ProbeAll()
	return i.IncidentSwitches.Begin(name)
}

// End implements [api.IncidentSwitches].
func (i watchedIncidents) End(name string) error {
	defer i.probes.ProbeAll()
	return i.IncidentSwitches.End(name)
}

// component returns the component that an agent reports for.
func (a *App) component(agent heartbeat.Agent) (desktop.Ref, bool) {
	r, _, ok := a.board.Record(agent.Kind, agent.ID)
	if !ok {
		return desktop.Ref{}, false
	}
	return r.Ref(), true
}

// EnrolmentToken creates a token with which the machine of a component may
// enrol.
func (a *App) EnrolmentToken(ctx context.Context, agent heartbeat.Agent) (string, error) {
	_, text, err := a.heartbeats.NewToken(ctx, "command line", agent, 0) // 0: the default lifetime
	return text, err
}

// Store returns the server's store.
func (a *App) Store() *store.Store { return a.store }

// Handler returns the server's HTTP handler.
func (a *App) Handler() http.Handler { return a.handler }

// Board returns the server's monitoring state.
func (a *App) Board() *desktop.Board { return a.board }
