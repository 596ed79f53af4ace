package desktop

import (
	"slices"
	"testing"
	"time"
)

func TestStatusOfSSOConnector(t *testing.T) {
	t.Parallel()
	type reading = SSOReading
	ok, warn, bad := SSOPart{Status: SSOOK}, SSOPart{Status: SSOWarn, Reasons: []string{"meh"}}, SSOPart{Status: SSOError, Reasons: []string{"ugh"}}
	valid := func(change func(*reading)) reading {
		r := reading{ok, ok, ok, ok, []SSOPart{ok, ok}}
		change(&r)
		return r
	}
	for _, tt := range []struct {
		name string
		snap Snapshot[reading]
		want SSOStatus
	}{
		{"not checked yet", snapshotAfter[reading](), SSOError},
		{"all parts are OK", snapshotAfter[reading](valid(func(*reading) {})), SSOOK},
		{"the directory does not answer", snapshotAfter[reading](Unreachable), SSOError},
		{"the domain fails", snapshotAfter[reading](valid(func(r *reading) { r.Domain = bad })), SSOError},
		{"the template is not optimal", snapshotAfter[reading](valid(func(r *reading) { r.Template = warn })), SSOWarn},
		{"the template is gone", snapshotAfter[reading](valid(func(r *reading) { r.Template = bad })), SSOError},
		{"one enrollment server is left", snapshotAfter[reading](valid(func(r *reading) { r.Primary = bad })), SSOWarn},
		{"no enrollment server is left", snapshotAfter[reading](valid(func(r *reading) { r.Primary, r.Secondary = bad, bad })), SSOError},
		{"one certificate server is left", snapshotAfter[reading](valid(func(r *reading) { r.CertificateServers[0] = bad })), SSOWarn},
		{"the certificate of a certificate server expires soon", snapshotAfter[reading](valid(func(r *reading) { r.CertificateServers[0] = warn })), SSOWarn},
		{"no certificate server is left", snapshotAfter[reading](valid(func(r *reading) { r.CertificateServers = []SSOPart{bad} })), SSOError},
		{"there is no certificate server", snapshotAfter[reading](valid(func(r *reading) { r.CertificateServers = nil })), SSOError},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := policy.SSORecord(SSOConnector{Secondary: &EnrollmentServer{}}, DomainInfo{}, tt.snap, noon)
			if got.Status != tt.want {
				t.Errorf("status = %s, want %s", got.Status, tt.want)
			}
			if (got.Status == SSOOK) != (len(got.Reasons) == 0) {
				t.Errorf("status = %s with reasons %q", got.Status, got.Reasons)
			}
		})
	}
}

func TestMissingCertificateServersAreAReasonOnlyIfTheDirectoryWasRead(t *testing.T) {
	t.Parallel()
	const reason = "no certificate server offers the template"
	ok := SSOPart{Status: SSOOK}
	read := SSOReading{Domain: ok, Template: ok, Primary: ok}
	slow, failed := read, read
	slow.Domain = SSOPart{Status: SSOWarn, Reasons: []string{"meh"}}
	failed.Domain, failed.Template = SSOPart{Status: SSOError, Reasons: []string{"ugh"}}, SSOPart{}
	for _, tt := range []struct {
		name string
		snap Snapshot[SSOReading]
		want bool
	}{
		{"not checked yet", snapshotAfter[SSOReading](), false},
		{"the probe fails", snapshotAfter[SSOReading](Unreachable), false},
		{"the directory fails", snapshotAfter[SSOReading](failed), false},
		{"a controller does not answer", snapshotAfter[SSOReading](slow), true},
		{"no server offers the template", snapshotAfter[SSOReading](read), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := policy.SSORecord(SSOConnector{}, DomainInfo{}, tt.snap, noon)
			if slices.Contains(got.Reasons, reason) != tt.want || got.Status != SSOError {
				t.Errorf("status = %s with reasons %q, want the reason %q: %t", got.Status, got.Reasons, reason, tt.want)
			}
		})
	}
}

func TestStatusOfSAMLAuthenticator(t *testing.T) {
	t.Parallel()
	type reading = SAMLReading
	certificate := func(remaining time.Duration) *Certificate {
		return &Certificate{ValidTo: MillisOf(noon.Add(remaining))}
	}
	const year, week = 365 * 24 * time.Hour, 7 * 24 * time.Hour
	pinned := snapshotAfter[reading](reading{Signing: certificate(year)})
	pinned.Certificate = &Certificate{Accepted: true}
	for _, tt := range []struct {
		name string
		snap Snapshot[reading]
		want SAMLStatus
	}{
		{"not checked yet", snapshotAfter[reading](), SAMLUnknown},
		{"valid metadata", snapshotAfter[reading](reading{Signing: certificate(year)}), SAMLOK},
		{"it does not answer", snapshotAfter[reading](Unreachable), SAMLError},
		{"its signing certificate expires soon", snapshotAfter[reading](reading{Signing: certificate(week)}), SAMLWarn},
		{"its signing certificate has expired", snapshotAfter[reading](reading{Signing: certificate(-week)}), SAMLError},
		{"it has no signing certificate", snapshotAfter[reading](reading{}), SAMLError},
		{"its metadata expires soon", snapshotAfter[reading](reading{Signing: certificate(year), ValidUntil: noon.Add(week)}), SAMLWarn},
		{"its metadata has expired", snapshotAfter[reading](reading{Signing: certificate(year), ValidUntil: noon}), SAMLError},
		{"its TLS certificate is accepted by thumbprint only", pinned, SAMLWarn},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := policy.SAMLView(SAMLAuthenticator{}, tt.snap, noon).Status; got != string(tt.want) {
				t.Errorf("status = %s, want %s", got, tt.want)
			}
		})
	}
}
