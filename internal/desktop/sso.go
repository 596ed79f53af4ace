package desktop

import (
	"cmp"
	"slices"
	"time"
)

// An SSOConnector provides single sign-on by certificates that enrollment
// servers issue for users.
type SSOConnector struct {
	ID                 ID
	Name               string
	Enabled            bool
	DomainID           ID
	TemplateName       string
	Primary            EnrollmentServer
	Secondary          *EnrollmentServer
	CertificateServers []string // names of enrollment services in the directory
}

// An EnrollmentServer issues certificates on behalf of users.
type EnrollmentServer struct {
	ID      ID
	DNSName string
	Port    int
	Trust   Trust
}

// SSOReading is the result of reading a connector's parts. A part that could
// not be read has an error status; the reading as a whole does not fail.
type SSOReading struct {
	Domain             SSOPart
	Template           SSOPart
	Primary            SSOPart
	Secondary          SSOPart
	CertificateServers []SSOPart
}

// Kind implements [Reading].
func (SSOReading) Kind() Kind { return KindSSOConnector }

// An SSOPart is the status of one part of a connector, with the reasons.
type SSOPart struct {
	Name        string
	Status      SSOStatus
	Reasons     []string
	Certificate *Certificate
}

// SSOConnectorMonitor is the monitor record of a single-sign-on connector.
type SSOConnectorMonitor struct {
	ID                 ID                         `json:"id"`
	Name               string                     `json:"name"`
	Enabled            bool                       `json:"enabled"`
	Status             SSOStatus                  `json:"status"`
	DomainSID          string                     `json:"ad_domain_id"`
	DomainDNSName      string                     `json:"ad_domain_dns_name"`
	DomainStatus       SSOStatus                  `json:"ad_domain_status"`
	TemplateName       string                     `json:"template_name"`
	TemplateStatus     SSOStatus                  `json:"template_status"`
	Primary            EnrollmentServerDetails    `json:"primary_enrollment_server"`
	Secondary          *EnrollmentServerDetails   `json:"secondary_enrollment_server,omitempty"`
	CertificateServers []CertificateServerDetails `json:"certificate_server_details"`
	Freshness
	certificates []PartCertificate
	domain       Ref
	unchecked    bool
}

// EnrollmentServerDetails is the state of an enrollment server.
type EnrollmentServerDetails struct {
	DNSName string    `json:"dns_name"`
	ID      ID        `json:"id"`
	Status  SSOStatus `json:"status"`
}

// CertificateServerDetails is the state of a certificate server.
type CertificateServerDetails struct {
	Name   string    `json:"name"`
	Status SSOStatus `json:"status"`
}

// WorstSSO returns the worst of the statuses.
func WorstSSO(statuses ...SSOStatus) SSOStatus {
	worst := SSOOK
	for _, s := range statuses {
		if s == SSOError || s == SSOWarn && worst == SSOOK {
			worst = s
		}
	}
	return worst
}

// atLeastOne returns the status of redundant parts: a warning when some fail,
// an error when all fail.
func atLeastOne(statuses []SSOStatus) SSOStatus {
	worst := WorstSSO(statuses...)
	for _, s := range statuses {
		if worst == SSOError && s != SSOError {
			return SSOWarn
		}
	}
	return worst
}

