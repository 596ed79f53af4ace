package probe

import (
	"crypto/x509"
	"net"
	"net/http"
	"reflect"
	"strconv"
	"testing"
	"time"

	"vigil/internal/desktop"
	sim "vigil/internal/sim/directory"
	"vigil/internal/sim/flakylistener"
	"vigil/internal/sim/pki"
)

// authority returns the certificate of an authority, in DER, that is valid for the
// remaining time.
func authority(t *testing.T, remaining time.Duration) []byte {
	t.Helper()
	now := time.Now()
	ca, err := pki.New("corp-ca", pki.Validity{From: now.Add(-100 * 24 * time.Hour), To: now.Add(remaining)})
	if err != nil {
		t.Fatal(err)
	}
	return ca.Certificate().Raw
}

func (s *server) enrollment(id desktop.ID, trust desktop.Trust) desktop.EnrollmentServer {
	host, port, _ := net.SplitHostPort(s.listener.Addr().String())
	n, _ := strconv.Atoi(port)
	return desktop.EnrollmentServer{ID: id, DNSName: host, Port: n, Trust: trust}
}

func TestSingleSignOnProbe(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const year = 365 * 24 * time.Hour
	dc, spec := f.controller(sim.Domain{
		DNSName: "corp.example", NetBIOS: "CORP", SID: "S-1-5-21-1-2-3",
		Users:     []sim.User{{Name: "svc", Password: "secret of env:SVC"}},
		Templates: []sim.Template{{Name: "TrueSso", Usages: []string{sim.SmartCardLogon}, KeySize: 2048}},
		Issuers: []sim.Issuer{
			{Name: "ca1", Templates: []string{"TrueSso"}, Certificate: authority(t, year)},
			{Name: "ca2", Templates: []string{"TrueSso"}, Certificate: authority(t, year)},
			{Name: "ca3", Templates: []string{"Web"}, Certificate: authority(t, year)},
		},
	})
	quiet := func(http.ResponseWriter, *http.Request) {}
	one, two := f.server(quiet), f.server(quiet)
	secondary := two.enrollment("e2", f.trust())
	f.configure(desktop.Inventory{
		Domains: []desktop.Domain{spec},
		SSOConnectors: []desktop.SSOConnector{{
			ID: "t", Name: "sso", Enabled: true, DomainID: "d1", TemplateName: "trueSSO", // case does not matter
			Primary: one.enrollment("e1", f.trust()), Secondary: &secondary,
		}},
	})
	status := func(what string, want desktop.SSOStatus) desktop.SSOConnectorMonitor {
		t.Helper()
		m := first[desktop.SSOConnectorMonitor](f, desktop.KindSSOConnector)
		requireStatus(t, what, m.Status, want, m.Freshness, desktop.SSOOK)
		return m
	}
	status("before the first probe", desktop.SSOError)
	f.probe(1)
	m := status("no problems", desktop.SSOOK)
	if m.DomainSID != "S-1-5-21-1-2-3" || len(m.CertificateServers) != 2 || m.Primary.Status != desktop.SSOOK || m.Secondary.Status != desktop.SSOOK {
		t.Errorf("record = %+v", m)
	}
	one.listener.Set(flakylistener.Down)
	f.probe(1)
	if m := status("one enrollment server is down", desktop.SSOWarn); m.Primary.Status != desktop.SSOError {
		t.Errorf("primary = %s, want ERROR", m.Primary.Status)
	}
	two.listener.Set(flakylistener.Down)
	f.probe(1)
	status("both are down", desktop.SSOError)
	one.listener.Set(flakylistener.Up)
	two.listener.Set(flakylistener.Up)
	for _, tt := range []struct {
		name   string
		change func(*sim.Domain)
		want   desktop.SSOStatus
		part   func(desktop.SSOConnectorMonitor) desktop.SSOStatus // returns the status of the part that changes

		wantPart desktop.SSOStatus
	}{
		{"a certificate expires soon", func(d *sim.Domain) { d.Issuers[0].Certificate = authority(t, 24*time.Hour) }, desktop.SSOWarn,
			func(m desktop.SSOConnectorMonitor) desktop.SSOStatus { return m.CertificateServers[0].Status }, desktop.SSOWarn},
		{"a certificate has expired", func(d *sim.Domain) { d.Issuers[0].Certificate = authority(t, -24*time.Hour) }, desktop.SSOWarn,
			func(m desktop.SSOConnectorMonitor) desktop.SSOStatus { return m.CertificateServers[0].Status }, desktop.SSOError},
		{"no server offers the template", func(d *sim.Domain) { d.Issuers = d.Issuers[2:] }, desktop.SSOError,
			func(m desktop.SSOConnectorMonitor) desktop.SSOStatus { return m.TemplateStatus }, desktop.SSOOK},
		{"the template allows weak keys", func(d *sim.Domain) { d.Templates[0].KeySize = 1024 }, desktop.SSOError,
			func(m desktop.SSOConnectorMonitor) desktop.SSOStatus { return m.TemplateStatus }, desktop.SSOWarn},
		{"the template is for something else", func(d *sim.Domain) { d.Templates[0].Usages = nil }, desktop.SSOError,
			func(m desktop.SSOConnectorMonitor) desktop.SSOStatus { return m.TemplateStatus }, desktop.SSOError},
		{"the template is missing", func(d *sim.Domain) { d.Templates = nil }, desktop.SSOError,
			func(m desktop.SSOConnectorMonitor) desktop.SSOStatus { return m.TemplateStatus }, desktop.SSOError},
	} {
		// Changes are not undone: from the third on, the connector is in error because no server offers the template.
		dc.Change(tt.change)
		f.probe(1)
		if m := status(tt.name, tt.want); tt.part(m) != tt.wantPart {
			t.Errorf("%s: the part is %s, want %s", tt.name, tt.part(m), tt.wantPart)
		}
	}
	dc.Break(sim.Down)
	f.probe(2)
	if m := status("the directory is down", desktop.SSOError); m.DomainStatus != desktop.SSOError || m.Primary.Status != desktop.SSOOK {
		t.Errorf("record = %+v", m)
	}
}

