package probe

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"vigil/internal/desktop"
	sim "vigil/internal/sim/directory"
	"vigil/internal/sim/flakylistener"
)

func TestDomainProbe(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	dc, spec := f.controller(sim.Domain{
		DNSName: "corp.example", NetBIOS: "CORP", SID: "S-1-5-21-1-2-3",
		Users: []sim.User{{Name: "svc", Password: "secret of env:SVC"}},
		// Direction: 1 inbound, 2 outbound, 3 both. Type: 1 Windows NT 4, 2 Active Directory.
		Trusts: []sim.Trust{
			{Partner: "two.example", NetBIOS: "TWO", Direction: 3, Type: 2},
			{Partner: "forest.example", NetBIOS: "FOREST", Direction: 3, Type: 2, Attributes: 0x20}, // within the forest
			{Partner: "out.example", NetBIOS: "OUT", Direction: 2, Type: 2},
			{Partner: "in.example", NetBIOS: "IN", Direction: 1, Type: 1},
		},
	})
	inv := desktop.Inventory{
		Domains: []desktop.Domain{
			spec, {ID: "d2", DNSName: "two.example"}, {ID: "d3", DNSName: "forest.example"},
			{ID: "d4", DNSName: "out.example"}, {ID: "d5", DNSName: "in.example"},
			{ID: "d6", DNSName: "hand.example", Manual: true}, {ID: "d7", DNSName: "none.example"},
		},
		ConnectionServers: []desktop.ConnectionServer{{ID: "c1", Name: "cs1", Self: true}},
	}
	f.configure(inv)
	f.targets = f.targets[:1] // the others have no controllers
	status := func(want desktop.DomainStatus) {
		t.Helper()
		m := first[desktop.DomainMonitor](f, desktop.KindDomain)
		requireStatus(t, "domain", m.Servers[0].Status, want, m.Freshness, desktop.DomainFullyAccessible)
	}
	status(desktop.DomainUnknown)
	f.probe(1)
	status(desktop.DomainFullyAccessible)
	for i, want := range []desktop.TrustRelationship{
		desktop.TrustPrimaryDomain, desktop.TrustTwoWay, desktop.TrustTwoWayForest, desktop.TrustFromBroker,
		desktop.TrustToBroker, desktop.TrustManual, desktop.TrustUnknown,
	} {
		m := f.board.Records(desktop.KindDomain)[i].(desktop.DomainMonitor)
		if m.Servers[0].Trust != want || m.NT4 != (m.DNSName == "in.example") {
			t.Errorf("%s: trust = %s, NT4 %v, want %s", m.DNSName, m.Servers[0].Trust, m.NT4, want)
		}
	}
	dc.Break(sim.Down)
	f.probe(1)
	status(desktop.DomainFullyAccessible) // one failure is tolerated
	f.probe(1)
	status(desktop.DomainUncontactable)
	dc.Break(sim.PingOnly)
	f.probe(1)
	status(desktop.DomainCannotBind)
	dc.Break(sim.Healthy)
	f.probe(1)
	status(desktop.DomainFullyAccessible)
	dc.Change(func(d *sim.Domain) { d.Users[0].Password = "changed" })
	f.probe(2)
	status(desktop.DomainCannotBind)
}

