// Package app assembles the posture server and runs it.
//
// [New] builds a server from [Options]: stores, job queue, collectors, evaluation,
// notifications and routes. [App.Listen] opens its port, and [App.Serve] handles
// requests and jobs until its context ends.
package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"vigil/frameworks"
	"vigil/internal/apidoc"
	"vigil/internal/audit/auditapi"
	"vigil/internal/auth"
	"vigil/internal/auth/authapi"
	"vigil/internal/auth/websession"
	"vigil/internal/config"
	"vigil/internal/cursor"
	"vigil/internal/docsite"
	"vigil/internal/httpapi"
	"vigil/internal/idempotency"
	"vigil/internal/instance"
	"vigil/internal/job"
	"vigil/internal/posture"
	"vigil/internal/posture/api"
	"vigil/internal/posture/catalog"
	"vigil/internal/posture/collect"
	"vigil/internal/posture/collect/declared"
	"vigil/internal/posture/graphcache"
	"vigil/internal/posture/judge"
	"vigil/internal/posture/limit"
	"vigil/internal/posture/notify/channel"
	"vigil/internal/posture/onboard"
	"vigil/internal/posture/rulebook"
	"vigil/internal/posture/store"
	"vigil/internal/posture/sweep"
	"vigil/internal/posture/walk"
	"vigil/internal/telemetry/tracing"
	"vigil/rules"
)

// Options configure a posture server.
type Options struct {
	Install *instance.Installation
	Cloud   posture.Cloud
	Sources []collect.Source
	Limits  *collect.Limits // rate limits of calls to the clouds, shared between processes; may be nil
	Client  *http.Client    // an HTTP client restricted to the clouds; New makes one if nil
	Warning string          // shown by /healthz and in the console, for example that the data is simulated
	Version string
	Demo    bool          // the data is simulated
	Desktop func() string // returns the URL of the desktop server, "" if there is none; may be nil
	Log     *slog.Logger
	Metrics *prometheus.Registry
	Tracer  *tracing.Tracer // records traces; may be nil
	Now     func() time.Time
}

// App is a posture server.
type App struct {
	o         Options
	roles     []string
	keys      *auth.Keys
	sessions  *websession.Sessions
	queue     *job.Queue
	store     *store.Store
	sweep     *sweep.Sweep
	book      *rulebook.Book
	onboard   *onboard.Service
	graphs    *graphcache.Graphs
	streams   *streams
	judge     *judge.Judge
	senders   *channel.Senders
	listening atomic.Pointer[string]
	table     []httpapi.Route
	mux       *httpapi.Mux
	server    *httpapi.Server
}

// audience is the audience of the server's access tokens: tokens of another server are
// not valid here.
const audience = "vigil-posture"

// New builds a server. It is idle until Listen and Serve.
func New(ctx context.Context, o Options) (*App, error) {
	in := o.Install
	if err := store.Migrate(ctx, in.DB); err != nil {
		return nil, fmt.Errorf("migrate the database: %w", err)
	}
	a := &App{o: o, roles: in.Config.RoleList()}
	quota := in.Config.Posture.Quota
	var err error
	a.queue, err = job.New(in.DB, job.Config{
		Log: o.Log, Metrics: o.Metrics, Tracer: o.Tracer, Queues: queues(a.roles, in.Config.Posture.Workers), Roles: a.roles, Members: a.divideRateLimits,
		ShareLimits: shareLimits(quota),
	})
	if err != nil {
		return nil, err
	}
	a.store = store.New(in.DB, in.Box, jobs{a.queue, quota.Waiting})
	a.sweep = a.newSweep()
	a.onboard = &onboard.Service{
		Store: a.store, Now: o.Now, NewID: func() posture.CredentialID { return posture.CredentialID(uuid.NewString()) },
		MaxAccounts: quota.Accounts,
	}
	a.graphs = graphcache.New(a.store, graphcache.Options{Bytes: in.Config.Posture.Graph.CacheMB << 20, Log: o.Log, Check: limit.CheckAccount})
	if a.book, err = a.newBook(); err != nil {
		return nil, err
	}
	a.judge = a.newJudge()
	if err := a.newStreams(); err != nil {
		return nil, err
	}
	a.senders = a.newSenders()
	if err := errors.Join(a.handleJobs(), a.handleEntityJobs(), a.handleStreamJobs(), a.handleNotifyJobs(a.senders)); err != nil {
		return nil, err
	}
	if a.keys, err = Keys(ctx, in, o.Now); err != nil {
		return nil, err
	}
	a.sessions = websession.New(in.DB, websession.Options{
		Realm: "posture", Now: o.Now, Secure: strings.HasPrefix(in.Config.Posture.PublicURL, "https:"),
	})
	a.server, err = a.newServer()
	return a, err
}

// runLease is how long a run keeps its worker without a renewal. The job queue detects
// a dead worker within seconds. The lease is longer, so that runs survive an outage of
// the database.
const runLease = 5 * time.Minute

