package alert_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/alert"
)

// estate returns an inventory with a component of every kind that the conditions in this file name.
func estate() desktop.Inventory {
	return desktop.Inventory{
		Policy:            desktop.DefaultPolicy(),
		ConnectionServers: []desktop.ConnectionServer{{ID: "c1", Name: "cs1", Self: true}, {ID: "c2", Name: "cs2"}},
		Gateways:          []desktop.Gateway{{ID: "g1", Name: "edge"}},
		Farms:             []desktop.Farm{{ID: "f1", Name: "farm", Enabled: true}},
		RDSServers:        []desktop.RDSServer{{ID: "r1", Name: "rds1", FarmID: "f1", Enabled: true}},
		Domains:           []desktop.Domain{{ID: "d1", DNSName: "corp.example"}},
		Composers:         []desktop.Composer{{ID: "m1", Name: "composer"}},
		Pods:              []desktop.Pod{{ID: "p1", Name: "pod", Endpoints: []desktop.PodEndpoint{{ID: "p1e1", Name: "far", Enabled: true}}}},
		VirtualCenters:    []desktop.VirtualCenter{{ID: "v1", Name: "vc", Enabled: true}},
	}
}

// failing returns observations in which every component has a problem that some alert rule reports;
// well returns observations without problems.
func failing() []desktop.Observation { return observations(false) }
func well() []desktop.Observation    { return observations(true) }

func observations(ok bool) []desktop.Observation {
	pick := func(good, bad string) string {
		if ok {
			return good
		}
		return bad
	}
	peer := desktop.Observation{Kind: desktop.KindConnectionServer, ID: "c2", Failure: &desktop.Failure{Cause: desktop.Unreachable, Reason: "no answer"}}
	if ok {
		peer.Failure, peer.Reading = nil, desktop.ConnectionServerReading{Health: desktop.PeerHealth{Views: []desktop.View{
			{Kind: desktop.KindVirtualCenter, ID: "v1", Status: "OK"},
		}}}
	}
	pod := desktop.Observation{Kind: desktop.KindPodEndpoint, ID: "p1e1", Reading: desktop.PodReading{}}
	composer := desktop.Observation{Kind: desktop.KindComposer, ID: "m1", Reading: desktop.ComposerReading{}}
	domain := desktop.Observation{Kind: desktop.KindDomain, ID: "d1", Reading: desktop.DomainReading{}}
	if !ok {
		pod.Reading, pod.Failure = nil, peer.Failure
		composer.Reading, composer.Failure = nil, peer.Failure
		domain.Reading, domain.Failure = nil, peer.Failure
	}
	certificate := &desktop.Certificate{Valid: true, ValidTo: desktop.MillisOf(now.Add(1000 * 24 * time.Hour))}
	sessions, gatewayProblems := 3, []string(nil)
	if !ok {
		certificate.ValidTo, sessions, gatewayProblems = desktop.MillisOf(now.Add(24*time.Hour)), 90, []string{"disk full"}
	}
	return []desktop.Observation{
		{Kind: desktop.KindConnectionServer, ID: "c1", Reading: desktop.ConnectionServerReading{}, Certificate: certificate},
		peer, pod, composer, domain,
		{Kind: desktop.KindVirtualCenter, ID: "v1", Reading: desktop.VirtualCenterReading{Hosts: []desktop.Host{
			{Details: desktop.HostDetails{Name: "esx1"}, Status: desktop.HostStatus(pick("CONNECTED", "DISCONNECTED"))},
		}}},
		{Kind: desktop.KindRDSServer, ID: "r1", Reading: desktop.AgentBeat{State: desktop.RDSState(pick("AVAILABLE", "AGENT_ERR_DOMAIN_FAILURE")), SessionCount: sessions}},
		{Kind: desktop.KindGateway, ID: "g1", Reading: desktop.GatewayBeat{Problems: gatewayProblems}},
	}
}

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestOpenAlertWaitsForTheFirstCheckAfterARestart restarts the server while an alert of each condition is open, and then observes
// the components, which still fail, one by one in both orders. The alert neither ends nor fires again until all components are well.
func TestOpenAlertWaitsForTheFirstCheckAfterARestart(t *testing.T) {
	t.Parallel()
	status := func(k desktop.Kind, all ...string) alert.Condition {
		return alert.Condition{Type: alert.StatusIs, Kind: k, Statuses: all}
	}
	for name, c := range map[string]alert.Condition{
		"connection servers": status(desktop.KindConnectionServer, "NOT_RESPONDING"),
		"replication":        status(desktop.KindConnectionServer, "ERROR"),
		"domains":            status(desktop.KindDomain, "UNCONTACTABLE"),
		"the domain":         status(desktop.KindDomain, "ERROR"),
		"composers":          status(desktop.KindComposer, "ERROR"),
		"pods":               status(desktop.KindPod, "ERROR", "OFFLINE"),
		"hosts":              status(desktop.KindVirtualCenter, "DISCONNECTED"),
		"virtual centers":    status(desktop.KindVirtualCenter, "WARNING"),
		"agents":             status(desktop.KindRDSServer, "ERROR", "AGENT_ERR_DOMAIN_FAILURE"),
		"farms":              status(desktop.KindFarm, "ERROR"),
		"gateways":           status(desktop.KindGateway, "PROBLEM"),
		"certificates":       {Type: alert.CertificateExpires, Days: 7},
		"counts":             {Type: alert.CountIs, Kind: desktop.KindFarm, Measure: "session_count", Operator: alert.Above, Value: 50},
	} {
		for _, backwards := range []bool{false, true} {
			t.Run(fmt.Sprint(name, backwards), func(t *testing.T) {
				t.Parallel()
				o, _, s := newEngine(t)
				if err := s.DeleteRule(t.Context(), "r1"); err != nil {
					t.Fatal(err)
				}
				rule := alert.Rule{ID: "r2", Name: "all", Enabled: true, Version: 1, Condition: c, Channels: []alert.Channel{{Type: alert.Mail, To: []string{"ops@corp.example"}}}}
				if err := s.AddRule(t.Context(), rule); err != nil {
					t.Fatal(err)
				}
				boot := func() (*desktop.Board, *alert.Engine) {
					b := desktop.NewBoard(o.now)
					b.Configure(estate())
					return b, alert.NewEngine(alert.Options{Store: s, Board: b, Send: o, Now: o.now, Log: slog.New(slog.DiscardHandler)})
				}
				observe := func(b *desktop.Board, seen desktop.Observation) {
					o.set("", time.Second) // only the time matters
					seen.At = o.now()
					b.Observe(seen)
				}
				b, e := boot()
				round(t, e)
				wantSent(t, o)
				for range 2 {
					for _, seen := range failing() {
						observe(b, seen)
					}
				}
				round(t, e)
				wantSent(t, o, "FIRING")
				lastBeat := o.now()
				o.set("", time.Hour)
				b, e = boot()
				// The server reads the last heartbeats from its database when it starts.
				for _, seen := range failing() {
					if seen.Kind == desktop.KindGateway || seen.Kind == desktop.KindRDSServer {
						seen.At = lastBeat
						b.Observe(seen)
					}
				}
				round(t, e)
				wantSent(t, o)
				all := failing()
				for range 2 {
					for i := range all {
						if backwards {
							i = len(all) - 1 - i
						}
						observe(b, all[i])
						round(t, e)
						wantSent(t, o)
					}
				}
				for range 3 { // a pod endpoint is online only after its second answer
					for _, seen := range well() {
						observe(b, seen)
					}
				}
				round(t, e)
				wantSent(t, o, "RESOLVED")
			})
		}
	}
}

