package directory

import (
	"context"
	"crypto/x509"
	"fmt"

	"github.com/go-ldap/ldap/v3"

	"vigil/internal/desktop"
)

// A CertificateServer is an enterprise certificate authority of a forest.
type CertificateServer struct {
	Name         string
	Host         string
	Templates    []string
	Certificates []*x509.Certificate
}

// A Template is a certificate template of a forest.
type Template struct {
	Name        string
	DisplayName string
	Usages      []string // extended key usages, as OIDs
	MinimumKey  int      // bits
}

// PublicKeyServices contains the certificate authorities and templates of a
// forest.
type PublicKeyServices struct {
	Servers   []CertificateServer
	Templates []Template
}

// PublicKeyServices reads the authorities and templates of a domain's forest.
func (c *Client) PublicKeyServices(ctx context.Context, id desktop.ID) (PublicKeyServices, error) {
	d, err := c.domain(id)
	if err != nil {
		return PublicKeyServices{}, err
	}
	var out PublicKeyServices
	err = c.asService(ctx, d, func(conn *conn, r root) error {
		out = PublicKeyServices{} // drop what an earlier attempt on another controller read
		services := "CN=Public Key Services,CN=Services," + r.config
		entries, err := conn.search("CN=Enrollment Services,"+services, ldap.ScopeSingleLevel,
			"(objectClass=pKIEnrollmentService)", "cn", "dNSHostName", "certificateTemplates", "cACertificate")
		if err != nil && !ldap.IsErrorWithCode(err, ldap.LDAPResultNoSuchObject) {
			return fmt.Errorf("read certificate servers: %w", err)
		}
		for _, e := range entries {
			out.Servers = append(out.Servers, certificateServer(e))
		}
		entries, err = conn.search("CN=Certificate Templates,"+services, ldap.ScopeSingleLevel,
			"(objectClass=pKICertificateTemplate)", "cn", "displayName", "pKIExtendedKeyUsage", "msPKI-Minimal-Key-Size")
		if err != nil && !ldap.IsErrorWithCode(err, ldap.LDAPResultNoSuchObject) {
			return fmt.Errorf("read templates: %w", err)
		}
		for _, e := range entries {
			out.Templates = append(out.Templates, Template{
				Name:        e.GetAttributeValue("cn"),
				DisplayName: e.GetAttributeValue("displayName"),
				Usages:      e.GetAttributeValues("pKIExtendedKeyUsage"),
				MinimumKey:  number(e, "msPKI-Minimal-Key-Size"),
			})
		}
		return nil
	})
	return out, err
}

func certificateServer(e *ldap.Entry) CertificateServer {
	s := CertificateServer{
		Name:      e.GetAttributeValue("cn"),
		Host:      e.GetAttributeValue("dNSHostName"),
		Templates: e.GetAttributeValues("certificateTemplates"),
	}
	for _, raw := range e.GetRawAttributeValues("cACertificate") {
		// Invalid certificates are skipped; the probe reports the missing certificate.
		if cert, err := x509.ParseCertificate(raw); err == nil {
			s.Certificates = append(s.Certificates, cert)
		}
	}
	return s
}
