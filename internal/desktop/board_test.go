package desktop

import (
	"bytes"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// testInventory returns a small inventory with at least one component of each kind: two domains, and with cs2 a peer of the own
// server cs1.
func testInventory() Inventory {
	return Inventory{
		Policy:             DefaultPolicy(),
		Domains:            []Domain{{ID: "d1", DNSName: "corp.example", Primary: true}, {ID: "d2", DNSName: "lab.example"}},
		ConnectionServers:  []ConnectionServer{{ID: "c1", Name: "cs1", Self: true}, {ID: "c2", Name: "cs2"}},
		EventDatabase:      &EventDatabase{ID: "e1", Server: "db"},
		Farms:              []Farm{{ID: "f1", Name: "farm", Enabled: true, Type: FarmManual}},
		Gateways:           []Gateway{{ID: "g1", Name: "gw", Type: GatewayUAG}},
		RDSServers:         []RDSServer{{ID: "r1", Name: "rds1", FarmID: "f1", Enabled: true}},
		SAMLAuthenticators: []SAMLAuthenticator{{ID: "s1", Label: "idp"}},
		Pods:               []Pod{{ID: "p1", Name: "pod", Endpoints: []PodEndpoint{{ID: "p1e1", Name: "far", Enabled: true}}}},
		SSOConnectors:      []SSOConnector{{ID: "t1", Name: "sso", DomainID: "d1"}},
		Composers:          []Composer{{ID: "m1", Name: "composer"}},
		VirtualCenters:     []VirtualCenter{{ID: "v1", Name: "vc"}},
	}
}

func newBoard(inv Inventory) (*Board, *time.Time, *[]Change) {
	now := noon
	b := NewBoard(func() time.Time { return now })
	changes := new([]Change)
	b.Listen(func(c []Change) { *changes = append(*changes, c...) })
	b.Configure(inv)
	return b, &now, changes
}

func TestBoardHasARecordOfEveryComponentBeforeTheFirstReading(t *testing.T) {
	t.Parallel()
	b, _, _ := newBoard(testInventory())
	for _, k := range Kinds() {
		var records []map[string]any
		doc := b.Document(k).JSON
		if k == KindEventDatabase {
			doc = append(append([]byte("["), doc...), ']')
		}
		if err := json.Unmarshal(doc, &records); err != nil {
			t.Errorf("%s: %v in %s", k, err, doc)
		}
		for _, r := range records {
			if _, ok := r["reasons"].([]any); !ok {
				t.Errorf("%s has no reasons: %v", k, r)
			}
		}
		if len(records) == 0 {
			t.Errorf("%s has no record", k)
		}
	}
}

func TestBoardReportsChangesInOrder(t *testing.T) {
	t.Parallel()
	b, now, changes := newBoard(testInventory())
	b.Observe(Observation{Kind: KindRDSServer, ID: "r1", At: *now, Reading: AgentBeat{}})
	*now = now.Add(time.Hour)
	b.Tick()
	type change struct{ name, part, from, to string }
	var got []change
	for _, c := range *changes {
		got = append(got, change{c.Ref.Name, c.Part, c.From, c.To})
	}
	want := []change{
		{"rds1", "", "WARNING", "OK"}, {"rds1", "state", "WAIT_FOR_AGENT", "AVAILABLE"}, {"farm", "", "WARNING", "OK"},
		{"rds1", "", "OK", "ERROR"}, {"rds1", "state", "AVAILABLE", "AGENT_UNREACHABLE"}, {"farm", "", "OK", "ERROR"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(change{})); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func TestBoardKeepsStateOverReload(t *testing.T) {
	t.Parallel()
	inv := testInventory()
	b, now, changes := newBoard(inv)
	b.Observe(Observation{Kind: KindVirtualCenter, ID: "v1", At: *now, Reading: VirtualCenterReading{Version: "8.0.3"}})
	before := b.Document(KindVirtualCenter)
	*changes = nil
	inv.Farms, inv.RDSServers = nil, nil
	inv.Gateways = append(inv.Gateways, Gateway{ID: "g2", Name: "second"})
	b.Configure(inv)
	if got := b.Document(KindVirtualCenter); !bytes.Equal(got.JSON, before.JSON) {
		t.Errorf("virtual centers after the reload = %s, want %s", got.JSON, before.JSON)
	}
	if got := string(b.Document(KindFarm).JSON); got != "[]" {
		t.Errorf("farms = %s, want none", got)
	}
	if got := len(b.Records(KindGateway)); got != 2 {
		t.Errorf("there are %d gateways, want 2", got)
	}
	if len(*changes) != 0 {
		t.Errorf("a reload made changes: %v", *changes)
	}
	b.Observe(Observation{Kind: KindRDSServer, ID: "r1", At: *now, Reading: AgentBeat{}}) // removed from the inventory: ignored
	if got := string(b.Document(KindRDSServer).JSON); got != "[]" {
		t.Errorf("RDS servers = %s, want none", got)
	}
}

// TestBoardForgetsWhatIsNoLongerProbed removes the address of an RDS server and disables a
// pod's endpoint, both of which failed before.
func TestBoardForgetsWhatIsNoLongerProbed(t *testing.T) {
	t.Parallel()
	inv := testInventory()
	inv.RDSServers[0].Address = "rds1.corp.example:3389"
	b, now, _ := newBoard(inv)
	failure := &Failure{Cause: Unreachable, Reason: "connection refused"}
	for range DefaultPolicy().FailuresBeforeDown {
		*now = now.Add(time.Minute)
		b.Observe(Observation{Kind: KindRDSServer, ID: "r1", At: *now, Reading: AgentBeat{}})
		b.Observe(Observation{Kind: KindRDSListener, ID: "r1", At: *now, Failure: failure})
		b.Observe(Observation{Kind: KindPodEndpoint, ID: "p1e1", At: *now, Failure: failure, Certificate: &Certificate{ValidTo: MillisOf(now.Add(time.Hour))}})
	}
	inv.RDSServers = []RDSServer{{ID: "r1", Name: "rds1", FarmID: "f1", Enabled: true}}
	inv.Pods = []Pod{{ID: "p1", Name: "pod", Endpoints: []PodEndpoint{{ID: "p1e1", Name: "far"}}}}
	b.Configure(inv)
	if r, _, _ := b.Record(KindRDSServer, "r1"); r.(RDSServerMonitor).Status != RDSStatusOK {
		t.Errorf("status %s, want %s", r.(RDSServerMonitor).Status, RDSStatusOK)
	}
	if r, _, _ := b.Record(KindPod, "p1"); len(r.Certificates()) != 0 {
		t.Errorf("a disabled endpoint has certificates: %v", r.Certificates())
	}
}

func TestBoardIncludesTheViewsOfPeers(t *testing.T) {
	t.Parallel()
	b, now, _ := newBoard(testInventory())
	b.Observe(Observation{Kind: KindDomain, ID: "d1", At: *now, Reading: DomainReading{
		// An outbound (2) trust in an NT4 domain (1). The case of its name differs from that in the inventory.
		SID: "S-1-5-21-1", Trusts: []TrustedDomain{{Partner: "LAB.example", SID: "S-1-5-21-2", Direction: 2, Type: 1}},
	}})
	// A domain that was never read is down after its first failure.
	b.Observe(Observation{Kind: KindDomain, ID: "d2", At: *now, Failure: &Failure{Cause: Unreachable, Reason: "connection refused"}})
	b.Observe(Observation{Kind: KindConnectionServer, ID: "c2", At: *now, Reading: ConnectionServerReading{Health: PeerHealth{
		Views: []View{{Kind: KindDomain, ID: "d2", Status: "CANNOT_BIND", Trust: TrustFromBroker, Reasons: []string{"wrong password"}}},
	}}})
	got := b.Records(KindDomain)[1].(DomainMonitor)
	want := []DomainServer{
		{"c1", "cs1", DomainUncontactable, TrustFromBroker},
		{"c2", "cs2", DomainCannotBind, TrustFromBroker},
	}
	if diff := cmp.Diff(want, got.Servers); diff != "" {
		t.Errorf("servers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"connection refused", "cs2: wrong password"}, got.Reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	if !got.NT4 {
		t.Error("a downlevel trust is not shown as an NT4 domain")
	}
	// The SID of lab.example is that of the trust. The NetBIOS names are guessed from the DNS names.
	infos := []DomainInfo{{"corp.example", "S-1-5-21-1", "CORP"}, {"lab.example", "S-1-5-21-2", "LAB"}}
	if diff := cmp.Diff(infos, b.Domains()); diff != "" {
		t.Errorf("domains (-want +got):\n%s", diff)
	}
	for i := range DefaultPolicy().FailuresBeforeDown { // the peer stops answering; as it was read before, fewer failures would not count
		b.Observe(Observation{Kind: KindConnectionServer, ID: "c2", At: now.Add(time.Duration(i+1) * time.Second), Failure: &Failure{Cause: Unreachable}})
	}
	if got := b.Records(KindDomain)[1].(DomainMonitor).Servers[1].Status; got != DomainUnknown {
		t.Errorf("status by a silent peer = %s, want UNKNOWN", got)
	}
}

func TestBoardDocumentIsCachedUntilSomethingChanges(t *testing.T) {
	t.Parallel()
	b, now, _ := newBoard(testInventory())
	first := b.Document(KindGateway)
	b.Tick()
	if second := b.Document(KindGateway); &second.JSON[0] != &first.JSON[0] || second.ETag != first.ETag {
		t.Error("the document was encoded again though nothing changed")
	}
	b.Observe(Observation{Kind: KindGateway, ID: "g1", At: *now, Reading: GatewayBeat{Version: "23.12"}})
	if changed := b.Document(KindGateway); changed.ETag == first.ETag || bytes.Equal(changed.JSON, first.JSON) {
		t.Error("the document did not change with the gateway")
	}
}

func TestBoardIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	b := NewBoard(time.Now)
	inv := testInventory()
	b.Configure(inv)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 200 {
				switch i % 4 {
				case 0:
					b.Observe(Observation{Kind: KindRDSServer, ID: "r1", At: time.Now(), Reading: AgentBeat{SessionCount: n}})
				case 1:
					b.Configure(inv)
				case 2:
					b.Tick()
				default:
					if !json.Valid(b.Document(KindRDSServer).JSON) {
						t.Error("a document is not JSON")
					}
				}
			}
		})
	}
	wg.Wait()
}
