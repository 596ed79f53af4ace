package alert_test

import (
	"log/slog"
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/alert"
)

// TestAlertAboutACertificateEndsWithItsPart covers parts that are removed while another part of the component is in error. That
// error must not keep the alert about the certificate of the removed part open.
func TestAlertAboutACertificateEndsWithItsPart(t *testing.T) {
	t.Parallel()
	noAnswer := &desktop.Failure{Cause: desktop.Unreachable, Reason: "no answer"}
	pod := func(endpoints ...string) desktop.Inventory {
		p := desktop.Pod{ID: "p1", Name: "pod"}
		for _, name := range endpoints {
			p.Endpoints = append(p.Endpoints, desktop.PodEndpoint{ID: desktop.ID(name), Name: name, Enabled: true})
		}
		return desktop.Inventory{Policy: desktop.DefaultPolicy(), Pods: []desktop.Pod{p}}
	}
	connector := func(primary string, authorities ...string) desktop.Inventory {
		c := desktop.SSOConnector{ID: "t1", Name: "sso", Enabled: true, Primary: desktop.EnrollmentServer{DNSName: primary}, CertificateServers: authorities}
		return desktop.Inventory{Policy: desktop.DefaultPolicy(), SSOConnectors: []desktop.SSOConnector{c}}
	}
	sso := func(r desktop.SSOReading) desktop.Observation {
		return desktop.Observation{Kind: desktop.KindSSOConnector, ID: "t1", Reading: r}
	}
	works, fails := desktop.SSOPart{Status: desktop.SSOOK}, desktop.SSOPart{Status: desktop.SSOError}
	part := func(name string, c *desktop.Certificate) desktop.SSOPart {
		return desktop.SSOPart{Name: name, Status: desktop.SSOOK, Certificate: c}
	}
	for name, tt := range map[string]struct {
		before, after desktop.Inventory
		expiring      []desktop.Observation // the first observation raises the alert, the later ones do not end it
		removed       []desktop.Observation // the first observation ends the alert
	}{
		"pod endpoint": {
			before: pod("near", "far"), after: pod("far"),
			expiring: []desktop.Observation{
				{Kind: desktop.KindPodEndpoint, ID: "near", Reading: desktop.PodReading{}, Certificate: validFor(1)},
				{Kind: desktop.KindPodEndpoint, ID: "far", Failure: noAnswer},
			},
			removed: []desktop.Observation{{Kind: desktop.KindPodEndpoint, ID: "far", Failure: noAnswer}},
		},
		"enrollment server": {
			before: connector("es1"), after: connector("es2"),
			expiring: []desktop.Observation{sso(desktop.SSOReading{Domain: works, Template: fails, Primary: part("es1", validFor(1)), CertificateServers: []desktop.SSOPart{works}})},
			removed:  []desktop.Observation{sso(desktop.SSOReading{Domain: works, Template: fails, Primary: part("es2", validFor(100)), CertificateServers: []desktop.SSOPart{works}})},
		},
		"certificate server in the directory": {
			before: connector("es1"), after: connector("es1"),
			expiring: []desktop.Observation{
				sso(desktop.SSOReading{Domain: works, Template: works, Primary: works, CertificateServers: []desktop.SSOPart{part("CA1", validFor(1))}}),
				sso(desktop.SSOReading{Domain: fails, Primary: fails}), // nobody knows whether there is a CA1
			},
			removed: []desktop.Observation{sso(desktop.SSOReading{Domain: works, Template: works, Primary: fails, CertificateServers: []desktop.SSOPart{part("CA2", validFor(100))}})},
		},
		"certificate server in the inventory": {
			before: connector("es1", "CA1", "CA2"), after: connector("es1", "CA2"),
			expiring: []desktop.Observation{
				sso(desktop.SSOReading{Domain: works, Template: works, Primary: fails, CertificateServers: []desktop.SSOPart{part("CA1", validFor(1)), part("CA2", nil)}}),
				sso(desktop.SSOReading{Domain: works, Template: works, Primary: fails, CertificateServers: []desktop.SSOPart{{Name: "CA1", Status: desktop.SSOError}, part("CA2", nil)}}),
			},
			removed: []desktop.Observation{sso(desktop.SSOReading{Domain: works, Template: works, Primary: fails, CertificateServers: []desktop.SSOPart{part("CA2", nil)}})},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, _, s := newEngine(t)
			if err := s.AddRule(t.Context(), certificateRule()); err != nil {
				t.Fatal(err)
			}
			b := desktop.NewBoard(o.now)
			e := alert.NewEngine(alert.Options{Store: s, Board: b, Send: o, Now: o.now, Log: slog.New(slog.DiscardHandler)})
			check := func(inv desktop.Inventory, observations []desktop.Observation, sent string) {
				t.Helper()
				b.Configure(inv)
				for i, seen := range observations {
					o.set("", time.Second) // only the time matters
					seen.At = o.now()
					b.Observe(seen)
					round(t, e)
					if i == 0 {
						wantSent(t, o, sent)
					} else {
						wantSent(t, o)
					}
				}
			}
			check(tt.before, tt.expiring, "FIRING")
			check(tt.after, tt.removed, "RESOLVED")
		})
	}
}