// TestChangedWarningPeriodReplacesTheTarget checks that the spec of a target has the warning
// period: the scheduler keeps a target whose spec has not changed, with the values that its
// probe uses.
func TestChangedWarningPeriodReplacesTheTarget(t *testing.T) {
	t.Parallel()
	spec := func(warning time.Duration) any {
		inv := desktop.Inventory{Policy: desktop.DefaultPolicy(), SSOConnectors: []desktop.SSOConnector{{ID: "t", DomainID: "d1"}}}
		inv.Policy.CertificateWarning = warning
		return TargetFactory{}.sso(inv.SSOConnectors[0], inv).Spec
	}
	if reflect.DeepEqual(spec(time.Hour), spec(2*time.Hour)) {
		t.Error("the spec does not contain the warning period")
	}
	if !reflect.DeepEqual(spec(time.Hour), spec(time.Hour)) {
		t.Error("the spec changes without a reason")
	}
}

func TestCertificateServerIsCheckedByItsValidCertificate(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	now := time.Now()
	certificate := func(from, to time.Duration) *x509.Certificate {
		ca, err := pki.New("corp-ca", pki.Validity{From: now.Add(from), To: now.Add(to)})
		if err != nil {
			t.Fatal(err)
		}
		return ca.Certificate()
	}
	old, expiring, valid, next := certificate(-900*day, -day), certificate(-900*day, day), certificate(-day, 400*day), certificate(day, 900*day)
	for _, tt := range []struct {
		name         string
		certificates []*x509.Certificate
		want         desktop.SSOStatus
		shown        *x509.Certificate
	}{
		{"the next one is not valid yet", []*x509.Certificate{valid, next}, desktop.SSOOK, valid},
		{"the next one comes first", []*x509.Certificate{next, valid}, desktop.SSOOK, valid},
		{"the valid one expires soon", []*x509.Certificate{next, expiring, old}, desktop.SSOWarn, expiring},
		{"two are valid", []*x509.Certificate{expiring, valid}, desktop.SSOOK, valid},
		{"none is valid", []*x509.Certificate{old, next}, desktop.SSOError, next},
	} {
		t.Run(tt.name, func(t *testing.T) {
			part := checkAuthority("ca1", tt.certificates, now, 30*day)
			if part.Status != tt.want || part.Certificate.ValidTo != desktop.MillisOf(tt.shown.NotAfter) {
				t.Errorf("part = %+v with the certificate %+v, want %s", part, part.Certificate, tt.want)
			}
		})
	}
}