// newSweep returns the scheduler of collections.
func (a *App) newSweep() *sweep.Sweep {
	sources := map[posture.Provider]collect.Source{}
	for _, s := range a.o.Sources {
		sources[s.Provider()] = s
	}
	return &sweep.Sweep{
		Store: a.store, Log: a.o.Log, Now: a.o.Now, NewID: uuid.NewString, Deadline: 2 * time.Hour, Lease: runLease,
		Runner:   &collect.Runner{Sources: sources, Recorder: a.store, Parallel: 8, Log: a.o.Log},
		LowSpace: func() bool { return httpapi.Space(a.o.Install.Space.Level()) != httpapi.SpaceEnough },
	}
}

// shippedRules loads the built-in rules. They do not change, so they are loaded once
// per process, although tests build many servers.
var shippedRules = sync.OnceValues(func() (*catalog.Catalog, error) { return catalog.Load(rules.Files, frameworks.Files) })

// newBook returns the rules and frameworks: the built-in ones, and those in the
// configured folders, which are checked against the collected types.
func (a *App) newBook() (*rulebook.Book, error) {
	var customRules []fs.FS
	for _, folder := range config.Folders(a.o.Install.Config.Posture.RuleDirs) {
		customRules = append(customRules, declared.Folder(folder))
	}
	c, err := shippedRules()
	if len(customRules) > 0 {
		c, err = catalog.Load(rules.Files, frameworks.Files, customRules...)
		if err == nil {
			err = c.CheckOwn(catalog.Schema(a.declarations()))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the rules: %w", err)
	}
	declarations := a.declarations()
	if c, err = c.WithTriggers(declarations, catalog.Schema(declarations)); err != nil {
		return nil, fmt.Errorf("read the rules: %w", err)
	}
	newID := func() posture.RuleID { return posture.RuleID(uuid.NewString()) }
	return &rulebook.Book{Catalog: c, Store: a.store, Now: a.o.Now, NewID: newID}, nil
}

// Keys returns the keys that sign access tokens.
func Keys(ctx context.Context, in *instance.Installation, now func() time.Time) (*auth.Keys, error) {
	keys := auth.NewKeys(in.Auth, in.Box, auth.KeyOptions{Realm: "posture", Issuer: in.Config.Posture.PublicURL, Now: now})
	return keys, keys.Maintain(ctx)
}

// newServer returns the HTTP server with all routes.
func (a *App) newServer() (*httpapi.Server, error) {
	in, conf := a.o.Install, a.o.Install.Config.Posture
	health := &httpapi.Health{Warning: a.o.Warning}
	health.Add("database", in.DB.Check)
	health.AddNotice("disk", in.Space.Notice)
	health.AddNotice("audit", in.Witnesses.Notice)
	for _, c := range []prometheus.Collector{in.Space.Collector(), in.Witnesses.Collector(), newDatabaseMetrics(a.store, a.o.Now)} {
		if err := a.o.Metrics.Register(c); err != nil {
			return nil, err
		}
	}
	gate := auth.NewAuthenticator(in.Registry, a.keys, auth.AuthenticatorOptions{Audience: audience})
	var err error
	if a.table, err = a.routes(gate, health); err != nil {
		return nil, err
	}
	metrics, err := httpapi.NewMetrics(a.o.Metrics, "posture")
	if err != nil {
		return nil, err
	}
	proxies, err := conf.Proxies()
	if err != nil {
		return nil, err
	}
	guard, err := a.guard(gate)
	if err != nil {
		return nil, err
	}
	a.mux, err = httpapi.NewMux(a.table, httpapi.Options{
		Guard: a.limited(guard), Audit: auditapi.Recorder(in.Audit), Errors: httpapi.PostureError,
		Log: a.o.Log, Metrics: metrics, Tracer: a.o.Tracer, Timeout: conf.Timeout, Now: a.o.Now, Proxies: proxies, Idempotency: idempotency.New(in.DB, "posture", a.o.Now),
		Space: func() httpapi.Space { return httpapi.Space(in.Space.Level()) },
		Rates: map[string]httpapi.Rate{
			httpapi.RateDefault: {PerSecond: float64(conf.Rate), Burst: 10 * conf.Rate}, api.RateEvents: eventRate,
			httpapi.RateOrg: {PerSecond: float64(conf.Quota.Requests), Burst: 10 * conf.Quota.Requests},
		},
	})
	if err != nil {
		return nil, err
	}
	options := httpapi.ServerOptions{
		Address: conf.Listen, Handler: a.mux, Log: a.o.Log, Health: health, AllowPlain: conf.InsecureHTTP, Proxies: proxies, Drain: conf.Drain,
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

// apiDocument is the document of the API. It is parsed once per process, although tests
// build many servers.
var apiDocument = sync.OnceValues(func() (*apidoc.Document, error) { return apidoc.Parse(api.Document) })

// routes returns all routes of the server.
func (a *App) routes(gate *auth.Authenticator, health *httpapi.Health) ([]httpapi.Route, error) {
	routes := append(httpapi.HealthRoutes(health), httpapi.MetricsRoute(a.o.Metrics, auth.Admin.String()))
	if a.has(config.RoleStream) || a.has(config.RoleAPI) {
		routes = append(routes, a.streamRoutes()...)
	}
	if !a.has(config.RoleAPI) {
		return routes, nil
	}
	in := a.o.Install
	cursors := cursor.New(in.Box)
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
	console, err := a.consoleRoutes()
	if err != nil {
		return nil, err
	}
	onboarding := *a.onboard
	onboarding.Store = limit.Onboarding{Store: a.store}
	singleSignOn, err := a.newSSO()
	if err != nil {
		return nil, err
	}
	return slices.Concat(
		console, pages,
		(&authapi.API{Registry: in.Registry, Authenticator: gate, Keys: a.keys, Sessions: a.sessions, SSO: singleSignOn, Devices: &auth.Devices{Registry: in.Registry, Store: in.Auth}}).Routes(),
		(&auditapi.API{Log: in.Audit, Cursors: cursors}).Routes(),
		(&api.API{
			Org: callerOrg, Onboarding: &onboarding, Store: limit.Onboarding{Store: a.store}, Cloud: a.o.Cloud, Runs: limit.Runs{Store: a.store}, Plans: a.store,
			Collections: limit.Collections{Starter: a.sweep}, Book: a.book, Findings: limit.Findings{Store: a.store}, Cursors: cursors, Caller: callerName, Now: a.o.Now, Version: a.o.Version,
			Entities: limit.Entities{Store: a.store}, Walker: walk.New(a.graphs, a.store, walkOptions(a.o.Install.Config.Posture.Graph, a.o.Now)),
			Pulses: limit.Pulses{Store: a.store}, Views: limit.Views{Store: a.store}, Mutes: limit.Mutes{Store: a.store}, Notify: a.store, Sender: a.senders, User: callerUser, Declarations: a.declarations, Reads: a.typesReadByRules, Judge: a.judge,
		}).Routes(),
		document,
		routes,
	), nil
}

// Onboarding returns the service that changes accounts, credentials and links.
func (a *App) Onboarding() *onboard.Service { return a.onboard }

// Settled reports whether every account of an organisation was collected, except drafts
// that are not linked to a credential. A run that timed out or lost its worker does not
// count, because another run replaces it.
func (a *App) Settled(ctx context.Context, org posture.OrgID) (bool, error) {
	all, _, err := a.store.Accounts(ctx, org, posture.AccountFilter{}, posture.Page{})
	if err != nil {
		return false, err
	}
	links, err := a.store.Links(ctx, org, nil)
	linked := map[posture.AccountID]bool{}
	for _, l := range links {
		linked[l.Account] = true
	}
	return !slices.ContainsFunc(all, func(x posture.Account) bool {
		return (linked[x.ID] || x.Status.Value != posture.AccountDraft) && (x.LastRun == "" || x.LastRun == posture.RunTimeout)
	}), err
}

// callerOrg returns the organisation of an authenticated caller.
func callerOrg(ctx context.Context) posture.OrgID {
	c, _ := auth.CallerFrom(ctx)
	return posture.OrgID(c.Org)
}

// Routes returns all routes, for tests that compare them with the OpenAPI document and
// the role matrix.
func (a *App) Routes() []httpapi.Route { return a.table }

// Handler returns the HTTP handler, for tests.
func (a *App) Handler() http.Handler { return a.mux }

// callerName returns the name of an authenticated caller.
func callerName(ctx context.Context) string {
	c, _ := auth.CallerFrom(ctx)
	return c.Name
}

// callerUser returns the user id of an authenticated caller.
func callerUser(ctx context.Context) string {
	c, _ := auth.CallerFrom(ctx)
	return string(c.User)
}

// Listen opens the server's port and returns its URL.
func (a *App) Listen(ctx context.Context) (string, error) {
	if err := a.server.Listen(ctx); err != nil {
		return "", err
	}
	url := a.server.URL()
	a.listening.Store(&url)
	return url, nil
}

// Serve serves requests and runs jobs until ctx ends, then waits for those in progress.
func (a *App) Serve(ctx context.Context) error {
	if err := a.queue.Start(ctx); err != nil {
		return err
	}
	var maintenance sync.WaitGroup
	work, endWork := context.WithCancel(context.WithoutCancel(ctx)) // requests in progress need the maintenance after ctx ends
	defer endWork()
	maintenance.Go(func() { a.keys.Run(work, a.o.Log) })
	maintenance.Go(func() { a.sessions.Run(work, a.o.Log) })
	maintenance.Go(func() { a.o.Install.Registry.Run(work, a.o.Log) })
	maintenance.Go(func() { a.o.Install.RunAudit(work, a.o.Log) })
	err := a.server.Serve(ctx)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	if stopErr := a.queue.Stop(stop); err == nil {
		err = stopErr
	}
	endWork()
	maintenance.Wait()
	return err
}