func TestConnectionServerProbe(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.peer()
	gateway, err := flakylistener.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = gateway.Close() })
	go func() { // an idle gateway: it accepts and waits
		for {
			if _, err := gateway.Accept(); err != nil {
				return
			}
		}
	}()
	cs := desktop.ConnectionServer{
		ID: "c1", Name: "cs1", URL: p.url, Trust: f.trust(), SessionThreshold: 10,
		SecureGateways: []desktop.SecureGateway{{Service: desktop.ServiceBlast, Address: gateway.Addr().String()}},
	}
	other := f.peer()
	inv := desktop.Inventory{PeerToken: "env:T", ConnectionServers: []desktop.ConnectionServer{
		cs, {ID: "c2", Name: "cs2", URL: other.url, Trust: f.trust(), Self: true},
	}}
	f.configure(inv)
	status := func(what string, want desktop.ConnectionServerStatus) desktop.ConnectionServerMonitor {
		t.Helper()
		m := first[desktop.ConnectionServerMonitor](f, desktop.KindConnectionServer)
		requireStatus(t, what, m.Status, want, m.Freshness, desktop.ConnectionServerOK)
		return m
	}
	status("before the first probe", desktop.ConnectionServerUnknown)
	p.health.Store(&desktop.PeerHealth{Version: "8.1", Build: "4711", ConnectionCount: 5, TunnelCount: 2,
		Sessions: map[desktop.SessionProtocol]int{desktop.ProtocolBlast: 3, desktop.ProtocolRDP: 2}, Revision: desktop.Revision{Store: "s"}})
	f.probe(1)
	m := status("no problems", desktop.ConnectionServerOK)
	if m.Details.Version != "8.1" || *m.ConnectionCount != 5 || *m.TunnelCount != 2 || *m.SessionThreshold != 10 || len(m.Sessions) != 2 {
		t.Errorf("record = %+v", m)
	}
	if !m.Certificate.Valid || *m.DefaultCertificate || m.Services[0].Status != desktop.ServiceUp || m.Replications[0].Status != desktop.ReplicationOK {
		t.Errorf("TLS, services and replications: record = %+v", m)
	}
	gateway.Set(flakylistener.Down)
	f.probe(1)
	isUp := func() bool {
		return first[desktop.ConnectionServerMonitor](f, desktop.KindConnectionServer).Services[0].Status == desktop.ServiceUp
	}
	// The probe takes a gateway for up if the connection stays open for a short time. On a busy
	// machine the gateway can take longer to close it, so probe again.
	for tries := 0; isUp() && tries < 20; tries++ {
		f.probe(1)
	}
	if m := status("a gateway closes connections", desktop.ConnectionServerError); m.Services[0].Status != desktop.ServiceDown {
		t.Errorf("service = %s, want DOWN", m.Services[0].Status)
	}
	gateway.Set(flakylistener.Up)
	// The revision of cs1 is an hour old, and cs2 still does not have it.
	p.health.Store(&desktop.PeerHealth{Version: "8.1", Revision: desktop.Revision{Store: "s", Number: 9, At: desktop.MillisOf(time.Now().Add(-time.Hour))}})
	f.probe(1)
	if m := status("cs2 lags behind", desktop.ConnectionServerOK); m.Replications[0].Status != desktop.ReplicationError {
		t.Errorf("replication = %s, want ERROR", m.Replications[0].Status)
	}
	if lagging := f.board.Records(desktop.KindConnectionServer)[1].(desktop.ConnectionServerMonitor); lagging.Status != desktop.ConnectionServerError {
		t.Errorf("cs2, which lags behind, is %s, want ERROR", lagging.Status)
	}
	p.health.Store(&desktop.PeerHealth{Version: "8.1", Problems: []string{"no licence"}, Revision: desktop.Revision{Store: "s"}})
	f.probe(1)
	status("it reports a problem", desktop.ConnectionServerError)
	p.health.Store(&desktop.PeerHealth{Version: "8.1", Revision: desktop.Revision{Store: "s"}})
	p.status.Store(http.StatusServiceUnavailable)
	f.probe(2)
	status("it answers with an error", desktop.ConnectionServerError)
	p.status.Store(http.StatusOK)
	f.probe(1)
	status("it recovers", desktop.ConnectionServerOK)
	p.listener.Set(flakylistener.Down)
	f.probe(2)
	if m := status("it is down", desktop.ConnectionServerNotResponding); m.Details.Version != "8.1" {
		t.Error("the version of a server that is down is lost")
	}
	p.listener.Set(flakylistener.Up)
	f.probe(1)
	status("it is back", desktop.ConnectionServerOK)
	inv.PeerToken = "env:WRONG"
	f.configure(inv)
	f.probe(2)
	status("it refuses our token", desktop.ConnectionServerError)
}

func TestPodProbe(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.peer()
	f.configure(desktop.Inventory{PeerToken: "env:T", Pods: []desktop.Pod{{ID: "p", Name: "pod", Endpoints: []desktop.PodEndpoint{
		{ID: "e1", Name: "far", URL: p.url, Enabled: true, Trust: f.trust()},
		{ID: "e2", Name: "off", URL: p.url, Trust: f.trust()},
	}}}})
	status := func(want desktop.PodEndpointStatus) {
		t.Helper()
		m := first[desktop.PodMonitor](f, desktop.KindPod)
		if got := m.Endpoints[0]; got.Status != want || (got.RoundTrip == nil) != (want == desktop.PodEndpointOffline) {
			t.Errorf("endpoint = %s (round trip %v), want %s: %q", got.Status, got.RoundTrip, want, m.Reasons)
		}
		if got := m.Endpoints[1].Status; got != desktop.PodEndpointOffline {
			t.Errorf("a disabled endpoint is %s", got)
		}
	}
	// An endpoint is online after two successes and offline after two failures.
	status(desktop.PodEndpointOffline)
	f.probe(1)
	status(desktop.PodEndpointUnchecked)
	f.probe(1)
	status(desktop.PodEndpointOnline)
	p.listener.Set(flakylistener.Down)
	f.probe(1)
	status(desktop.PodEndpointOnline)
	f.probe(1)
	status(desktop.PodEndpointOffline)
	p.listener.Set(flakylistener.Up)
	f.probe(1)
	status(desktop.PodEndpointUnchecked)
	f.probe(1)
	status(desktop.PodEndpointOnline)
	p.status.Store(http.StatusBadGateway)
	f.probe(2)
	status(desktop.PodEndpointOffline)
	p.status.Store(http.StatusOK)
	f.probe(2)
	status(desktop.PodEndpointOnline)
	p.status.Store(http.StatusNotFound) // a web server that is not a connection server
	f.probe(2)
	status(desktop.PodEndpointOffline)
}

