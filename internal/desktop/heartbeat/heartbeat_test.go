package heartbeat_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vigil/internal/desktop"
	"vigil/internal/desktop/heartbeat"
	"vigil/internal/desktop/store"
	"vigil/internal/fault"
	"vigil/internal/secret/secrettest"
	"vigil/internal/sqldb"
	"vigil/internal/sqldb/dbtest"
)

var (
	gateway = heartbeat.Agent{Kind: desktop.KindGateway, ID: "11111111-1111-4111-8111-111111111111"}
	host    = heartbeat.Agent{Kind: desktop.KindRDSServer, ID: "22222222-2222-4222-8222-222222222222"}
)

// fixture is a service on a real database behind a real TLS server.
type fixture struct {
	t       *testing.T
	service *heartbeat.Service
	store   *store.Store
	server  *httptest.Server
	db      *sqldb.DB

	mu       sync.Mutex
	clock    time.Time
	known    map[heartbeat.Agent]bool // the components of the inventory
	observed []desktop.Observation
	accepted func() // called after each accepted report, if not nil
}

func (f *fixture) now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clock
}

func (f *fixture) pass(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clock = f.clock.Add(d)
}

func (f *fixture) last() desktop.Observation {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.observed) == 0 {
		return desktop.Observation{}
	}
	return f.observed[len(f.observed)-1]
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, clock: time.Now().Truncate(time.Millisecond), known: map[heartbeat.Agent]bool{gateway: true, host: true}}
	f.db = dbtest.Open(t, dbtest.SQLite(t))
	if err := store.Migrate(t.Context(), f.db); err != nil {
		t.Fatal(err)
	}
	f.store = store.New(f.db, secrettest.NewBox(t), f.now)
	f.start()
	return f
}

// start starts the service; after a stop it simulates a restart.
func (f *fixture) start() {
	f.t.Helper()
	f.service = heartbeat.New(heartbeat.Options{
		Store: f.store, Policy: desktop.DefaultPolicy, Now: f.now, Log: slog.New(slog.DiscardHandler),
		Component: func(a heartbeat.Agent) (desktop.Ref, bool) {
			f.mu.Lock()
			defer f.mu.Unlock()
			return desktop.Ref{Kind: a.Kind, ID: a.ID, Name: "machine"}, f.known[a]
		},
		Observe: func(o desktop.Observation) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.observed = append(f.observed, o)
			if f.accepted != nil {
				f.accepted()
			}
		},
	})
	if err := f.service.Open(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	if err := f.service.Start(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	f.server = httptest.NewUnstartedServer(http.HandlerFunc(f.serve))
	f.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	f.server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, ClientCAs: f.service.ClientCAs()}
	f.server.StartTLS()
	service, server := f.service, f.server
	f.t.Cleanup(func() { server.Close(); service.Stop() })
}

// serve is a minimal API in front of the service.
func (f *fixture) serve(w http.ResponseWriter, r *http.Request) {
	var client *x509.Certificate
	if len(r.TLS.PeerCertificates) > 0 {
		client = r.TLS.PeerCertificates[0]
	}
	answer, err := f.dispatch(r, client)
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		statuses := map[fault.Kind]int{
			fault.Invalid: 400, fault.Unauthenticated: 401, fault.Forbidden: 403, fault.NotFound: 404, fault.Conflict: 409, fault.Limited: 429,
		}
		status := statuses[fault.KindOf(err)]
		if status == 0 {
			status = 500
		}
		w.WriteHeader(status)
		answer = map[string]string{"error_message": err.Error()}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

func (f *fixture) dispatch(r *http.Request, client *x509.Certificate) (any, error) {
	body := json.NewDecoder(r.Body)
	switch parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/rest/agent/v1/"), "/"); parts[0] {
	case "enroll":
		var in heartbeat.EnrolRequest
		_ = body.Decode(&in)
		return f.service.Enrol(r.Context(), in)
	case "renew":
		var in heartbeat.RenewRequest
		_ = body.Decode(&in)
		return f.service.Renew(r.Context(), client, in)
	case "self":
		return f.service.AgentStatus(r.Context(), client)
	case "gateways":
		var in heartbeat.GatewayReport
		_ = body.Decode(&in)
		return f.service.GatewayBeat(r.Context(), client, desktop.ID(parts[1]), in)
	default:
		var in heartbeat.AgentReport
		_ = body.Decode(&in)
		return f.service.AgentBeat(r.Context(), client, desktop.ID(parts[1]), in)
	}
}

func (f *fixture) trust() heartbeat.ServerTrust {
	pool := x509.NewCertPool()
	pool.AddCert(f.server.Certificate())
	return heartbeat.ServerTrust{Roots: pool}
}

func (f *fixture) client(c *heartbeat.Credential) *heartbeat.Client {
	f.t.Helper()
	client, err := heartbeat.NewClient(f.server.URL, f.trust(), c)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(client.Close)
	return client
}

func (f *fixture) token(a heartbeat.Agent) string {
	f.t.Helper()
	_, text, err := f.service.NewToken(f.t.Context(), "test", a, time.Hour)
	if err != nil {
		f.t.Fatal(err)
	}
	return text
}