func certificateRule() alert.Rule {
	return alert.Rule{
		ID: "r2", Name: "certificates", Enabled: true, Version: 1, Condition: alert.Condition{Type: alert.CertificateExpires, Days: 7},
		Channels: []alert.Channel{{Type: alert.Mail, To: []string{"ops@corp.example"}}},
	}
}

// TestAlertEndsWhenItsRuleGetsAnotherType changes a rule about statuses to one about certificates. The component does not answer,
// so that its certificate is not known: that keeps an alert about the certificate open, but not the one about the status.
func TestAlertEndsWhenItsRuleGetsAnotherType(t *testing.T) {
	t.Parallel()
	o, _, s := newEngine(t)
	if err := s.DeleteRule(t.Context(), "r1"); err != nil {
		t.Fatal(err)
	}
	rule := certificateRule()
	condition := rule.Condition
	rule.Condition = alert.Condition{Type: alert.StatusIs, Statuses: []string{"OFFLINE", "ERROR"}}
	if err := s.AddRule(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
	b := desktop.NewBoard(o.now)
	inv := estate()
	inv.ConnectionServers = inv.ConnectionServers[:1]
	b.Configure(inv)
	e := alert.NewEngine(alert.Options{Store: s, Board: b, Send: o, Now: o.now, Log: slog.New(slog.DiscardHandler)})
	// observe records a reading with a certificate, or no answer if c is nil, and evaluates the rule a second later.
	observe := func(c *desktop.Certificate) {
		t.Helper()
		o.set("", time.Second)
		seen := desktop.Observation{Kind: desktop.KindPodEndpoint, ID: "p1e1", At: o.now(), Certificate: c}
		if c == nil {
			seen.Failure = &desktop.Failure{Cause: desktop.Unreachable, Reason: "no answer"}
		} else {
			seen.Reading = desktop.PodReading{}
		}
		b.Observe(seen)
		round(t, e)
	}
	observe(nil)
	wantSent(t, o, "FIRING")
	o.set("", time.Second)
	rule.SetCondition(condition, o.now())
	rule.Version = 2
	if err := s.ReplaceRule(t.Context(), rule, 1); err != nil {
		t.Fatal(err)
	}
	observe(nil)
	wantSent(t, o, "RESOLVED")

	// A rule that is renamed and keeps its type keeps its alert, also after a restart.
	observe(validFor(1))
	wantSent(t, o, "FIRING")
	rule.SetCondition(condition, o.now())
	rule.Name, rule.Version = "renamed", 3
	if err := s.ReplaceRule(t.Context(), rule, 2); err != nil {
		t.Fatal(err)
	}
	b = desktop.NewBoard(o.now)
	b.Configure(inv)
	e = alert.NewEngine(alert.Options{Store: s, Board: b, Send: o, Now: o.now, Log: slog.New(slog.DiscardHandler)})
	observe(nil)
	wantSent(t, o)
}
