package desktop

import "time"

// A SAMLAuthenticator is an identity provider that vouches for users.
type SAMLAuthenticator struct {
	ID               ID
	Label            string
	MetadataURL      string
	AdministratorURL string
	Trust            Trust
	SignerFile       string // PEM file of the metadata's signers; empty: the signature is not required
}

// SAMLReading is what an authenticator's metadata tells.
type SAMLReading struct {
	EntityID   string
	ValidUntil time.Time    // zero: for ever
	Signing    *Certificate // the signing certificate that lasts longest
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

// SAMLDetails tells where a SAML authenticator is.
type SAMLDetails struct {
	Label            string `json:"label"`
	MetadataURL      string `json:"metadata_url"`
	AdministratorURL string `json:"administrator_url,omitempty"`
}

// SAMLServer is how one connection server sees a SAML authenticator.
type SAMLServer struct {
	ID                 ID         `json:"id"`
	Name               string     `json:"name"`
	Status             SAMLStatus `json:"status"`
	ThumbprintAccepted bool       `json:"thumbprint_accepted"`
}

// SAMLView derives how we see a SAML authenticator ourselves. Metadata and
// certificates that are about to end, and a TLS certificate that is accepted
// only by its thumbprint, are worth a warning.
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
	soon := now.Add(p.CertificateWarning)
	if until := s.Good.ValidUntil; !until.IsZero() && until.Before(soon) {
		v.Reasons = append(v.Reasons, "its metadata ends on "+until.UTC().Format(time.DateOnly))
	}
	if end := s.Good.Signing.ValidTo.Time(); end.Before(soon) {
		v.Reasons = append(v.Reasons, "its signing certificate ends on "+end.Format(time.DateOnly))
	}
	if s.Certificate != nil {
		v.Reasons = append(v.Reasons, p.ending(now, PartCertificate{"", *s.Certificate})...)
	}
	if v.ThumbprintAccepted {
		v.Reasons = append(v.Reasons, "its TLS certificate is accepted only by its thumbprint")
	}
	if len(v.Reasons) > 0 {
		v.Status = string(SAMLWarn)
	}
	return v
}

// SAMLRecord derives the monitor record of a SAML authenticator from what all
// servers see of it.
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
		status := SAMLStatus(firstOf(v.View.Status, string(SAMLUnknown)))
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
	out := []PartStatus{{Status: string(m.Status), Unseen: unseenByAll(m.views)}}
	for i, s := range m.Servers {
		out = append(out, m.views[i].part(string(s.Status)))
	}
	return out
}

// Certificates implements [Record].
func (m SAMLAuthenticatorMonitor) Certificates() []PartCertificate {
	return append(certificates("", m.certificate), certificates("signing", m.signing)...)
}
