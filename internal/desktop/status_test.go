package desktop

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	policy = DefaultPolicy()
	noon   = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
)

// after returns the snapshot after a sequence of attempts, ten seconds apart,
// the last of them at noon.
func after[R Reading](attempts ...any) Snapshot[R] {
	var s Snapshot[R]
	for i, a := range attempts {
		o := Observation{At: noon.Add(time.Duration(i-len(attempts)+1) * 10 * time.Second)}
		switch a := a.(type) {
		case R:
			o.Reading = a
		case Cause:
			o.Failure = &Failure{Cause: a, Reason: "because " + string(a)}
		}
		s = s.With(o)
	}
	return s
}

func TestStatusOfDomain(t *testing.T) {
	t.Parallel()
	good := DomainReading{}
	for _, tt := range []struct {
		name string
		snap Snapshot[DomainReading]
		want DomainStatus
	}{
		{"not checked yet", after[DomainReading](), DomainUnknown},
		{"a controller accepts the bind", after[DomainReading](good), DomainFullyAccessible},
		{"no controller answers", after[DomainReading](Unreachable), DomainUncontactable},
		{"the bind is refused", after[DomainReading](Refused), DomainCannotBind},
		{"the certificate is not trusted", after[DomainReading](Untrusted), DomainCannotBind},
		{"one failure is tolerated", after[DomainReading](good, Unreachable), DomainFullyAccessible},
		{"two failures are not", after[DomainReading](good, Unreachable, Unreachable), DomainUncontactable},
		{"one success recovers it", after[DomainReading](good, Unreachable, Unreachable, good), DomainFullyAccessible},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := policy.DomainView(Domain{}, tt.snap, nil).Status; got != string(tt.want) {
				t.Errorf("status = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestRelationship(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		domain Domain
		trust  *TrustedDomain
		want   TrustRelationship
	}{
		{"the broker's domain", Domain{Primary: true}, nil, TrustPrimaryDomain},
		{"manual, without a trust", Domain{Manual: true}, nil, TrustManual},
		{"manual, with a trust", Domain{Manual: true}, &TrustedDomain{Direction: 3}, TrustTwoWay},
		{"without a trust", Domain{}, nil, TrustUnknown},
		{"both ways in one forest", Domain{}, &TrustedDomain{Direction: 3, Attributes: 0x20}, TrustTwoWayForest},
		{"both ways to another forest", Domain{}, &TrustedDomain{Direction: 3, Attributes: 0x8}, TrustTwoWay},
		{"outbound: the broker's domain trusts it", Domain{}, &TrustedDomain{Direction: 2}, TrustFromBroker},
		{"inbound: it trusts the broker's domain", Domain{}, &TrustedDomain{Direction: 1}, TrustToBroker},
		{"a disabled trust", Domain{}, &TrustedDomain{Direction: 0}, TrustUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Relationship(tt.domain, tt.trust); got != tt.want {
				t.Errorf("Relationship = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestStatusOfConnectionServer(t *testing.T) {
	t.Parallel()
	type reading = ConnectionServerReading
	good := reading{Health: PeerHealth{Revision: Revision{Store: "a", Number: 7, At: MillisOf(noon)}}}
	other := Peer{ConnectionServer{ID: "2", Name: "cs2"}, after[reading](good)}
	behind := reading{Health: PeerHealth{Revision: Revision{Store: "a", Number: 6, At: MillisOf(noon.Add(-time.Hour))}}}
	ahead := reading{Health: PeerHealth{Revision: Revision{Store: "a", Number: 8, At: MillisOf(noon.Add(-time.Hour))}}}
	for _, tt := range []struct {
		name    string
		snap    Snapshot[reading]
		want    ConnectionServerStatus
		reasons []string
	}{
		{"not checked yet", after[reading](), ConnectionServerUnknown, []string{"not checked yet"}},
		{"it answers without problems", after[reading](good), ConnectionServerOK, []string{}},
		{"it does not answer", after[reading](Unreachable), ConnectionServerNotResponding, []string{"because UNREACHABLE"}},
		{"it gives an unexpected answer", after[reading](Broken), ConnectionServerError, []string{"because BROKEN"}},
		{"it complains", after[reading](reading{Health: PeerHealth{Problems: []string{"disk full"}, Revision: good.Health.Revision}}),
			ConnectionServerError, []string{"disk full"}},
		{"a secure gateway is down", after[reading](reading{Health: good.Health, Services: []Service{{ServiceBlast, ServiceDown}}}),
			ConnectionServerError, []string{"BLAST_SECURE_GATEWAY is down"}},
		{"it lags within the grace", after[reading](behind), ConnectionServerOK, []string{}},
		{"a peer lags beyond the grace", after[reading](ahead), ConnectionServerOK, []string{"replication with cs2 lags: cs2 is behind"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			me := Peer{ConnectionServer{ID: "1", Name: "cs1"}, tt.snap}
			got := policy.ConnectionServerRecord(me, []Peer{me, other}, noon)
			if got.Status != tt.want || !cmp.Equal(got.Reasons, tt.reasons) {
				t.Errorf("status = %s %q, want %s %q", got.Status, got.Reasons, tt.want, tt.reasons)
			}
		})
	}
}

func TestReplication(t *testing.T) {
	t.Parallel()
	at := func(n int64, ago time.Duration) Revision { return Revision{"a", n, MillisOf(noon.Add(-ago))} }
	for _, tt := range []struct {
		name string
		a, b Revision
		want ReplicationStatus
	}{
		{"equal revisions", at(5, time.Hour), at(5, time.Minute), ReplicationOK},
		{"the peer lags a little", at(6, time.Second), at(5, time.Hour), ReplicationOK},
		{"the peer lags for long", at(6, time.Hour), at(5, 2*time.Hour), ReplicationError},
		{"this server lags for long", at(5, 2*time.Hour), at(6, time.Hour), ReplicationError},
		{"the stores differ", at(5, 0), Revision{"b", 5, MillisOf(noon)}, ReplicationError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := ReplicationOf(tt.a, tt.b, noon, time.Minute); got != tt.want {
				t.Errorf("ReplicationOf = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestStatusOfEventDatabase(t *testing.T) {
	t.Parallel()
	type reading = EventDatabaseReading
	good, db := reading{EventCount: 4711}, &EventDatabase{Server: "db"}
	for _, tt := range []struct {
		name string
		db   *EventDatabase
		snap Snapshot[reading]
		want EventDatabaseStatus
	}{
		{"none is configured", nil, after[reading](), EventDatabaseNotConfigured},
		{"no attempt has finished", db, after[reading](), EventDatabaseConnecting},
		{"the first attempts find nothing", db, after[reading](Unreachable, Unreachable), EventDatabaseConnecting},
		{"it answers", db, after[reading](good), EventDatabaseConnected},
		{"it is lost", db, after[reading](good, Unreachable), EventDatabaseReconnecting},
		{"it stays lost", db, after[reading](good, Unreachable, Unreachable, Unreachable, Unreachable, Unreachable), EventDatabaseDisconnected},
		{"it was never connected", db, after[reading](Unreachable, Unreachable, Unreachable, Unreachable, Unreachable), EventDatabaseDisconnected},
		{"it refuses our password", db, after[reading](good, Refused), EventDatabaseError},
		{"its tables are missing", db, after[reading](Broken), EventDatabaseError},
		{"it comes back", db, after[reading](good, Unreachable, good), EventDatabaseConnected},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := policy.EventDatabaseRecord(tt.db, tt.snap, noon); got.Status != tt.want {
				t.Errorf("status = %s, want %s", got.Status, tt.want)
			}
		})
	}
}

func TestStatusOfGateway(t *testing.T) {
	t.Parallel()
	type beat = GatewayBeat
	for _, tt := range []struct {
		name string
		snap Snapshot[beat]
		now  time.Time
		want GatewayStatus
	}{
		{"it never reported", after[beat](), noon, GatewayNotContacted},
		{"it reports", after[beat](beat{}), noon, GatewayOK},
		{"it missed one interval", after[beat](beat{}), noon.Add(45 * time.Second), GatewayOK},
		{"exactly two intervals passed", after[beat](beat{}), noon.Add(60 * time.Second), GatewayOK},
		{"more than two intervals passed", after[beat](beat{}), noon.Add(61 * time.Second), GatewayStale},
		{"it reports a problem", after[beat](beat{Problems: []string{"blast is quiesced"}}), noon, GatewayProblem},
		{"a reported problem becomes stale", after[beat](beat{Problems: []string{"x"}}), noon.Add(time.Hour), GatewayStale},
		{"it comes back", after[beat](beat{Problems: []string{"x"}}, beat{}), noon, GatewayOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := policy.StatusOfGateway(tt.snap, tt.now); got != tt.want {
				t.Errorf("StatusOfGateway = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestGatewayConnectionsAddUp(t *testing.T) {
	t.Parallel()
	m := policy.GatewayRecord(Gateway{}, after[GatewayBeat](GatewayBeat{BlastConnections: 3, PCoIPConnections: 4}), noon)
	if *m.ActiveConnections != 7 || *m.BlastConnections != 3 || *m.PCoIPConnections != 4 {
		t.Errorf("connections = %d (%d blast, %d pcoip), want 7 (3, 4)", *m.ActiveConnections, *m.BlastConnections, *m.PCoIPConnections)
	}
}

func TestStatusOfPodEndpoint(t *testing.T) {
	t.Parallel()
	type reading = PodReading
	good := reading{}
	for _, tt := range []struct {
		name string
		snap Snapshot[reading]
		want PodEndpointStatus
	}{
		{"not checked yet", after[reading](), PodEndpointOffline},
		{"it does not answer", after[reading](Unreachable), PodEndpointOffline},
		{"it answers for the first time", after[reading](Unreachable, good), PodEndpointUnchecked},
		{"it answers again", after[reading](Unreachable, good, good), PodEndpointOnline},
		{"one failure is tolerated", after[reading](good, good, Unreachable), PodEndpointOnline},
		{"recovery from one failure needs no second check", after[reading](good, good, Unreachable, good), PodEndpointOnline},
		{"two failures are not tolerated", after[reading](good, good, Unreachable, Unreachable), PodEndpointOffline},
		{"recovery from two failures needs a second check", after[reading](good, good, Unreachable, Unreachable, good), PodEndpointUnchecked},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := policy.StatusOfPodEndpoint(tt.snap); got != tt.want {
				t.Errorf("StatusOfPodEndpoint = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestStatusOfComposer(t *testing.T) {
	t.Parallel()
	type reading = ComposerReading
	for _, tt := range []struct {
		name string
		snap Snapshot[reading]
		want ComposerStatus
	}{
		{"not checked yet", after[reading](), ""},
		{"it answers", after[reading](reading{}), ComposerOK},
		{"its address is malformed", after[reading](Malformed), ComposerMalformedURL},
		{"its certificate is not trusted", after[reading](Untrusted), ComposerCertError},
		{"it does not answer", after[reading](Unreachable), ComposerError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := policy.ComposerView(Composer{}, tt.snap).Status; got != string(tt.want) {
				t.Errorf("status = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestStatusOfVirtualCenter(t *testing.T) {
	t.Parallel()
	type reading = VirtualCenterReading
	good := reading{}
	for _, tt := range []struct {
		name string
		snap Snapshot[reading]
		want VirtualCenterStatus
	}{
		{"not checked yet", after[reading](), VirtualCenterNotYetConnected},
		{"it answers", after[reading](good), VirtualCenterOK},
		{"one failure is tolerated", after[reading](good, Unreachable), VirtualCenterOK},
		{"it is lost", after[reading](good, Unreachable, Unreachable), VirtualCenterReconnecting},
		{"it stays lost", after[reading](good, Unreachable, Unreachable, Unreachable, Unreachable, Unreachable), VirtualCenterDown},
		{"it was never connected", after[reading](Unreachable), VirtualCenterDown},
		{"its certificate is not trusted", after[reading](Untrusted), VirtualCenterDown},
		{"it refuses our password", after[reading](Refused), VirtualCenterInvalidCredentials},
		{"it denies access after login", after[reading](Denied), VirtualCenterCannotLogin},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := policy.VirtualCenterView(VirtualCenter{}, tt.snap).Status; got != string(tt.want) {
				t.Errorf("status = %s, want %s", got, tt.want)
			}
		})
	}
	if got := policy.VirtualCenterRecord(VirtualCenter{}, after[reading](), []ServerView{{ServerName: "cs2"}}, noon).Servers[0].Status; got != VirtualCenterUnknown {
		t.Errorf("status of a peer without a view = %s, want %s", got, VirtualCenterUnknown)
	}
}