func TestComposerProbe(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var empty atomic.Bool
	s := f.server(func(w http.ResponseWriter, r *http.Request) {
		if empty.Load() {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(`{"version":"7.13","api_version":"2.0"}`))
	})
	inv := desktop.Inventory{
		ConnectionServers: []desktop.ConnectionServer{{ID: "c1", Name: "cs1", Self: true, URL: s.url, Trust: f.trust()}},
		Composers:         []desktop.Composer{{ID: "m", Name: "composer", URL: s.url, Trust: f.trust()}},
	}
	status := func(what string, want desktop.ComposerStatus) desktop.ComposerMonitor {
		t.Helper()
		m := first[desktop.ComposerMonitor](f, desktop.KindComposer)
		requireStatus(t, what, m.Servers[0].Status, want, m.Freshness, desktop.ComposerOK)
		return m
	}
	f.configure(inv)
	f.probe(1)
	m := status("no problems", desktop.ComposerOK)
	// The record also has the version as api_verion, the historic misspelling.
	if m.Details.APIVersion != "2.0" || m.Details.APIVerion != "2.0" || m.Servers[0].ThumbprintAccepted || !m.Servers[0].Certificate.Valid {
		t.Errorf("record = %+v", m)
	}
	s.listener.Set(flakylistener.Hung)
	f.probeFor(2, time.Second)
	status("it hangs", desktop.ComposerError)
	s.listener.Set(flakylistener.Up)
	empty.Store(true)
	f.probe(2)
	status("it answers 404 to everything", desktop.ComposerError)
	empty.Store(false)
	inv.Composers[0].Trust = desktop.Trust{}
	f.configure(inv)
	f.probe(2)
	status("its certificate is not trusted", desktop.ComposerCertError)
	inv.Composers[0].Trust.Thumbprint = m.Servers[0].Certificate.Thumbprint
	f.configure(inv)
	f.probe(1)
	if m := status("it is pinned", desktop.ComposerOK); !m.Servers[0].ThumbprintAccepted || m.Servers[0].Certificate.Valid {
		t.Errorf("pinned record = %+v", m)
	}
	inv.Composers[0].URL = "https:/composer:nonsense"
	f.configure(inv)
	f.probe(2)
	status("its address is malformed", desktop.ComposerMalformedURL)
}

func TestRDPListenerProbe(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rdp := f.rdpServer()
	inv := desktop.Inventory{
		Farms:      []desktop.Farm{{ID: "f", Name: "farm", Enabled: true, Type: desktop.FarmManual}},
		RDSServers: []desktop.RDSServer{{ID: "r", Name: "host", FarmID: "f", Enabled: true, Address: rdp.Addr().String()}},
	}
	f.configure(inv)
	status := func(want desktop.RDSState) {
		t.Helper()
		m := first[desktop.RDSServerMonitor](f, desktop.KindRDSServer)
		requireStatus(t, "server", m.Details.State, want, m.Freshness, desktop.RDSAvailable)
	}
	status(desktop.RDSWaitForAgent)
	f.probe(1)
	status(desktop.RDSAvailable)
	if c := f.board.Records(desktop.KindRDSServer)[0].Certificates(); len(c) != 1 || !c[0].Certificate.Valid {
		t.Errorf("certificates = %+v", c)
	}
	rdp.Set(flakylistener.Hung)
	f.probeFor(2, time.Second)
	status(desktop.RDSAgentUnreachable)
	rdp.Set(flakylistener.Up)
	f.probe(1)
	status(desktop.RDSAvailable)
	web := f.server(func(http.ResponseWriter, *http.Request) {})
	inv.RDSServers = slices.Clone(inv.RDSServers)
	inv.RDSServers[0].Address = web.listener.Addr().String()
	f.configure(inv)
	f.probe(2)
	status(desktop.RDSProtocolFailure)
}

// rdpServer starts a listener that negotiates TLS and presents a certificate.
func (f *fixture) rdpServer() *flakylistener.Listener {
	f.t.Helper()
	listener, config := f.tlsListener()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { defer conn.Close(); serveRDP(conn, config) }()
		}
	}()
	return listener
}