// TestUnknownStatusRaisesNoAlert starts with rules on the statuses that components have before the first check.
func TestUnknownStatusRaisesNoAlert(t *testing.T) {
	t.Parallel()
	o, _, s := newEngine(t)
	b := desktop.NewBoard(o.now)
	b.Configure(estate())
	err := s.AddRule(t.Context(), alert.Rule{
		ID: "r2", Name: "all", Enabled: true, Version: 1,
		Condition: alert.Condition{Type: alert.StatusIs, Statuses: []string{"UNKNOWN", "NOT_CONTACTED", "WARNING", "OFFLINE", "ERROR", "WAIT_FOR_AGENT", "NOT_YET_CONNECTED"}},
		Channels:  []alert.Channel{{Type: alert.Mail, To: []string{"ops@corp.example"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	e := alert.NewEngine(alert.Options{Store: s, Board: b, Send: o, Now: o.now, Log: slog.New(slog.DiscardHandler)})
	round(t, e)
	wantSent(t, o)
	o.set("", 2*time.Minute) // now it is certain that the gateway and the agent never reported
	b.Tick()
	round(t, e)
	wantSent(t, o, "FIRING", "FIRING")
}

// TestDisabledComponentKeepsNoAlert disables components while the server is down. Nothing checks them after the restart, but
// their alerts end.
func TestDisabledComponentKeepsNoAlert(t *testing.T) {
	t.Parallel()
	for _, c := range []alert.Condition{
		{Type: alert.StatusIs, Kind: desktop.KindPod, Statuses: []string{"OFFLINE", "ERROR"}},
		{Type: alert.StatusIs, Kind: desktop.KindVirtualCenter, Statuses: []string{"DISCONNECTED"}},
	} {
		o, _, s := newEngine(t)
		rule := alert.Rule{ID: "r2", Name: "all", Enabled: true, Version: 1, Condition: c, Channels: []alert.Channel{{Type: alert.Mail, To: []string{"ops@corp.example"}}}}
		if err := s.AddRule(t.Context(), rule); err != nil {
			t.Fatal(err)
		}
		inv := estate()
		inv.ConnectionServers = inv.ConnectionServers[:1]
		for _, want := range []string{"FIRING", "RESOLVED"} { // before and after the restart
			b := desktop.NewBoard(o.now)
			b.Configure(inv)
			e := alert.NewEngine(alert.Options{Store: s, Board: b, Send: o, Now: o.now, Log: slog.New(slog.DiscardHandler)})
			for _, seen := range failing() {
				if want == "FIRING" || seen.Kind == desktop.KindConnectionServer {
					seen.At = o.now()
					b.Observe(seen)
				}
			}
			round(t, e)
			wantSent(t, o, want)
			inv.Pods = []desktop.Pod{{ID: "p1", Name: "pod", Endpoints: []desktop.PodEndpoint{{ID: "p1e1", Name: "far"}}}}
			inv.VirtualCenters = []desktop.VirtualCenter{{ID: "v1", Name: "vc"}}
		}
	}
}

// TestOpenAlertAboutACertificateWaitsUntilItIsSeen covers components that do not answer after a restart. The alert ends when
// they present another certificate.
func TestOpenAlertAboutACertificateWaitsUntilItIsSeen(t *testing.T) {
	t.Parallel()
	inv := estate()
	inv.ConnectionServers = inv.ConnectionServers[:1]
	inv.EventDatabase = &desktop.EventDatabase{ID: "e1", Server: "db"}
	inv.RDSServers[0].Address = "rds1.corp.example"
	inv.SAMLAuthenticators = []desktop.SAMLAuthenticator{{ID: "s1", Label: "idp"}}
	inv.SSOConnectors = []desktop.SSOConnector{{ID: "t1", Name: "sso", Primary: desktop.EnrollmentServer{DNSName: "es1"}}}
	type observation func(presented *desktop.Certificate) desktop.Observation // presented is nil if the component does not answer
	presents := func(k desktop.Kind, id desktop.ID, reading desktop.Reading) observation {
		return func(c *desktop.Certificate) desktop.Observation {
			if c == nil {
				return desktop.Observation{Kind: k, ID: id, Failure: &desktop.Failure{Cause: desktop.Unreachable, Reason: "no answer"}}
			}
			return desktop.Observation{Kind: k, ID: id, Reading: reading, Certificate: c}
		}
	}
	works := desktop.SSOPart{Status: desktop.SSOOK}
	for name, observe := range map[string]observation{
		"connection server": presents(desktop.KindConnectionServer, "c1", desktop.ConnectionServerReading{}),
		"event database":    presents(desktop.KindEventDatabase, "e1", desktop.EventDatabaseReading{}),
		"pod endpoint":      presents(desktop.KindPodEndpoint, "p1e1", desktop.PodReading{}),
		"composer":          presents(desktop.KindComposer, "m1", desktop.ComposerReading{}),
		"virtual center":    presents(desktop.KindVirtualCenter, "v1", desktop.VirtualCenterReading{}),
		"RDS server":        presents(desktop.KindRDSListener, "r1", desktop.ListenerReading{}),
		"SAML signer": func(c *desktop.Certificate) desktop.Observation {
			return presents(desktop.KindSAMLAuthenticator, "s1", desktop.SAMLReading{Signing: c})(c)
		},
		"enrollment server": func(c *desktop.Certificate) desktop.Observation {
			primary := desktop.SSOPart{Name: "es1", Status: desktop.SSOOK, Certificate: c}
			if c == nil {
				primary.Status = desktop.SSOError
			}
			return desktop.Observation{Kind: desktop.KindSSOConnector, ID: "t1", Reading: desktop.SSOReading{
				Domain: works, Template: works, Primary: primary, CertificateServers: []desktop.SSOPart{works},
			}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _, s := newEngine(t)
			if err := s.AddRule(t.Context(), certificateRule()); err != nil {
				t.Fatal(err)
			}
			for _, presented := range [][]*desktop.Certificate{{validFor(1)}, {nil, nil, nil, validFor(1), validFor(100)}} { // before and after the restart
				o.set("", time.Hour)
				b := desktop.NewBoard(o.now)
				b.Configure(inv)
				e := alert.NewEngine(alert.Options{Store: s, Board: b, Send: o, Now: o.now, Log: slog.New(slog.DiscardHandler)})
				round(t, e)
				wantSent(t, o)
				for i, c := range presented {
					o.set("", time.Second)
					seen := observe(c)
					seen.At = o.now()
					b.Observe(seen)
					round(t, e)
					switch {
					case len(presented) == 1: // before the restart
						wantSent(t, o, "FIRING")
					case i == len(presented)-1:
						wantSent(t, o, "RESOLVED")
					default:
						wantSent(t, o)
					}
				}
			}
		})
	}
}

// validFor returns a certificate that expires so many days after now.
func validFor(days int) *desktop.Certificate {
	return &desktop.Certificate{Valid: true, ValidTo: desktop.MillisOf(now.Add(time.Duration(days) * 24 * time.Hour))}
}
