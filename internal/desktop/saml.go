package desktop

import (
	"cmp"
	"time"
)

// A SAMLAuthenticator is a SAML identity provider.
type SAMLAuthenticator struct {
	ID               ID
	Label            string
	MetadataURL      string
	AdministratorURL string
	Trust            Trust
	SignerFile       string // PEM file of the accepted signers of the metadata; when empty, no signature is required
}

// SAMLReading is the content of an authenticator's metadata.
type SAMLReading struct {
	EntityID   string
	ValidUntil time.Time    // zero for unlimited
	Signing    *Certificate // the signing certificate that expires last
	Signed     bool         // the metadata's signature was verified
}

// Kind implements [Reading].
func (SAMLReading) Kind() Kind { return KindSAMLAuthenticator }

// SAMLAuthenticatorMonitor is the monitor record of a SAML authenticator.
type SAMLAuthenticatorMonitor struct {
	ID      ID           `json:"id"`
	Details SAMLDetails  `json:"details"`
	Servers []SAMLServer `json:"connection_servers"`
	Status  Health       `json:"status"`
	Freshness
	signing, certificate *Certificate
	views                []ServerView
}

// signingPart is the part of a record that names the signing certificate.
const signingPart = "signing"

// SAMLDetails describes the addresses of a SAML authenticator.
type SAMLDetails struct {
	Label            string `json:"label"`
	MetadataURL      string `json:"metadata_url"`
	AdministratorURL string `json:"administrator_url,omitempty"`
}

// SAMLServer is the status of a SAML authenticator as one connection server
// sees it.
type SAMLServer struct {
	ID                 ID         `json:"id"`
	Name               string     `json:"name"`
	Status             SAMLStatus `json:"status"`
	ThumbprintAccepted bool       `json:"thumbprint_accepted"`
}

// SAMLView derives how this connection server itself sees a SAML authenticator,
// without the views of its peers. It warns of metadata and certificates that expire
// soon, and of a TLS certificate that is accepted only by its thumbprint.
func (p Policy) SAMLView(a SAMLAuthenticator, s Snapshot[SAMLReading], now time.Time) View {
	v := View{Kind: KindSAMLAuthenticator, ID: a.ID, Status: string(SAMLOK)}
	v.Certificate = s.Certificate
	v.ThumbprintAccepted = s.Certificate != nil && s.Certificate.Accepted
	if !s.Tried() {
		v.Status, v.Reasons = string(SAMLUnknown), []string{"not checked yet"}
		return v
	}
	if f := s.Failing(p.FailuresBeforeDown); f != nil {
		v.Status, v.Reasons = string(SAMLError), []string{f.Reason}
		return v
	}
	if until := s.Good.ValidUntil; !until.IsZero() && !until.After(now) {
		v.Status, v.Reasons = string(SAMLError), []string{"its metadata has expired"}
		return v
	}
	if c := s.Good.Signing; c == nil || !c.ValidTo.Time().After(now) {
		v.Status, v.Reasons = string(SAMLError), []string{"it has no valid signing certificate"}
		return v
	}
	warnBefore := now.Add(p.CertificateWarning)
	if until := s.Good.ValidUntil; !until.IsZero() && until.Before(warnBefore) {
		v.Reasons = append(v.Reasons, "its metadata expires on "+until.UTC().Format(time.DateOnly))
	}
	if end := s.Good.Signing.ValidTo.Time(); end.Before(warnBefore) {
		v.Reasons = append(v.Reasons, "its signing certificate expires on "+end.Format(time.DateOnly))
	}
	if s.Certificate != nil {
		v.Reasons = append(v.Reasons, p.expiringCertificates(now, PartCertificate{"", *s.Certificate})...)
	}
	if v.ThumbprintAccepted {
		v.Reasons = append(v.Reasons, "its TLS certificate is accepted only by its thumbprint")
	}
	if len(v.Reasons) > 0 {
		v.Status = string(SAMLWarn)
	}
	return v
}

// SAMLRecord derives the monitor record of a SAML authenticator from the views
// of all servers.
func SAMLRecord(a SAMLAuthenticator, s Snapshot[SAMLReading], views []ServerView) SAMLAuthenticatorMonitor {
	m := SAMLAuthenticatorMonitor{
		ID:          a.ID,
		Details:     SAMLDetails{a.Label, a.MetadataURL, a.AdministratorURL},
		Servers:     []SAMLServer{},
		Status:      healthOfViews(KindSAMLAuthenticator, views),
		signing:     s.Good.Signing,
		certificate: s.Certificate,
		views:       views,
	}
	m.Freshness = fresh(MillisOf(s.At), m.Status, viewReasons(views)...)
	for _, v := range views {
		status := SAMLStatus(cmp.Or(v.View.Status, string(SAMLUnknown)))
		m.Servers = append(m.Servers, SAMLServer{v.ServerID, v.ServerName, status, v.View.ThumbprintAccepted})
	}
	return m
}

// Ref implements [Record].
func (m SAMLAuthenticatorMonitor) Ref() Ref {
	return Ref{KindSAMLAuthenticator, m.ID, m.Details.Label}
}

// Statuses implements [Record].
func (m SAMLAuthenticatorMonitor) Statuses() []PartStatus {
	out := []PartStatus{statusOfViews(m.Status, m.views)}
	for i, s := range m.Servers {
		out = append(out, m.views[i].part(string(s.Status)))
	}
	return out
}

// Certificates implements [Record].
func (m SAMLAuthenticatorMonitor) Certificates() []PartCertificate {
	return append(certificates("", m.certificate), certificates(signingPart, m.signing)...)
}