// SSORecord derives the monitor record of a connector. Its status is the worst
// of its required parts.
func (p Policy) SSORecord(c SSOConnector, d DomainInfo, s Snapshot[SSOReading], now time.Time) SSOConnectorMonitor {
	r := s.Good
	var reasons []string
	if f := s.Failing(p.FailuresBeforeDown); f != nil || !s.EverRead() {
		r = SSOReading{}
		for _, name := range c.CertificateServers {
			r.CertificateServers = append(r.CertificateServers, SSOPart{Name: name})
		}
		reasons = []string{"not checked yet"}
		if f != nil {
			reasons = []string{f.Reason}
		}
	}
	m := SSOConnectorMonitor{
		ID: c.ID, Name: c.Name, Enabled: c.Enabled,
		DomainSID: d.ID, DomainDNSName: d.DNSName, DomainStatus: r.Domain.status(),
		TemplateName: c.TemplateName, TemplateStatus: r.Template.status(),
		Primary:            EnrollmentServerDetails{c.Primary.DNSName, c.Primary.ID, r.Primary.status()},
		CertificateServers: []CertificateServerDetails{},
		domain:             Ref{KindDomain, c.DomainID, d.DNSName}, unchecked: !s.Tried(),
	}
	enrollment := []SSOStatus{m.Primary.Status}
	parts := []SSOPart{r.Domain, r.Template, r.Primary}
	if c.Secondary != nil {
		m.Secondary = &EnrollmentServerDetails{c.Secondary.DNSName, c.Secondary.ID, r.Secondary.status()}
		enrollment = append(enrollment, m.Secondary.Status)
		parts = append(parts, r.Secondary)
	}
	servers := []SSOStatus{}
	for _, part := range r.CertificateServers {
		m.CertificateServers = append(m.CertificateServers, CertificateServerDetails{part.Name, part.status()})
		servers = append(servers, part.status())
	}
	if len(servers) == 0 {
		servers = []SSOStatus{SSOError}
		if r.Domain.status() != SSOError { // otherwise the servers are unknown
			reasons = append(reasons, "no certificate server offers the template")
		}
	}
	for _, part := range append(parts, r.CertificateServers...) {
		for _, reason := range part.Reasons {
			reasons = append(reasons, cmp.Or(part.Name, c.Name)+": "+reason)
		}
		m.certificates = append(m.certificates, certificates(part.Name, part.Certificate)...)
	}
	m.Status = WorstSSO(m.DomainStatus, m.TemplateStatus, atLeastOne(enrollment), atLeastOne(servers))
	health, expiring := HealthOf(KindSSOConnector, "", string(m.Status)), p.expiringCertificates(now, m.enrollmentCertificates()...)
	switch {
	case !c.Enabled:
		health = HealthDisabled
	case m.unchecked:
		health = HealthUnknown
	case len(expiring) > 0 && health == HealthOK:
		health = HealthWarning
	}
	m.Freshness = fresh(MillisOf(s.At), health, append(reasons, expiring...)...)
	return m
}

// status returns the part's status; a part that was not checked is in error.
func (p SSOPart) status() SSOStatus {
	if p.Status == "" {
		return SSOError
	}
	return p.Status
}

// Ref implements [Record].
func (m SSOConnectorMonitor) Ref() Ref { return Ref{KindSSOConnector, m.ID, m.Name} }

// Statuses implements [Record].
func (m SSOConnectorMonitor) Statuses() []PartStatus {
	// Without its directory, the state of template and certificate servers is
	// unknown.
	var blame Ref
	if m.DomainStatus == SSOError {
		blame = m.domain
	}
	out := []PartStatus{
		{Status: string(m.Status), BlamedOn: blame},
		{Part: "domain", Status: string(m.DomainStatus), BlamedOn: m.domain},
		{Part: "template", Status: string(m.TemplateStatus), BlamedOn: blame},
		{Part: enrollmentPart(m.Primary.DNSName), Status: string(m.Primary.Status)},
	}
	if m.Secondary != nil {
		out = append(out, PartStatus{Part: enrollmentPart(m.Secondary.DNSName), Status: string(m.Secondary.Status)})
	}
	for _, c := range m.CertificateServers {
		out = append(out, PartStatus{Part: certificateServerPart(c.Name), Status: string(c.Status), BlamedOn: blame})
	}
	for i := range out {
		out[i].Unchecked = m.unchecked
	}
	return out
}

// These are the names of the parts that have the statuses of servers. The certificates of servers are listed under the server names alone.
func enrollmentPart(dnsName string) string     { return "enrollment " + dnsName }
func certificateServerPart(name string) string { return "certificates " + name }

// enrollmentCertificates returns the certificates of the enrollment servers.
// Those of certificate servers are checked when they are read.
func (m SSOConnectorMonitor) enrollmentCertificates() []PartCertificate {
	return slices.DeleteFunc(slices.Clone(m.certificates), func(c PartCertificate) bool {
		return slices.ContainsFunc(m.CertificateServers, func(s CertificateServerDetails) bool { return s.Name == c.Part })
	})
}

// Certificates implements [Record].
func (m SSOConnectorMonitor) Certificates() []PartCertificate { return m.certificates }
