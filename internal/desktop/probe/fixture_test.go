package probe

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/directory"
	sim "vigil/internal/sim/directory"
	"vigil/internal/sim/flakylistener"
	"vigil/internal/sim/pki"
)

// fixture is a board with targets that are probed when the test calls probe.
type fixture struct {
	t       *testing.T
	board   *desktop.Board
	factory TargetFactory
	targets []Target
	ca      *pki.Authority
}

func (f *fixture) Secret(_ context.Context, ref desktop.SecretRef) (string, error) {
	return "secret of " + string(ref), nil
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t}
	var err error
	if f.ca, err = pki.New("Test CA", pki.Around(time.Now(), 1000*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	f.board = desktop.NewBoard(time.Now)
	f.factory = TargetFactory{
		Secrets: f, Now: time.Now,
		Self: func(context.Context) (desktop.PeerHealth, error) {
			return desktop.PeerHealth{Version: "1", Revision: desktop.Revision{Store: "s"}}, nil
		},
	}
	return f
}

func (f *fixture) trust() desktop.Trust { return desktop.Trust{CAPEM: string(f.ca.PEM())} }

// configure sets an inventory, with the default policy.
func (f *fixture) configure(inv desktop.Inventory) {
	inv.Policy = desktop.DefaultPolicy()
	if d, ok := f.factory.Directory.(*directory.Client); ok {
		d.Configure(inv)
	}
	f.board.Configure(inv)
	f.close()
	f.targets = f.factory.Targets(inv)
	f.t.Cleanup(f.close)
}

func (f *fixture) close() {
	for _, t := range f.targets {
		t.close()
	}
}

// probe probes all targets a number of times, with a long timeout, because the
// machine may be busy.
func (f *fixture) probe(times int) {
	f.t.Helper()
	f.probeFor(times, 30*time.Second)
}

// probeFor probes all targets a number of times, with the given timeout.
func (f *fixture) probeFor(times int, timeout time.Duration) {
	f.t.Helper()
	for range times {
		for _, t := range f.targets {
			ctx, cancel := context.WithTimeout(f.t.Context(), timeout)
			f.board.Observe(t.observe(ctx, time.Now))
			cancel()
		}
	}
}

// first returns the record of the first component of a kind.
func first[R desktop.Record](f *fixture, k desktop.Kind) R {
	f.t.Helper()
	return f.board.Records(k)[0].(R)
}

// requireStatus checks a status, and that it has a reason unless it is one of the healthy ones.
func requireStatus[S ~string](t *testing.T, what string, got, want S, f desktop.Freshness, healthy ...S) {
	t.Helper()
	if got != want {
		t.Errorf("%s: status = %s, want %s (%q)", what, got, want, f.Reasons)
	}
	for _, g := range healthy {
		if want == g {
			return
		}
	}
	if len(f.Reasons) == 0 {
		t.Errorf("%s: status %s has no reason", what, got)
	}
}

// server is a web server whose connections can be cut.
type server struct {
	listener *flakylistener.Listener
	leaf     tls.Certificate
	url      string
}

func (f *fixture) server(h http.HandlerFunc) *server {
	f.t.Helper()
	leaf, err := f.ca.Leaf(pki.Around(time.Now(), 500*24*time.Hour), "127.0.0.1")
	if err != nil {
		f.t.Fatal(err)
	}
	listener, err := flakylistener.Listen("127.0.0.1:0")
	if err != nil {
		f.t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	s.Listener, s.TLS = listener, &tls.Config{Certificates: []tls.Certificate{leaf}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	f.t.Cleanup(s.Close)
	return &server{listener, leaf, "https://" + listener.Addr().String()}
}

// peer is a simulated connection server that reports its health to callers with the token.
type peer struct {
	*server
	health atomic.Pointer[desktop.PeerHealth]
	status atomic.Int32
}

func (f *fixture) peer() *peer {
	f.t.Helper()
	p := &peer{}
	p.health.Store(&desktop.PeerHealth{Version: "8.1", Build: "4711", Revision: desktop.Revision{Store: "s"}})
	p.status.Store(http.StatusOK)
	p.server = f.server(func(w http.ResponseWriter, r *http.Request) {
		status := int(p.status.Load())
		token := r.Header.Get("Authorization")
		if r.URL.Path != desktop.HealthPath && token != "" {
			f.t.Errorf("a request for %s carries a token", r.URL.Path)
		}
		if r.URL.Path != desktop.HealthPath || token != "Bearer secret of env:T" {
			if status == http.StatusOK {
				status = http.StatusUnauthorized
			}
			w.WriteHeader(status)
			return
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(p.health.Load())
	})
	return p
}

// controller starts a simulated domain controller and creates the directory client. It
// returns the description of the domain for an inventory.
func (f *fixture) controller(d sim.Domain) (*sim.Server, desktop.Domain) {
	f.t.Helper()
	leaf, err := f.ca.Leaf(pki.Around(time.Now(), 500*24*time.Hour), "127.0.0.1")
	if err != nil {
		f.t.Fatal(err)
	}
	s := sim.New(sim.Options{Domain: d, Certificate: leaf})
	if err := s.Start(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = s.Stop() })
	f.factory.Directory = directory.New(directory.Options{Secrets: f, Now: time.Now})
	return s, desktop.Domain{
		ID: "d1", DNSName: d.DNSName, Primary: true, StartTLS: true, Trust: f.trust(),
		Controllers: []string{net.JoinHostPort(s.Host(), strconv.Itoa(s.Port()))},
		BindUser:    "svc", BindPassword: "env:SVC",
	}
}
