package app_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
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
	"vigil/internal/install"
	"vigil/internal/sim/estate"
)

// world is a server with a simulated estate beside it.
type world struct {
	*testing.T
	app    *app.App
	estate *estate.Estate
	url    string
	client *http.Client // fails the test when an answer is not as the document says
	plain  *http.Client
	trust  heartbeat.ServerTrust
	dir    string
	conf   config.Config
	stop   func()

	document *apitest.Document
}

type options struct {
	size     estate.Size
	database string // a SQLite file when empty
	estate   func(*estate.Options)
	app      func(*app.Options)
	join     bool // start the machines that report
}

// start runs a server on a new folder until the test ends. Everything is fast:
// one failure is enough, and components are looked at every 200 ms.
func start(t *testing.T, o options) *world {
	t.Helper()
	w := &world{T: t, dir: t.TempDir()}
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
func (w *world) run(o options) {
	w.Helper()
	in, err := install.Open(w.Context(), w.conf, time.Now)
	if err != nil {
		w.Fatal(err)
	}
	ao := app.Options{
		Install: in, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Now: time.Now, Version: "1.0.0", Build: "1",
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
	if o.app != nil {
		o.app(&ao)
	}
	if w.app, err = app.New(w.Context(), ao); err != nil {
		w.Fatal(err)
	}
	if w.url, err = w.app.Listen(w.Context()); err != nil {
		w.Fatal(err)
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
}

// connect makes a client that knows the server by its thumbprint.
func (w *world) connect() {
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
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 64},
	}
	w.document = apitest.Load(w, api.Document)
	w.client = w.document.Client(w, w.plain.Transport)
}

// answer is what the server answered.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("%.200q: %v", a.body, err)
	}
}

// call sends one request.
func (w *world) call(method, path, token string, body any) answer {
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

func (w *world) credentials(password string) object {
	return object{"domain": w.estate.Admin.Domain, "username": w.estate.Admin.Username, "password": []string{password}}
}

type tokens struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

// login logs the administrator in, once the directory was looked at.
func (w *world) login() tokens {
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

// until polls until something is so, for at most 20 seconds.
func (w *world) until(what string, so func() bool) {
	w.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !so() {
		if time.Now().After(deadline) {
			w.Fatalf("not within 20 s: %s", what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// status waits until a status of a component's record is the wanted one.
func (w *world) status(kind desktop.Kind, name, part, want string) {
	w.Helper()
	last := ""
	deadline := time.Now().Add(20 * time.Second)
	for {
		for _, r := range w.app.Board().Records(kind) {
			if r.Ref().Name != name {
				continue
			}
			for _, s := range r.Statuses() {
				if s.Part == part {
					last = s.Status
				}
			}
		}
		if last == want {
			return
		}
		if time.Now().After(deadline) {
			w.Fatalf("%s %s %q is %q, want %s", kind, name, part, last, want)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
