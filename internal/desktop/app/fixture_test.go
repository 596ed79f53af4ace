package app_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vigil/internal/apidoc/apitest"
	"vigil/internal/config"
	"vigil/internal/desktop"
	"vigil/internal/desktop/alert"
	"vigil/internal/desktop/api"
	"vigil/internal/desktop/app"
	"vigil/internal/desktop/heartbeat"
	"vigil/internal/desktop/probe"
	"vigil/internal/instance"
	"vigil/internal/sim/estate"
)

// fixture is a server with a simulated environment.
type fixture struct {
	*testing.T
	app    *app.App
	estate *estate.Estate
	url    string
	client *http.Client // fails the test when a response violates the OpenAPI document
	plain  *http.Client
	trust  heartbeat.ServerTrust
	dir    string
	conf   config.Config
	stop   func()

	document *apitest.Document
	test     string // its name

	mu      sync.Mutex
	changes []desktop.Change // all changes so far
}

type options struct {
	size     estate.Size
	database string // a SQLite file when empty
	estate   func(*estate.Options)
	app      func(*app.Options)
	join     bool // start the machines that send heartbeats

	conf func(*config.Config) // changes settings before the server starts

	fewProbes bool // probe components once and then rarely: the test does not depend on probes

	beforeProbes func(*fixture) // inspects the API before anything was probed
}

// start runs a server in a new folder until the test ends. Intervals are short:
// one failure changes a status, and components are probed every 200 ms.
func start(t *testing.T, o options) *fixture {
	t.Helper()
	w := &fixture{T: t, dir: t.TempDir()}
	eo := estate.Options{
		Dir: w.dir + "/estate", Size: o.size, GatewayInterval: time.Second, AgentInterval: time.Second, Failures: 1,
	}
	if o.estate != nil {
		o.estate(&eo)
	}
	var err error
	if w.estate, err = estate.New(eo); err != nil {
		t.Fatal(err)
	}
	if err := w.estate.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.estate.Stop(); err != nil {
			t.Error(err)
		}
	})
	w.conf = config.Config{DataDir: w.dir + "/data", Database: o.database}
	w.conf.Desktop = config.Desktop{Enabled: true, Inventory: w.estate.InventoryFile()}
	w.conf.Desktop.Listen = "127.0.0.1:0"
	if o.conf != nil {
		o.conf(&w.conf)
	}
	w.conf.Complete()
	w.run(o)
	if o.join {
		if err := w.estate.Join(t.Context(), w.url, w.trust, w.app.EnrolmentToken); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// run starts the server. It can be stopped and run again on the same folder.
func (w *fixture) run(o options) {
	w.Helper()
	in, err := instance.OpenOrInit(w.Context(), w.conf, time.Now)
	if err != nil {
		w.Fatal(err)
	}
	ao := app.Options{
		Install: in, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Now: time.Now, Version: "1.0.0", Build: "1", Incidents: w.estate,
		Prepare: func(url string) error {
			_, err := w.estate.WriteInventory(url)
			return err
		},
		Settings: app.Settings{
			Probe:      probe.Options{Interval: 200 * time.Millisecond, Timeout: 5 * time.Second, MaxBackoff: 300 * time.Millisecond, RefusedPause: 300 * time.Millisecond, Spread: 10 * time.Millisecond},
			WatchEvery: 100 * time.Millisecond, Tick: 100 * time.Millisecond, AlertEvery: 100 * time.Millisecond,
			Webhook: alert.WebhookOptions{AllowPlain: true, AllowLoopback: true},
		},
	}
	if os.Getenv("VIGIL_TEST_LOG") != "" {
		ao.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	if o.fewProbes {
		ao.Probe.Interval, ao.Tick, ao.AlertEvery = time.Minute, time.Minute, time.Minute
	}
	if o.app != nil {
		o.app(&ao)
	}
	if w.app, err = app.New(w.Context(), ao); err != nil {
		w.Fatal(err)
	}
	w.test = w.Name()
	w.app.Board().Listen(w.changed)
	if w.url, err = w.app.Listen(w.Context()); err != nil {
		w.Fatal(err)
	}
	if o.beforeProbes != nil {
		o.beforeProbes(w)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.Context()))
	served := make(chan error, 1)
	go func() { served <- w.app.Serve(ctx) }()
	w.connect()
	stopped := false
	w.stop = func() {
		if stopped {
			return
		}
		stopped = true
		w.plain.CloseIdleConnections()
		cancel()
		if err := <-served; err != nil {
			w.Errorf("serve: %v", err)
		}
		if err := in.Close(); err != nil {
			w.Error(err)
		}
	}
	w.Cleanup(w.stop)
	if o.fewProbes {
		w.directoriesRead()
	}
}

// directoriesRead waits until every directory was read. Before that the server
// does not know how many wrong passwords lock an account, and lets only one
// through.
func (w *fixture) directoriesRead() {
	w.Helper()
	for _, d := range w.app.Board().Inventory().Domains {
		w.until("the directory of "+d.DNSName+" was read", func() bool {
			return w.app.Board().Lockout(d.ID) != desktop.LockoutPolicy{}
		})
	}
}

// document validates every response in the tests of this package. It is parsed
// once.
var document = sync.OnceValues(func() (*apitest.Document, error) { return apitest.New(api.Document) })

// connect creates a client that accepts the server's certificate by its
// thumbprint.
func (w *fixture) connect() {
	address := strings.TrimPrefix(w.url, "https://")
	c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		w.Fatal(err)
	}
	sum := sha256.Sum256(c.ConnectionState().PeerCertificates[0].Raw)
	_ = c.Close()
	w.trust = heartbeat.ServerTrust{Thumbprint: hex.EncodeToString(sum[:])}
	w.plain = &http.Client{
		Timeout:   2 * time.Minute,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true},
	}
	if w.document, err = document(); err != nil {
		w.Fatal(err)
	}
	w.client = w.document.Client(w, w.plain.Transport)
}

