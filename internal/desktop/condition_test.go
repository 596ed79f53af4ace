package desktop

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func observeServer(b *Board, at time.Time, services ...Service) {
	b.Observe(Observation{Kind: KindConnectionServer, ID: "c2", At: at, Reading: ConnectionServerReading{
		Health: PeerHealth{Version: "1"}, Services: services,
	}})
}

func TestStatusOfAnAbsentPartIsKept(t *testing.T) {
	t.Parallel()
	b, now, changes := newBoard(testInventory())
	observeServer(b, *now, Service{ServiceBlast, ServiceDown})
	for range 2 {
		*now = now.Add(time.Minute)
		b.Observe(Observation{Kind: KindConnectionServer, ID: "c2", At: *now, Failure: &Failure{Cause: Unreachable, Reason: "gone"}})
	}
	*now = now.Add(time.Minute)
	observeServer(b, *now, Service{ServiceBlast, ServiceUp})
	var got []string
	for _, c := range *changes {
		if c.Part == "service BLAST_SECURE_GATEWAY" {
			got = append(got, c.From+">"+c.To)
		}
	}
	if diff := cmp.Diff([]string{"DOWN>UP"}, got); diff != "" {
		t.Errorf("changes of the service (-want +got):\n%s", diff)
	}
}

// TestDatastoresWithTheSameName covers two datacenters, each with a datastore that has the usual name.
func TestDatastoresWithTheSameName(t *testing.T) {
	t.Parallel()
	inv := testInventory()
	inv.VirtualCenters[0].Enabled = true
	inv.ConnectionServers = inv.ConnectionServers[:1]
	b, now, changes := newBoard(inv)
	read := func(second DatastoreStatus) {
		*now = now.Add(time.Minute)
		b.Observe(Observation{Kind: KindVirtualCenter, ID: "v1", At: *now, Reading: VirtualCenterReading{Datastores: []Datastore{
			{Details: DatastoreDetails{Name: "local", Path: "/A/local"}, Status: DatastoreAccessible},
			{Details: DatastoreDetails{Name: "local", Path: "/B/local"}, Status: second},
			{Details: DatastoreDetails{Name: "other", Path: "/B/other"}, Status: DatastoreAccessible},
		}}})
	}
	read(DatastoreAccessible)
	*changes = nil
	read(DatastoreNotAccessible)
	for range 3 {
		b.Tick()
	}
	want := []string{"vc OK>WARNING", "vc datastore /B/local ACCESSIBLE>NOT_ACCESSIBLE"}
	if diff := cmp.Diff(want, inWords(*changes)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	m := b.Records(KindVirtualCenter)[0].(VirtualCenterMonitor)
	if diff := cmp.Diff([]string{"the datastore /B/local is not accessible"}, m.Reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/A/local", "/B/local", "other"}, m.DatastoreNames()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

func TestRecordHasTheTimeOfItsStatus(t *testing.T) {
	t.Parallel()
	b, now, _ := newBoard(testInventory())
	gateway := func() GatewayMonitor { return b.Records(KindGateway)[0].(GatewayMonitor) }
	if got := gateway(); got.Health != HealthUnknown || got.LastUpdated != 0 {
		t.Errorf("before the first report: %+v", got.Condition)
	}
	start := *now
	b.Observe(Observation{Kind: KindGateway, ID: "g1", At: *now, Reading: GatewayBeat{}})
	*now = now.Add(30 * time.Second)
	b.Observe(Observation{Kind: KindGateway, ID: "g1", At: *now, Reading: GatewayBeat{BlastConnections: 3}})
	if got := gateway(); got.Health != HealthOK || got.Since != MillisOf(start) {
		t.Errorf("after two reports: %+v, want OK since %d", got.Condition, MillisOf(start))
	}
	*now = now.Add(time.Hour)
	b.Tick()
	if got := gateway(); got.Health != HealthUnknown || got.Status != GatewayStale || got.Since != MillisOf(*now) {
		t.Errorf("after an hour of silence: %+v", got.Condition)
	}
}

func TestRestartIsNotAChange(t *testing.T) {
	t.Parallel()
	now := noon
	b := NewBoard(func() time.Time { return now })
	var changes []Change
	b.Listen(func(c []Change) { changes = append(changes, c...) })
	before := noon.Add(-48 * time.Hour)
	b.RestoreStatuses([]LastStatus{
		{KindDomain, "d1", "", "OK", before}, {KindDomain, "d1", "cs1", "FULLY_ACCESSIBLE", before},
		{KindGateway, "g1", "", "PROBLEM", before},
	})
	b.Configure(testInventory())
	b.Tick()
	b.Observe(Observation{Kind: KindDomain, ID: "d1", At: now, Reading: DomainReading{SID: "S-1"}})
	b.Observe(Observation{Kind: KindGateway, ID: "g1", At: now, Reading: GatewayBeat{}})
	if got := b.Records(KindDomain)[0].Fresh(); got.Since != MillisOf(before) || got.Parts[0].Since != MillisOf(before) {
		t.Errorf("condition = %+v, want since %d", got.Condition, MillisOf(before))
	}
	var got []string
	for _, c := range changes {
		if c.Ref.ID == "d1" || c.Ref.ID == "g1" {
			got = append(got, string(c.Ref.ID)+c.Part+" "+c.From+">"+c.To)
		}
	}
	if diff := cmp.Diff([]string{"g1 PROBLEM>OK"}, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestStatusBeforeTheFirstCheckIsUnknown covers single sign-on and pods, whose own statuses have no word for it.
func TestStatusBeforeTheFirstCheckIsUnknown(t *testing.T) {
	t.Parallel()
	b, now, changes := newBoard(testInventory())
	b.Tick()
	for _, k := range []Kind{KindSSOConnector, KindPod} {
		for _, p := range b.Records(k)[0].Fresh().Parts {
			if p.Health != HealthUnknown {
				t.Errorf("%s: the health of %q is %s before the first check", k, p.Name, p.Health)
			}
		}
	}
	if len(*changes) != 0 {
		t.Errorf("changes before the first check: %+v", *changes)
	}
	b.Observe(Observation{Kind: KindSSOConnector, ID: "t1", At: *now, Reading: SSOReading{Domain: SSOPart{Status: SSOOK}}})
	for _, c := range *changes {
		if c.Ref.ID == "t1" && c.Part == "domain" && c.From == "UNKNOWN" && c.To == "OK" {
			return
		}
	}
	t.Errorf("changes at the first check = %+v, want the domain from UNKNOWN to OK", *changes)
}

// TestListsAreNeverAbsent covers components that are down or not checked yet.
func TestListsAreNeverAbsent(t *testing.T) {
	t.Parallel()
	b, now, _ := newBoard(testInventory())
	check := func(what string) {
		t.Helper()
		for _, k := range Kinds() {
			for _, r := range b.Records(k) {
				for _, path := range nullLists(t, r) {
					t.Errorf("%s: %s has no list %s", what, k, path)
				}
			}
		}
	}
	check("unseen")
	for _, o := range []Observation{
		{Kind: KindConnectionServer, ID: "c1", Reading: ConnectionServerReading{}},
		{Kind: KindVirtualCenter, ID: "v1", Reading: VirtualCenterReading{Hosts: []Host{{}}, Datastores: []Datastore{{}}}},
		{Kind: KindSSOConnector, ID: "t1", Reading: SSOReading{}},
		{Kind: KindComposer, ID: "m1", Reading: ComposerReading{}},
		{Kind: KindPodEndpoint, ID: "p1e1", Reading: PodReading{}},
	} {
		o.At = *now
		b.Observe(o)
	}
	check("read")
	for _, o := range []Observation{
		{Kind: KindConnectionServer, ID: "c1"}, {Kind: KindVirtualCenter, ID: "v1"}, {Kind: KindSSOConnector, ID: "t1"},
		{Kind: KindComposer, ID: "m1"}, {Kind: KindPodEndpoint, ID: "p1e1"},
	} {
		for range 6 {
			*now = now.Add(time.Minute)
			o.At, o.Failure = *now, &Failure{Cause: Unreachable, Reason: "gone"}
			b.Observe(o)
		}
	}
	check("down")
	for _, info := range b.VirtualCenters() {
		for _, path := range nullLists(t, info) {
			t.Errorf("the configuration of a virtual center has no list %s", path)
		}
	}
}

// nullLists returns the paths of the lists that are null when a value is encoded: every null is
// a list, because other values are omitted. For a connection server it also returns missing lists.
func nullLists(t *testing.T, v any) []string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	var out []string
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case nil:
			out = append(out, path)
		case []any:
			for _, element := range v {
				walk(path+"[]", element)
			}
		case map[string]any:
			for name, member := range v {
				walk(strings.TrimPrefix(path+"."+name, "."), member)
			}
		}
	}
	walk("", tree)
	if m, ok := v.(ConnectionServerMonitor); ok {
		for _, name := range []string{"services", "session_protocol_data", "cs_replications", "parts", "reasons"} {
			if _, ok := tree.(map[string]any)[name]; !ok {
				out = append(out, name+" of "+m.Name)
			}
		}
	}
	return out
}
