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
	app       *app.App
	estate    *estate.Estate
	url       string
	client    *http.Client // fails the test when a response violates the OpenAPI document
	anonymous *http.Client // does not check responses
	trust     heartbeat.ServerTrust
	dir       string
	conf      config.Config
	stop      func()

	document *apitest.Document
	test     string // name of the test; recordChanges, which the server calls, must not use T, because subtests replace it

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

// run starts the server. It can be stopped and run again on the same folder. The server's context does not end with the test's,
// which ends before the cleanups run: only stop ends the server.
func (f *fixture) run(o options) {
	f.Helper()
	in, err := instance.OpenOrInit(f.Context(), f.conf, time.Now)
	if err != nil {
		f.Fatal(err)
	}
	ao := app.Options{
		Install: in, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Now: time.Now, Version: "1.0.0", Build: "1", Incidents: f.estate,
		Prepare: func(url string) error {
			_, err := f.estate.WriteInventory(url)
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
	if f.app, err = app.New(f.Context(), ao); err != nil {
		f.Fatal(err)
	}
	f.test = f.Name()
	f.app.Board().Listen(f.recordChanges)
	if f.url, err = f.app.Listen(f.Context()); err != nil {
		f.Fatal(err)
	}
	if o.beforeProbes != nil {
		o.beforeProbes(f)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(f.Context()))
	served := make(chan error, 1)
	go func() { served <- f.app.Serve(ctx) }()
	f.connect()
	stopped := false
	f.stop = func() {
		if stopped {
			return
		}
		stopped = true
		f.anonymous.CloseIdleConnections()
		cancel()
		if err := <-served; err != nil {
			f.Errorf("serve: %v", err)
		}
		if err := in.Close(); err != nil {
			f.Error(err)
		}
	}
	f.Cleanup(f.stop)
	if o.fewProbes {
		f.waitForDirectories()
	}
}

// waitForDirectories waits until every directory has been read. Before that the server
// does not know how many wrong passwords lock an account: after one wrong password
// it refuses further logins of the user.
func (f *fixture) waitForDirectories() {
	f.Helper()
	for _, d := range f.app.Board().Inventory().Domains {
		f.until("the directory of "+d.DNSName+" was read", func() bool {
			return f.app.Board().Lockout(d.ID) != desktop.LockoutPolicy{}
		})
	}
}

// document validates every response in the tests of this package. It is parsed
// once.
var document = sync.OnceValues(func() (*apitest.Document, error) { return apitest.New(api.Document) })

// connect creates clients that accept any certificate, and stores the thumbprint of
// the server's certificate in trust, for heartbeats.
func (f *fixture) connect() {
	address := strings.TrimPrefix(f.url, "https://")
	c, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		f.Fatal(err)
	}
	sum := sha256.Sum256(c.ConnectionState().PeerCertificates[0].Raw)
	_ = c.Close()
	f.trust = heartbeat.ServerTrust{Thumbprint: hex.EncodeToString(sum[:])}
	f.anonymous = &http.Client{
		Timeout:   2 * time.Minute,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true},
	}
	if f.document, err = document(); err != nil {
		f.Fatal(err)
	}
	f.client = f.document.Client(f, f.anonymous.Transport)
}

// answer is a response of the server.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) decode(t testing.TB, v any) {
	t.Helper()
	reflect.ValueOf(v).Elem().SetZero() // JSON decoding would keep old values in the elements of a list
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("%.200q: %v", a.body, err)
	}
}

// call sends one request.
func (f *fixture) call(method, path, token string, body any) answer {
	f.Helper()
	return f.callFrom("", method, path, token, body)
}

// callFrom sends a request as a trusted proxy would for a client at an address.
func (f *fixture) callFrom(address, method, path, token string, body any) answer {
	f.Helper()
	return f.callWith(http.Header{"X-Forwarded-For": {address}}, method, path, token, body)
}

// callWith sends a request with additional headers; empty ones are omitted.
func (f *fixture) callWith(headers http.Header, method, path, token string, body any) answer {
	f.Helper()
	var sent io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		sent = strings.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			f.Fatal(err)
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(f.Context(), method, f.url+path, sent)
	if err != nil {
		f.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	for name := range headers {
		if value := headers.Get(name); value != "" {
			request.Header.Set(name, value)
		}
	}
	response, err := f.client.Do(request)
	if err != nil {
		f.Errorf("%s %s: %v", method, path, err)
		return answer{}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		f.Errorf("%s %s: %v", method, path, err)
	}
	return answer{response.StatusCode, response.Header, text}
}

type object = map[string]any

// credentials returns the body of a login. The password is a list of strings, which the
// server joins; the API also accepts one string.
func (f *fixture) credentials(password string) object {
	return object{"domain": f.estate.Admin.Domain, "username": f.estate.Admin.Username, "password": []string{password}}
}

type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

// login logs the administrator in. It tries again until the login succeeds, because the
// server refuses logins before it has read the directory.
func (f *fixture) login() tokens {
	f.Helper()
	var got tokens
	f.until("the login succeeds", func() bool {
		a := f.call(http.MethodPost, "/rest/login", "", f.credentials(f.estate.Admin.Password))
		if a.status == http.StatusOK {
			a.decode(f, &got)
		}
		return a.status == http.StatusOK
	})
	return got
}

// waitLimit is how long tests wait for a condition. It is long, because the
// machine may be busy.
const waitLimit = 3 * time.Minute

// until polls until a condition holds.
func (f *fixture) until(what string, condition func() bool) {
	f.Helper()
	deadline := time.Now().Add(waitLimit)
	for !condition() {
		if time.Now().After(deadline) {
			f.Fatalf("after %s still not true: %s", waitLimit, what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// recordChanges records changes as they are reported.
func (f *fixture) recordChanges(changes []desktop.Change) {
	for _, c := range changes {
		if r, _, ok := f.app.Board().Record(c.Ref.Kind, c.Ref.ID); ok {
			coverage.note(f.test, r)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changes = append(f.changes, changes...)
}

// passesThrough calls a function and waits until a component has had the wanted status, even if only for a moment.
func (f *fixture) passesThrough(do func(), kind desktop.Kind, name, part, want string) {
	f.Helper()
	f.mu.Lock()
	before := len(f.changes)
	f.mu.Unlock()
	do()
	f.until(fmt.Sprintf("%s %s %q passes through %s", kind, name, part, want), func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return slices.ContainsFunc(f.changes[before:], func(c desktop.Change) bool {
			return c.Ref.Kind == kind && c.Ref.Name == name && c.Part == part && c.To == want
		})
	})
}

// edit replaces a text of the inventory file, which the server then reloads.
func (f *fixture) edit(old, text string) {
	f.Helper()
	content, err := os.ReadFile(f.estate.InventoryFile())
	if err != nil {
		f.Fatal(err)
	}
	if !strings.Contains(string(content), old) {
		f.Fatalf("the inventory has no %q", old)
	}
	if err := os.WriteFile(f.estate.InventoryFile(), []byte(strings.Replace(string(content), old, text, 1)), 0o600); err != nil {
		f.Fatal(err)
	}
}

// status waits until a component or part has the wanted status.
func (f *fixture) status(kind desktop.Kind, name, part, want string) {
	f.Helper()
	last, reasons := "", []string(nil)
	deadline := time.Now().Add(waitLimit)
	for {
		for _, r := range f.app.Board().Records(kind) {
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
				coverage.note(f.Name(), r)
				return
			}
		}
		if time.Now().After(deadline) {
			f.Fatalf("%s %s %q is %q, want %s (%q)", kind, name, part, last, want, reasons)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