// answer is a response of the server.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) into(t testing.TB, v any) {
	t.Helper()
	reflect.ValueOf(v).Elem().SetZero() // JSON decoding would keep old values in the elements of a list
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("%.200q: %v", a.body, err)
	}
}

// call sends one request.
func (w *fixture) call(method, path, token string, body any) answer {
	w.Helper()
	return w.callFrom("", method, path, token, body)
}

// callFrom sends a request as a trusted proxy would for a client at an address.
func (w *fixture) callFrom(address, method, path, token string, body any) answer {
	w.Helper()
	return w.callWith(http.Header{"X-Forwarded-For": {address}}, method, path, token, body)
}

// callWith sends a request with additional headers; empty ones are omitted.
func (w *fixture) callWith(headers http.Header, method, path, token string, body any) answer {
	w.Helper()
	var sent io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		sent = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			w.Fatal(err)
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(w.Context(), method, w.url+path, sent)
	if err != nil {
		w.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for name := range headers {
		if value := headers.Get(name); value != "" {
			request.Header.Set(name, value)
		}
	}
	response, err := w.client.Do(request)
	if err != nil {
		w.Errorf("%s %s: %v", method, path, err)
		return answer{}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		w.Errorf("%s %s: %v", method, path, err)
	}
	return answer{response.StatusCode, response.Header, text}
}

type object = map[string]any

func (w *fixture) credentials(password string) object {
	return object{"domain": w.estate.Admin.Domain, "username": w.estate.Admin.Username, "password": []string{password}}
}

type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

// login logs the administrator in, after the directory was read.
func (w *fixture) login() tokens {
	w.Helper()
	var got tokens
	w.until("the login succeeds", func() bool {
		a := w.call(http.MethodPost, "/rest/login", "", w.credentials(w.estate.Admin.Password))
		if a.status == http.StatusOK {
			a.into(w, &got)
		}
		return a.status == http.StatusOK
	})
	return got
}

// waitLimit is how long tests wait for a condition. It is long, because the
// machine may be busy.
const waitLimit = 3 * time.Minute

// until polls until a condition holds.
func (w *fixture) until(what string, so func() bool) {
	w.Helper()
	deadline := time.Now().Add(waitLimit)
	for !so() {
		if time.Now().After(deadline) {
			w.Fatalf("after %s still not true: %s", waitLimit, what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// changed records changes as they are reported.
func (w *fixture) changed(changes []desktop.Change) {
	for _, c := range changes {
		if r, _, ok := w.app.Board().Record(c.Ref.Kind, c.Ref.ID); ok {
			coverage.note(w.test, r)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changes = append(w.changes, changes...)
}

// passesThrough calls do and waits until a component has had a short-lived status.
func (w *fixture) passesThrough(do func(), kind desktop.Kind, name, part, want string) {
	w.Helper()
	w.mu.Lock()
	before := len(w.changes)
	w.mu.Unlock()
	do()
	w.until(fmt.Sprintf("%s %s %q passes through %s", kind, name, part, want), func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return slices.ContainsFunc(w.changes[before:], func(c desktop.Change) bool {
			return c.Ref.Kind == kind && c.Ref.Name == name && c.Part == part && c.To == want
		})
	})
}

// edit changes the inventory file, which the server then reloads.
func (w *fixture) edit(old, text string) {
	w.Helper()
	was, err := os.ReadFile(w.estate.InventoryFile())
	if err != nil {
		w.Fatal(err)
	}
	if !strings.Contains(string(was), old) {
		w.Fatalf("the inventory has no %q", old)
	}
	if err := os.WriteFile(w.estate.InventoryFile(), []byte(strings.Replace(string(was), old, text, 1)), 0o600); err != nil {
		w.Fatal(err)
	}
}

// status waits until a component or part has the wanted status.
func (w *fixture) status(kind desktop.Kind, name, part, want string) {
	w.Helper()
	last, reasons := "", []string(nil)
	deadline := time.Now().Add(waitLimit)
	for {
		for _, r := range w.app.Board().Records(kind) {
			if r.Ref().Name != name {
				continue
			}
			reasons = r.Fresh().Reasons
			for _, s := range r.Statuses() {
				if s.Part == part {
					last = s.Status
				}
			}
			if last == want {
				coverage.note(w.Name(), r)
				return
			}
		}
		if time.Now().After(deadline) {
			w.Fatalf("%s %s %q is %q, want %s (%q)", kind, name, part, last, want, reasons)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
