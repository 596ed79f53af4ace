package desktop

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// restart returns a board that starts at noon, after a board with the given changes ended.
// The agents had their last beats an hour before.
func restart(inv Inventory, before []Change) (b *Board, now *time.Time, changes *[]Change) {
	clock := noon
	b = NewBoard(func() time.Time { return clock })
	now, changes = &clock, new([]Change)
	b.Listen(func(c []Change) { *changes = append(*changes, c...) })
	var last []LastStatus
	for _, c := range before {
		last = append(last, LastStatus{c.Ref.Kind, c.Ref.ID, c.Part, c.To, c.At})
	}
	b.RestoreStatuses(last)
	b.Configure(inv)
	anHourAgo := noon.Add(-time.Hour)
	b.Observe(Observation{Kind: KindGateway, ID: "g1", At: anHourAgo, Reading: GatewayBeat{Version: "8.1", BlastConnections: 3}})
	b.Observe(Observation{Kind: KindRDSServer, ID: "r1", At: anHourAgo, Reading: AgentBeat{AgentVersion: "8.1", SessionCount: 3}})
	return b, now, changes
}

// ran returns the changes of a board that ran for 40 seconds, three hours before noon.
func ran(inv Inventory, observe func(b *Board, at time.Time)) []Change {
	clock := noon.Add(-3 * time.Hour)
	b := NewBoard(func() time.Time { return clock })
	var changes []Change
	b.Listen(func(c []Change) { changes = append(changes, c...) })
	b.Configure(inv)
	for range 8 {
		clock = clock.Add(5 * time.Second)
		observe(b, clock)
	}
	return changes
}

func inWords(changes []Change) (out []string) {
	for _, c := range changes {
		text := c.Ref.Name
		if c.Part != "" {
			text += " " + c.Part
		}
		out = append(out, text+" "+c.From+">"+c.To)
	}
	return out
}

func beats(b *Board, at time.Time) {
	b.Observe(Observation{Kind: KindGateway, ID: "g1", At: at, Reading: GatewayBeat{}})
	b.Observe(Observation{Kind: KindRDSServer, ID: "r1", At: at, Reading: AgentBeat{}})
}

// TestSilenceCountsFromTheStart covers agents that could not report while the server was down.
func TestSilenceCountsFromTheStart(t *testing.T) {
	t.Parallel()
	inv := testInventory()
	b, now, changes := restart(inv, ran(inv, beats))
	grace := 2 * inv.Policy.GatewayInterval
	for *now = noon; !now.After(noon.Add(grace)); *now = now.Add(2 * time.Second) {
		b.Tick()
		gateway := b.Records(KindGateway)[0].(GatewayMonitor)
		if gateway.Status != GatewayNotContacted || gateway.Health != HealthUnknown || gateway.Details.Version != "8.1" || gateway.BlastConnections != nil {
			t.Fatalf("%s after the start, the gateway is %s (%s): %+v", now.Sub(noon), gateway.Status, gateway.Health, gateway)
		}
		host := b.Records(KindRDSServer)[0].(RDSServerMonitor)
		if host.Details.State != RDSWaitForAgent || host.Health != HealthUnknown || host.SessionCount != nil {
			t.Fatalf("%s after the start, the server is %s (%s): %+v", now.Sub(noon), host.Details.State, host.Health, host)
		}
		if farm := b.Records(KindFarm)[0].(FarmMonitor); farm.Status != FarmWarning || farm.Health != HealthUnknown {
			t.Fatalf("%s after the start, the farm is %s (%s)", now.Sub(noon), farm.Status, farm.Health)
		}
		for _, r := range []Record{gateway, host} {
			if f := r.Fresh(); f.LastUpdated != MillisOf(noon.Add(-time.Hour)) || len(f.Reasons) != 1 {
				t.Fatalf("%s: last updated %d, %q", r.Ref().Name, f.LastUpdated, f.Reasons)
			}
		}
	}
	if got := inWords(*changes); len(got) != 0 {
		t.Errorf("changes before the agents had their chance: %q", got)
	}
	b.Tick()
	want := []string{"gw OK>STALE", "rds1 OK>ERROR", "rds1 state AVAILABLE>AGENT_UNREACHABLE", "farm OK>ERROR"}
	if diff := cmp.Diff(want, inWords(*changes)); diff != "" {
		t.Errorf("changes after that (-want +got):\n%s", diff)
	}
}

