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

// snapshotAfter returns the snapshot after a sequence of attempts, ten seconds apart,
// the last of them at noon.
func snapshotAfter[R Reading](attempts ...any) Snapshot[R] {
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
	valid := DomainReading{}
	for _, tt := range []struct {
		name string
		snap Snapshot[DomainReading]
		want DomainStatus
	}{
		{"not checked yet", snapshotAfter[DomainReading](), DomainUnknown},
		{"a controller accepts the bind", snapshotAfter[DomainReading](valid), DomainFullyAccessible},
		{"no controller answers", snapshotAfter[DomainReading](Unreachable), DomainUncontactable},
		{"the bind is refused", snapshotAfter[DomainReading](Refused), DomainCannotBind},
		{"the certificate is not trusted", snapshotAfter[DomainReading](Untrusted), DomainCannotBind},
		{"one failure is tolerated", snapshotAfter[DomainReading](valid, Unreachable), DomainFullyAccessible},
		{"two failures are not", snapshotAfter[DomainReading](valid, Unreachable, Unreachable), DomainUncontactable},
		{"one success recovers it", snapshotAfter[DomainReading](valid, Unreachable, Unreachable, valid), DomainFullyAccessible},
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
	valid := reading{Health: PeerHealth{Revision: Revision{Store: "a", Number: 7, At: MillisOf(noon)}}}
	other := Peer{ConnectionServer{ID: "2", Name: "cs2"}, snapshotAfter[reading](valid)}
	// Revision 7 of cs2 is new: a server at revision 6 is within the grace. Revision 8 is an hour old: cs2 lacks it for too long.
	lagging := reading{Health: PeerHealth{Revision: Revision{Store: "a", Number: 6, At: MillisOf(noon.Add(-time.Hour))}}}
	ahead := reading{Health: PeerHealth{Revision: Revision{Store: "a", Number: 8, At: MillisOf(noon.Add(-time.Hour))}}}
	for _, tt := range []struct {
		name    string
		snap    Snapshot[reading]
		want    ConnectionServerStatus
		reasons []string
	}{
		{"not checked yet", snapshotAfter[reading](), ConnectionServerUnknown, []string{"not checked yet"}},
		{"it answers without problems", snapshotAfter[reading](valid), ConnectionServerOK, []string{}},
		{"it does not answer", snapshotAfter[reading](Unreachable), ConnectionServerNotResponding, []string{"because UNREACHABLE"}},
		{"it gives an unexpected answer", snapshotAfter[reading](Broken), ConnectionServerError, []string{"because BROKEN"}},
		{"it complains", snapshotAfter[reading](reading{Health: PeerHealth{Problems: []string{"disk full"}, Revision: valid.Health.Revision}}),
			ConnectionServerError, []string{"disk full"}},
		{"a secure gateway is down", snapshotAfter[reading](reading{Health: valid.Health, Services: []Service{{ServiceBlast, ServiceDown}}}),
			ConnectionServerError, []string{"the Blast Secure Gateway is down"}},
		{"it lags within the grace", snapshotAfter[reading](lagging), ConnectionServerOK, []string{}},
		{"a peer lags beyond the grace", snapshotAfter[reading](ahead), ConnectionServerOK, []string{"replication with cs2 lags: cs2 is behind"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			self := Peer{ConnectionServer{ID: "1", Name: "cs1"}, tt.snap}
			got := policy.ConnectionServerRecord(self, []Peer{self, other}, nil, noon)
			if got.Status != tt.want || !cmp.Equal(got.Reasons, tt.reasons) {
				t.Errorf("status = %s %q, want %s %q", got.Status, got.Reasons, tt.want, tt.reasons)
			}
		})
	}
}

func TestReplication(t *testing.T) {
	t.Parallel()
	revision := func(n int64, ago time.Duration) Revision { return Revision{"a", n, MillisOf(noon.Add(-ago))} }
	for _, tt := range []struct {
		name string
		a, b Revision
		want ReplicationStatus
	}{
		{"equal revisions", revision(5, time.Hour), revision(5, time.Minute), ReplicationOK},
		{"the peer lags a little", revision(6, time.Second), revision(5, time.Hour), ReplicationOK},
		{"the peer lags for long", revision(6, time.Hour), revision(5, 2*time.Hour), ReplicationError},
		{"this server lags for long", revision(5, 2*time.Hour), revision(6, time.Hour), ReplicationError},
		{"the stores differ", revision(5, 0), Revision{"b", 5, MillisOf(noon)}, ReplicationError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := policy.replicationOf(storeCopy{tt.a, noon}, storeCopy{tt.b, noon}, nil); got != tt.want {
				t.Errorf("replicationOf = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestStatusOfEventDatabase(t *testing.T) {
	t.Parallel()
	type reading = EventDatabaseReading
	valid, db := reading{EventCount: 4711}, &EventDatabase{Server: "db"}
	for _, tt := range []struct {
		name string
		db   *EventDatabase
		snap Snapshot[reading]
		want EventDatabaseStatus
	}{
		{"none is configured", nil, snapshotAfter[reading](), EventDatabaseNotConfigured},
		{"no attempt has finished", db, snapshotAfter[reading](), EventDatabaseConnecting},
		{"the first attempts find nothing", db, snapshotAfter[reading](Unreachable, Unreachable), EventDatabaseConnecting},
		{"it answers", db, snapshotAfter[reading](valid), EventDatabaseConnected},
		{"it is lost", db, snapshotAfter[reading](valid, Unreachable), EventDatabaseReconnecting},
		{"it stays lost", db, snapshotAfter[reading](valid, Unreachable, Unreachable, Unreachable, Unreachable, Unreachable), EventDatabaseDisconnected},
		{"it was never connected", db, snapshotAfter[reading](Unreachable, Unreachable, Unreachable, Unreachable, Unreachable), EventDatabaseDisconnected},
		{"it refuses our password", db, snapshotAfter[reading](valid, Refused), EventDatabaseError},
		{"its tables are missing", db, snapshotAfter[reading](Broken), EventDatabaseError},
		{"it comes back", db, snapshotAfter[reading](valid, Unreachable, valid), EventDatabaseConnected},
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
		{"it never reported", snapshotAfter[beat](), noon, GatewayNotContacted},
		{"it reports", snapshotAfter[beat](beat{}), noon, GatewayOK},
		{"it missed one interval", snapshotAfter[beat](beat{}), noon.Add(45 * time.Second), GatewayOK},
		{"exactly two intervals passed", snapshotAfter[beat](beat{}), noon.Add(60 * time.Second), GatewayOK},
		{"more than two intervals passed", snapshotAfter[beat](beat{}), noon.Add(61 * time.Second), GatewayStale},
		{"it reports a problem", snapshotAfter[beat](beat{Problems: []string{"blast is quiesced"}}), noon, GatewayProblem},
		{"a reported problem becomes stale", snapshotAfter[beat](beat{Problems: []string{"x"}}), noon.Add(time.Hour), GatewayStale},
		{"it comes back", snapshotAfter[beat](beat{Problems: []string{"x"}}, beat{}), noon, GatewayOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := policy.StatusOfGateway(tt.snap, time.Time{}, tt.now); got != tt.want {
				t.Errorf("StatusOfGateway = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestGatewayConnectionsAddUp(t *testing.T) {
	t.Parallel()
	m := policy.GatewayRecord(Gateway{}, snapshotAfter[GatewayBeat](GatewayBeat{BlastConnections: 3, PCoIPConnections: 4}), time.Time{}, noon)
	if *m.ActiveConnections != 7 || *m.BlastConnections != 3 || *m.PCoIPConnections != 4 {
		t.Errorf("connections = %d (%d blast, %d pcoip), want 7 (3, 4)", *m.ActiveConnections, *m.BlastConnections, *m.PCoIPConnections)
	}
}

func TestStatusOfPodEndpoint(t *testing.T) {
	t.Parallel()
	type reading = PodReading
	valid := reading{}
	for _, tt := range []struct {
		name string
		snap Snapshot[reading]
		want PodEndpointStatus
	}{
		{"not checked yet", snapshotAfter[reading](), PodEndpointOffline},
		{"it does not answer", snapshotAfter[reading](Unreachable), PodEndpointOffline},
		{"it answers for the first time", snapshotAfter[reading](Unreachable, valid), PodEndpointUnchecked},
		{"it answers again", snapshotAfter[reading](Unreachable, valid, valid), PodEndpointOnline},
		{"one failure is tolerated", snapshotAfter[reading](valid, valid, Unreachable), PodEndpointOnline},
		{"recovery from one failure needs no second check", snapshotAfter[reading](valid, valid, Unreachable, valid), PodEndpointOnline},
		{"two failures are not tolerated", snapshotAfter[reading](valid, valid, Unreachable, Unreachable), PodEndpointOffline},
		{"recovery from two failures needs a second check", snapshotAfter[reading](valid, valid, Unreachable, Unreachable, valid), PodEndpointUnchecked},
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
		{"not checked yet", snapshotAfter[reading](), ""},
		{"it answers", snapshotAfter[reading](reading{}), ComposerOK},
		{"its address is malformed", snapshotAfter[reading](Malformed), ComposerMalformedURL},
		{"its certificate is not trusted", snapshotAfter[reading](Untrusted), ComposerCertError},
		{"it does not answer", snapshotAfter[reading](Unreachable), ComposerError},
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
	valid := reading{}
	for _, tt := range []struct {
		name string
		snap Snapshot[reading]
		want VirtualCenterStatus
	}{
		{"not checked yet", snapshotAfter[reading](), VirtualCenterNotYetConnected},
		{"it answers", snapshotAfter[reading](valid), VirtualCenterOK},
		{"one failure is tolerated", snapshotAfter[reading](valid, Unreachable), VirtualCenterOK},
		{"it is lost", snapshotAfter[reading](valid, Unreachable, Unreachable), VirtualCenterReconnecting},
		{"it stays lost", snapshotAfter[reading](valid, Unreachable, Unreachable, Unreachable, Unreachable, Unreachable), VirtualCenterDown},
		{"it was never connected", snapshotAfter[reading](Unreachable), VirtualCenterDown},
		{"its certificate is not trusted", snapshotAfter[reading](Untrusted), VirtualCenterDown},
		{"it refuses our password", snapshotAfter[reading](Refused), VirtualCenterInvalidCredentials},
		{"it denies access after login", snapshotAfter[reading](Denied), VirtualCenterCannotLogin},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := policy.VirtualCenterView(VirtualCenter{}, tt.snap).Status; got != string(tt.want) {
				t.Errorf("status = %s, want %s", got, tt.want)
			}
		})
	}
	if got := policy.VirtualCenterRecord(VirtualCenter{}, snapshotAfter[reading](), []ServerView{{ServerName: "cs2"}}, noon).Servers[0].Status; got != VirtualCenterUnknown {
		t.Errorf("status of a peer without a view = %s, want %s", got, VirtualCenterUnknown)
	}
}
