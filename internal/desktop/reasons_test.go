package desktop

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// certificateUntil returns a certificate that expires after the given time.
func certificateUntil(remaining time.Duration) *Certificate {
	return &Certificate{Valid: remaining > 0, ValidFrom: MillisOf(noon.Add(-time.Hour)), ValidTo: MillisOf(noon.Add(remaining))}
}

func TestExpiringCertificatesGiveAReason(t *testing.T) {
	t.Parallel()
	for _, o := range []Observation{
		{Kind: KindConnectionServer, ID: "c2", Reading: ConnectionServerReading{Health: PeerHealth{Version: "1"}}},
		{Kind: KindEventDatabase, ID: "e1", Reading: EventDatabaseReading{}},
		{Kind: KindRDSListener, ID: "r1", Reading: ListenerReading{}},
		{Kind: KindSAMLAuthenticator, ID: "s1", Reading: SAMLReading{Signing: certificateUntil(1000 * time.Hour)}},
		{Kind: KindPodEndpoint, ID: "p1e1", Reading: PodReading{}},
		{Kind: KindComposer, ID: "m1", Reading: ComposerReading{}},
		{Kind: KindVirtualCenter, ID: "v1", Reading: VirtualCenterReading{}},
	} {
		t.Run(string(o.Kind), func(t *testing.T) {
			for days, want := range map[int]string{5: "its certificate expires on 2026-11-20, in 5 days", 400: ""} {
				inv := testInventory()
				inv.VirtualCenters[0].Enabled = true
				inv.RDSServers[0].Address = "rds1.corp.example"
				b, now, _ := newBoard(inv)
				for i := range 2 { // a pod endpoint needs a second reading to be online
					o.At, o.Certificate = now.Add(time.Duration(i)*time.Second), certificateUntil(time.Duration(days)*24*time.Hour+time.Hour)
					b.Observe(o)
				}
				kind := o.Kind // of the record that shows the certificate
				switch o.Kind {
				case KindPodEndpoint:
					kind = KindPod
				case KindRDSListener:
					kind = KindRDSServer
				}
				i := slices.IndexFunc(b.Records(kind), func(r Record) bool { return r.Ref().ID == o.ID || kind == KindPod })
				f := b.Records(kind)[i].Fresh()
				reported := slices.ContainsFunc(f.Reasons, func(r string) bool { return want != "" && strings.HasSuffix(r, want) })
				// Both the reason and the warning are expected exactly if the certificate expires soon.
				if reported != (want != "") || (f.Health == HealthWarning) != reported {
					t.Errorf("with %d days left: health %s, reasons %q", days, f.Health, f.Reasons)
				}
			}
		})
	}
}

func TestLostHostsAndDatastoresGiveAReason(t *testing.T) {
	t.Parallel()
	inv := testInventory()
	inv.VirtualCenters[0].Enabled = true
	b, now, _ := newBoard(inv)
	read := func(h HostStatus, d DatastoreStatus) VirtualCenterMonitor {
		*now = now.Add(time.Minute)
		b.Observe(Observation{Kind: KindVirtualCenter, ID: "v1", At: *now, Reading: VirtualCenterReading{
			Hosts:      []Host{{Details: HostDetails{Name: "esx1"}, Status: h}},
			Datastores: []Datastore{{Details: DatastoreDetails{Name: "ds1"}, Status: d}},
		}})
		return b.Records(KindVirtualCenter)[0].(VirtualCenterMonitor)
	}
	for _, tt := range []struct {
		host   HostStatus
		store  DatastoreStatus
		health Health
		reason string
	}{
		{HostConnected, DatastoreAccessible, HealthOK, ""},
		{HostNotResponding, DatastoreAccessible, HealthWarning, "the host esx1 does not respond"},
		{HostDisconnected, DatastoreAccessible, HealthWarning, "the host esx1 is disconnected"},
		{HostConnected, DatastoreNotAccessible, HealthWarning, "the datastore ds1 is not accessible"},
	} {
		m := read(tt.host, tt.store)
		if m.Status != tt.health || strings.Join(m.Reasons, ";") != tt.reason {
			t.Errorf("%s, %s: %s %q, want %s %q", tt.host, tt.store, m.Status, m.Reasons, tt.health, tt.reason)
		}
	}
	read(HostConnected, DatastoreAccessible)
	for range 5 {
		*now = now.Add(time.Minute)
		b.Observe(Observation{Kind: KindVirtualCenter, ID: "v1", At: *now, Failure: &Failure{Cause: Unreachable, Reason: "vc does not answer"}})
	}
	m := b.Records(KindVirtualCenter)[0].(VirtualCenterMonitor)
	if m.Hosts[0].Status != HostUnknown || m.Datastores[0].Status != DatastoreUnknown || m.Status != HealthError {
		t.Errorf("a center that is down: %s, host %s, datastore %s", m.Status, m.Hosts[0].Status, m.Datastores[0].Status)
	}
	if got := read(HostConnected, DatastoreAccessible); got.Hosts[0].Status != HostConnected || got.Status != HealthOK {
		t.Errorf("a center that is back: %s, host %s", got.Status, got.Hosts[0].Status)
	}
}

func TestPeerThatIsDownIsTheCause(t *testing.T) {
	t.Parallel()
	b, now, changes := newBoard(testInventory())
	for i := range 3 {
		at := now.Add(time.Duration(i) * time.Second)
		b.Observe(Observation{Kind: KindConnectionServer, ID: "c1", At: at, Reading: ConnectionServerReading{Health: PeerHealth{Version: "1"}}})
		b.Observe(Observation{Kind: KindDomain, ID: "d1", At: at, Reading: DomainReading{}})
		o := Observation{Kind: KindConnectionServer, ID: "c2", At: at, Failure: &Failure{Cause: Unreachable, Reason: "cs2 does not answer"}}
		if i == 0 {
			o.Failure, o.Reading = nil, ConnectionServerReading{Health: PeerHealth{
				Version: "1", Views: []View{{Kind: KindDomain, ID: "d1", Status: "FULLY_ACCESSIBLE"}},
			}}
			*changes = nil
		}
		b.Observe(o)
	}
	self := b.Records(KindConnectionServer)[0].Fresh()
	if self.Health != HealthOK || !slices.Equal(self.Reasons, []string{"nothing is replicated to cs2, which does not answer"}) {
		t.Errorf("the server that is up: %s %q", self.Health, self.Reasons)
	}
	domain := b.Records(KindDomain)[0].Fresh()
	if domain.Health != HealthOK || !slices.Equal(domain.Reasons, []string{"cs2 does not answer: what it sees is unknown"}) {
		t.Errorf("the domain: %s %q", domain.Health, domain.Reasons)
	}
	// cs2 causes every change to a status that is not healthy.
	for _, c := range *changes {
		if c.To != "OK" && c.To != "FULLY_ACCESSIBLE" && c.Cause != (Ref{KindConnectionServer, "c2", "cs2"}) {
			t.Errorf("%s %q %s>%s is caused by %+v", c.Ref.Name, c.Part, c.From, c.To, c.Cause)
		}
	}
}