func TestAgentsThatReportAfterARestartChangeNothing(t *testing.T) {
	t.Parallel()
	inv := testInventory()
	b, now, changes := restart(inv, ran(inv, beats))
	for *now = noon; now.Before(noon.Add(5 * time.Minute)); *now = now.Add(25 * time.Second) {
		b.Tick()
		if now.After(noon) {
			beats(b, *now)
		}
	}
	if got := inWords(*changes); len(got) != 0 {
		t.Errorf("changes = %q, want none", got)
	}
	if got := b.Records(KindGateway)[0].(GatewayMonitor); got.Status != GatewayOK || got.Since == 0 || got.Since >= MillisOf(noon) {
		t.Errorf("the gateway is %s since %d", got.Status, got.Since)
	}
}

func TestAgentsThatWereSilentBeforeARestartStaySilent(t *testing.T) {
	t.Parallel()
	inv := testInventory()
	since := noon.Add(-2 * time.Hour)
	b, now, changes := restart(inv, []Change{
		{At: since, Ref: Ref{KindGateway, "g1", "gw"}, To: "STALE"},
		{At: since, Ref: Ref{KindRDSServer, "r1", "rds1"}, To: "ERROR"},
		{At: since, Ref: Ref{KindRDSServer, "r1", "rds1"}, Part: "state", To: "AGENT_UNREACHABLE"},
		{At: since, Ref: Ref{KindFarm, "f1", "farm"}, To: "ERROR"},
	})
	for *now = noon; now.Before(noon.Add(5 * time.Minute)); *now = now.Add(10 * time.Second) {
		b.Tick()
	}
	if got := inWords(*changes); len(got) != 0 {
		t.Errorf("changes = %q, want none", got)
	}
	if got := b.Records(KindGateway)[0].(GatewayMonitor); got.Status != GatewayStale || got.Since != MillisOf(since) {
		t.Errorf("the gateway is %s since %d", got.Status, got.Since)
	}
}

// TestFarmWaitsForItsServers restarts the board of a farm that is in error, because two of its three servers are. They report
// again one after the other, the healthy one first: the farm does not change in between.
func TestFarmWaitsForItsServers(t *testing.T) {
	t.Parallel()
	inv := testInventory()
	inv.RDSServers = append(inv.RDSServers, RDSServer{ID: "r2", Name: "rds2", FarmID: "f1", Enabled: true}, RDSServer{ID: "r3", Name: "rds3", FarmID: "f1", Enabled: true})
	report := func(b *Board, at time.Time, states map[ID]RDSState) {
		for _, r := range inv.RDSServers {
			if s, ok := states[r.ID]; ok {
				b.Observe(Observation{Kind: KindRDSServer, ID: r.ID, At: at, Reading: AgentBeat{State: s}})
			}
		}
	}
	all := map[ID]RDSState{"r1": RDSDomainFailure, "r2": RDSDomainFailure, "r3": RDSAvailable}
	b, now, changes := restart(inv, ran(inv, func(b *Board, at time.Time) { report(b, at, all) }))
	for _, id := range []ID{"r2", "r3"} {
		b.Observe(Observation{Kind: KindRDSServer, ID: id, At: noon.Add(-time.Hour), Reading: AgentBeat{}})
	}
	for _, id := range []ID{"r3", "r1", "r2"} {
		*now = now.Add(10 * time.Second)
		report(b, *now, map[ID]RDSState{id: all[id]})
	}
	if got := inWords(*changes); len(got) != 0 {
		t.Errorf("changes = %q, want none", got)
	}
	farm := b.Records(KindFarm)[0].(FarmMonitor)
	if farm.Status != FarmError || !slices.Contains(farm.Reasons, "errors on 2 of 3 enabled servers") {
		t.Errorf("the farm is %s: %q", farm.Status, farm.Reasons)
	}
}