func (f *fixture) enrol(a heartbeat.Agent) heartbeat.Credential {
	f.t.Helper()
	c, err := f.client(nil).Enrol(f.t.Context(), f.token(a))
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

func report(sequence int64) heartbeat.GatewayReport {
	return heartbeat.GatewayReport{
		Stamp:       heartbeat.Stamp{Sequence: sequence},
		GatewayBeat: desktop.GatewayBeat{Version: "1.2", BlastConnections: 3, PCoIPConnections: 4},
	}
}

// wantStatus checks that the server refused a request with a status, or accepted it if the status is 0.
func wantStatus(t *testing.T, err error, status int) {
	t.Helper()
	r, ok := err.(*heartbeat.Refusal)
	if status == 0 && err != nil || status != 0 && (!ok || r.Status != status) {
		t.Errorf("%v, want status %d", err, status)
	}
}

func TestMachineEnrolsAndReports(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.enrol(gateway)
	if c.Enrolment.Kind != gateway.Kind || c.Enrolment.ID != gateway.ID || c.Enrolment.IntervalSeconds != 30 {
		t.Errorf("enrolment %+v", c.Enrolment)
	}
	receipt, err := f.client(&c).Beat(t.Context(), c.Enrolment.HeartbeatPath, report(1))
	if err != nil || receipt.IntervalSeconds != 30 || receipt.Renew {
		t.Fatalf("receipt %+v, %v; want an interval of 30 seconds and no renewal", receipt, err)
	}
	want := desktop.Observation{Kind: gateway.Kind, ID: gateway.ID, At: f.now(), Reading: report(1).GatewayBeat}
	if diff := cmp.Diff(want, f.last()); diff != "" {
		t.Error(diff)
	}
}

func TestTokensAreValidOnceUntilTheyExpire(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := f.token(gateway)
	if _, err := f.client(nil).Enrol(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	_, err := f.client(nil).Enrol(t.Context(), token)
	wantStatus(t, err, 401)
	_, err = f.client(nil).Enrol(t.Context(), "made up")
	wantStatus(t, err, 401)
	expired := f.token(gateway)
	f.pass(time.Hour)
	_, err = f.client(nil).Enrol(t.Context(), expired)
	wantStatus(t, err, 401)
	deleted := f.token(gateway) // of a component that is then removed from the inventory
	f.mu.Lock()
	f.known[gateway] = false
	f.mu.Unlock()
	_, err = f.client(nil).Enrol(t.Context(), deleted)
	wantStatus(t, err, 401)
	if _, _, err := f.service.NewToken(t.Context(), "test", gateway, 0); !fault.Is(err, fault.Invalid) {
		t.Errorf("a token for an unknown component: %v", err)
	}
	if _, _, err := f.service.NewToken(t.Context(), "test", heartbeat.Agent{Kind: desktop.KindFarm, ID: "x"}, 0); !fault.Is(err, fault.Invalid) {
		t.Errorf("a token for a kind without heartbeats: %v", err)
	}
}

func TestReplayedReportsAreRefusedEvenAfterARestart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.enrol(gateway)
	path := c.Enrolment.HeartbeatPath
	for _, tt := range []struct {
		sequence int64
		want     int // status; 0 for an accepted report
	}{{100, 0}, {100, 409}, {99, 409}, {101, 0}} {
		_, err := f.client(&c).Beat(t.Context(), path, report(tt.sequence))
		wantStatus(t, err, tt.want)
	}
	f.server.Close()
	f.service.Stop()
	f.observed = nil
	f.start()
	if diff := cmp.Diff(desktop.Reading(report(0).GatewayBeat), f.last().Reading); diff != "" {
		t.Errorf("the last report was not restored: %s", diff)
	}
	_, err := f.client(&c).Beat(t.Context(), path, report(101))
	wantStatus(t, err, 409)
	_, err = f.client(&c).Beat(t.Context(), path, report(102))
	wantStatus(t, err, 0)
	status, err := f.client(&c).AgentStatus(t.Context())
	if err != nil || status.LastSequence != 102 {
		t.Errorf("agent status %+v, %v; want last sequence 102", status, err)
	}
}

func TestReportsNeedTheMachinesOwnCertificate(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	gatewayCredential, hostCredential := f.enrol(gateway), f.enrol(host)
	_, err := f.client(&hostCredential).Beat(t.Context(), gatewayCredential.Enrolment.HeartbeatPath, report(1))
	wantStatus(t, err, 403)
	_, err = f.client(nil).Beat(t.Context(), gatewayCredential.Enrolment.HeartbeatPath, report(1))
	wantStatus(t, err, 401)
	forged := gatewayCredential
	forged.Enrolment.Certificate = selfSigned(t, gatewayCredential.Key.(*ecdsa.PrivateKey))
	_, err = f.client(&forged).Beat(t.Context(), gatewayCredential.Enrolment.HeartbeatPath, report(1))
	wantStatus(t, err, 401)
	f.mu.Lock()
	f.known[gateway] = false
	f.mu.Unlock()
	_, err = f.client(&gatewayCredential).Beat(t.Context(), gatewayCredential.Enrolment.HeartbeatPath, report(1))
	wantStatus(t, err, 404)
}

func selfSigned(t *testing.T, key *ecdsa.PrivateKey) string {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: serialNumber, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func TestRevocationAndReEnrolmentInvalidateOldCertificates(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	first := f.enrol(gateway)
	_, err := f.client(&first).Beat(t.Context(), first.Enrolment.HeartbeatPath, report(1000))
	wantStatus(t, err, 0)
	second := f.enrol(gateway)
	_, err = f.client(&first).Beat(t.Context(), first.Enrolment.HeartbeatPath, report(2000))
	wantStatus(t, err, 401)
	// The sequence restarts, because the machine may have been replaced.
	_, err = f.client(&second).Beat(t.Context(), second.Enrolment.HeartbeatPath, report(1))
	wantStatus(t, err, 0)
	if err := f.service.Revoke(t.Context(), gateway); err != nil {
		t.Fatal(err)
	}
	_, err = f.client(&second).Beat(t.Context(), second.Enrolment.HeartbeatPath, report(2))
	wantStatus(t, err, 401)
	_, err = f.client(&second).Renew(t.Context())
	wantStatus(t, err, 401)
	if err := f.service.Revoke(t.Context(), gateway); !fault.Is(err, fault.NotFound) {
		t.Errorf("revoked twice: %v", err)
	}
	roster, err := f.service.Roster(t.Context())
	if err != nil || len(roster) != 1 || roster[0].Newest.RevokedAt.IsZero() {
		t.Errorf("roster %+v, %v", roster, err)
	}
}

func TestCertificatesAreRenewedInTimeAndExpire(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	old := f.enrol(gateway)
	f.pass(21 * 24 * time.Hour)
	receipt, err := f.client(&old).Beat(t.Context(), old.Enrolment.HeartbeatPath, report(1))
	if err != nil || !receipt.Renew {
		t.Fatalf("after 21 of 30 days: %+v, %v", receipt, err)
	}
	renewed, err := f.client(&old).Renew(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f.pass(10 * 24 * time.Hour)
	_, err = f.client(&old).Beat(t.Context(), old.Enrolment.HeartbeatPath, report(2))
	wantStatus(t, err, 401)
	_, err = f.client(&renewed).Beat(t.Context(), renewed.Enrolment.HeartbeatPath, report(3))
	wantStatus(t, err, 0)
}

func TestConcurrentReportsAreAllStored(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const n = 40
	agents := make([]heartbeat.Agent, n)
	credentials := make([]heartbeat.Credential, n)
	for i := range agents {
		agents[i] = heartbeat.Agent{Kind: desktop.KindRDSServer, ID: desktop.ID(fmt.Sprint("host", i))}
		f.mu.Lock()
		f.known[agents[i]] = true
		f.mu.Unlock()
		credentials[i] = f.enrol(agents[i])
	}
	var wait sync.WaitGroup
	for i := range agents {
		wait.Go(func() {
			for sequence := int64(1); sequence <= 5; sequence++ {
				_, err := f.client(&credentials[i]).Beat(t.Context(), credentials[i].Enrolment.HeartbeatPath, heartbeat.AgentReport{
					Stamp: heartbeat.Stamp{Sequence: sequence}, AgentBeat: desktop.AgentBeat{OperatingSystem: desktop.OSLinuxOther},
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	beats, err := f.store.Beats(t.Context())
	if err != nil || len(beats) != n || slices.ContainsFunc(beats, func(b heartbeat.Beat) bool { return b.Sequence != 5 }) {
		t.Errorf("%d beats, %v", len(beats), err)
	}
}

func TestBadCertificateRequestsAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Skip(err)
	}
	strong, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, strong)
	if err != nil {
		t.Fatal(err)
	}
	der[len(der)-1] ^= 1 // damage the signature
	weakDER, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, weak)
	if err != nil {
		t.Fatal(err)
	}
	for name, csr := range map[string]string{
		"empty": "", "not PEM": "hello", "another block": selfSigned(t, strong),
		"badly signed": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})),
		"weak":         string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: weakDER})),
	} {
		if _, err := f.service.Enrol(t.Context(), heartbeat.EnrolRequest{Token: "x", CSR: csr}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v, want a fault of kind Invalid", name, err)
		}
	}
}

func TestServersAreVerifiedByThumbprint(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for thumbprint, accepted := range map[string]bool{thumbprintOf(f.server.Certificate()): true, strings.Repeat("00", 32): false} {
		client, err := heartbeat.NewClient(f.server.URL, heartbeat.ServerTrust{Thumbprint: thumbprint}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Enrol(t.Context(), f.token(gateway))
		client.Close()
		if got := err == nil; got != accepted {
			t.Errorf("%s: %v, want it accepted: %t", thumbprint, err, accepted)
		}
	}
	if _, err := heartbeat.NewClient("http://plain.example", heartbeat.ServerTrust{}, nil); err == nil {
		t.Error("a client for a plain HTTP server was created")
	}
}