// TestRestartWithoutAnyFailureChangesNothing observes each component three times after a restart, in the state that it had
// before. Some are down before and after.
func TestRestartWithoutAnyFailureChangesNothing(t *testing.T) {
	t.Parallel()
	inv := testInventory()
	inv.Pods[0].Endpoints = append(inv.Pods[0].Endpoints, PodEndpoint{ID: "p1e2", Name: "farther", Enabled: true})
	inv.VirtualCenters[0].Enabled = true
	down := &Failure{Cause: Unreachable, Reason: "no answer"}
	views := []View{
		{Kind: KindDomain, ID: "d1", Status: "FULLY_ACCESSIBLE"}, {Kind: KindDomain, ID: "d2", Status: "CANNOT_BIND"},
		{Kind: KindSAMLAuthenticator, ID: "s1", Status: "OK"}, {Kind: KindComposer, ID: "m1", Status: "OK"},
		{Kind: KindVirtualCenter, ID: "v1", Status: "OK"},
	}
	part := SSOPart{Status: SSOOK}
	all := []Observation{
		{Kind: KindConnectionServer, ID: "c2", Reading: ConnectionServerReading{Health: PeerHealth{Views: views}}},
		{Kind: KindConnectionServer, ID: "c1", Reading: ConnectionServerReading{}},
		{Kind: KindDomain, ID: "d1", Reading: DomainReading{}},
		{Kind: KindDomain, ID: "d2", Reading: DomainReading{}},
		{Kind: KindEventDatabase, ID: "e1", Reading: EventDatabaseReading{}},
		{Kind: KindGateway, ID: "g1", Reading: GatewayBeat{}},
		{Kind: KindRDSServer, ID: "r1", Reading: AgentBeat{}},
		{Kind: KindSAMLAuthenticator, ID: "s1", Reading: SAMLReading{Signing: certificateUntil(1000 * time.Hour)}},
		{Kind: KindPodEndpoint, ID: "p1e1", Reading: PodReading{}},
		{Kind: KindPodEndpoint, ID: "p1e2", Failure: down},
		{Kind: KindSSOConnector, ID: "t1", Reading: SSOReading{part, part, part, part, []SSOPart{part}}},
		{Kind: KindComposer, ID: "m1", Failure: down},
		{Kind: KindVirtualCenter, ID: "v1", Reading: VirtualCenterReading{Hosts: []Host{{Details: HostDetails{Name: "esx1"}, Status: HostDisconnected}}}},
	}
	before := ran(inv, func(b *Board, at time.Time) {
		for _, o := range all {
			o.At = at
			b.Observe(o)
		}
	})
	for _, backwards := range []bool{false, true} {
		b, now, changes := restart(inv, before)
		order := slices.Clone(all)
		if backwards {
			slices.Reverse(order)
		}
		for range 3 {
			for _, o := range order {
				*now = now.Add(time.Second)
				o.At = *now
				b.Tick()
				b.Observe(o)
			}
		}
		if got := inWords(*changes); len(got) != 0 {
			t.Errorf("changes = %q, want none", got)
		}
	}
}

// TestPodThatIsBackAfterARestartIsAChange covers an endpoint that was down before the restart.
func TestPodThatIsBackAfterARestartIsAChange(t *testing.T) {
	t.Parallel()
	since := noon.Add(-2 * time.Hour)
	pod := Ref{KindPod, "p1", "pod"}
	b, now, changes := restart(testInventory(), []Change{{At: since, Ref: pod, To: "ERROR"}, {At: since, Ref: pod, Part: "far", To: "OFFLINE"}})
	for range 3 {
		*now = now.Add(time.Second)
		b.Observe(Observation{Kind: KindPodEndpoint, ID: "p1e1", At: *now, Reading: PodReading{}})
	}
	if diff := cmp.Diff([]string{"pod ERROR>OK", "pod far OFFLINE>ONLINE"}, inWords(*changes)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestRestartOfAPeerIsNotAChange covers a peer that reports errors, starts again, and reports the same errors. In between,
// its views are not based on a check.
func TestRestartOfAPeerIsNotAChange(t *testing.T) {
	t.Parallel()
	inv := testInventory()
	inv.VirtualCenters[0].Enabled = true
	b, now, changes := newBoard(inv)
	peer, _, _ := newBoard(inv)
	unchecked := peer.Views()
	kinds := map[Kind]ID{KindDomain: "d1", KindSAMLAuthenticator: "s1", KindComposer: "m1", KindVirtualCenter: "v1"}
	for k, id := range kinds {
		peer.Observe(Observation{Kind: k, ID: id, At: *now, Failure: &Failure{Cause: Unreachable, Reason: "no answer"}})
	}
	observe := func(views []View) {
		*now = now.Add(time.Second)
		b.Observe(Observation{Kind: KindConnectionServer, ID: "c2", At: *now, Reading: ConnectionServerReading{Health: PeerHealth{Views: views}}})
	}
	for _, o := range []Observation{
		{Kind: KindDomain, ID: "d1", Reading: DomainReading{}},
		{Kind: KindSAMLAuthenticator, ID: "s1", Reading: SAMLReading{Signing: certificateUntil(1000 * time.Hour)}},
		{Kind: KindComposer, ID: "m1", Reading: ComposerReading{}},
		{Kind: KindVirtualCenter, ID: "v1", Reading: VirtualCenterReading{}},
	} {
		o.At = *now
		b.Observe(o)
	}
	observe(peer.Views())
	*changes = nil
	for _, after := range []struct {
		views     []View
		unchecked bool
	}{{unchecked, true}, {peer.Views(), false}} {
		observe(after.views)
		for k := range kinds {
			r := b.Records(k)[0]
			for _, part := range []string{"", "cs2"} {
				if got := Unchecked(r, part); got != after.unchecked {
					t.Errorf("%s %q: unchecked = %t, want %t", r.Ref().Name, part, got, after.unchecked)
				}
			}
		}
	}
	if got := inWords(*changes); len(got) != 0 {
		t.Errorf("changes = %q, want none", got)
	}
}

// TestCenterThatAPeerDoesNotCheckRecovers covers a virtual center that the inventory of a peer disables: that peer will never
// have a view of it, so its status depends on the others alone.
func TestCenterThatAPeerDoesNotCheckRecovers(t *testing.T) {
	t.Parallel()
	inv := testInventory()
	peer, _, _ := newBoard(inv)
	inv.VirtualCenters = []VirtualCenter{{ID: "v1", Name: "vc", Enabled: true}}
	b, now, changes := newBoard(inv)
	observe := func(o Observation) {
		*now = now.Add(time.Second)
		o.At = *now
		b.Observe(o)
	}
	observe(Observation{Kind: KindConnectionServer, ID: "c2", Reading: ConnectionServerReading{Health: PeerHealth{Views: peer.Views()}}})
	*changes = nil
	observe(Observation{Kind: KindVirtualCenter, ID: "v1", Failure: &Failure{Cause: Unreachable, Reason: "no answer"}})
	observe(Observation{Kind: KindVirtualCenter, ID: "v1", Reading: VirtualCenterReading{}})
	want := []string{"vc UNKNOWN>ERROR", "vc cs1 NOT_YET_CONNECTED>DOWN", "vc ERROR>OK", "vc cs1 DOWN>OK"}
	if diff := cmp.Diff(want, inWords(*changes)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if r := b.Records(KindVirtualCenter)[0]; Unchecked(r, "") {
		t.Error("the center is unchecked after its check")
	}
}
