package probe

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/directory"
	"vigil/internal/desktop/reach"
)

// smartCardLogon is the key usage that a template needs for logging users on.
const smartCardLogon = "1.3.6.1.4.1.311.20.2.2"

// weakKey is the key size below which a template causes a warning.
const weakKey = 2048

// sso returns the target of a single-sign-on connector. A failing part is in
// the reading; it does not fail the probe.
func (f TargetFactory) sso(c desktop.SSOConnector, inv desktop.Inventory) Target {
	type spec struct {
		Connector          desktop.SSOConnector
		Domain             desktop.Domain
		CertificateWarning time.Duration
	}
	warning := inv.Policy.CertificateWarning
	var domain desktop.Domain
	for _, d := range inv.Domains {
		if d.ID == c.DomainID {
			domain = d
		}
	}
	return Target{
		Ref: desktop.Ref{Kind: desktop.KindSSOConnector, ID: c.ID, Name: c.Name}, Spec: spec{c, domain, warning}, Careful: true,
		Timeout: 20 * time.Second,
		Probe: func(ctx context.Context) (desktop.Reading, *desktop.Certificate, error) {
			var r desktop.SSOReading
			var wait sync.WaitGroup
			wait.Go(func() { r.Primary = f.enrollment(ctx, c.Primary) })
			if c.Secondary != nil {
				wait.Go(func() { r.Secondary = f.enrollment(ctx, *c.Secondary) })
			}
			services, err := f.Directory.PublicKeyServices(ctx, c.DomainID)
			wait.Wait()
			r.Domain = desktop.SSOPart{Name: domain.DNSName, Status: desktop.SSOOK}
			if err != nil {
				r.Domain.Status, r.Domain.Reasons = desktop.SSOError, []string{desktop.FailureOf(err).Reason}
				for _, name := range c.CertificateServers {
					r.CertificateServers = append(r.CertificateServers, desktop.SSOPart{Name: name, Status: desktop.SSOError})
				}
				return r, nil, nil
			}
			for _, controller := range f.Directory.Silent(c.DomainID) {
				r.Domain.Status = desktop.SSOWarn
				r.Domain.Reasons = append(r.Domain.Reasons, controller+" does not answer; another controller does")
			}
			r.Template = checkTemplate(c.TemplateName, services.Templates)
			r.CertificateServers = checkServers(c, services.Servers, f.Now(), warning)
			return r, nil, nil
		},
	}
}

// enrollment probes an enrollment server.
func (f TargetFactory) enrollment(ctx context.Context, s desktop.EnrollmentServer) desktop.SSOPart {
	part := desktop.SSOPart{Name: s.DNSName, Status: desktop.SSOOK}
	var err error
	part.Certificate, err = reach.Probe(ctx, net.JoinHostPort(s.DNSName, strconv.Itoa(s.Port)), s.Trust, f.Now)
	if err != nil {
		part.Status, part.Reasons = desktop.SSOError, []string{desktop.FailureOf(err).Reason}
	}
	return part
}

// checkTemplate returns whether a template can log users on.
func checkTemplate(name string, templates []directory.Template) desktop.SSOPart {
	part := desktop.SSOPart{Name: name, Status: desktop.SSOOK}
	i := slices.IndexFunc(templates, func(t directory.Template) bool { return strings.EqualFold(t.Name, name) })
	switch {
	case i < 0:
		part.Status, part.Reasons = desktop.SSOError, []string{"the directory has no such template"}
	case !slices.Contains(templates[i].Usages, smartCardLogon):
		part.Status, part.Reasons = desktop.SSOError, []string{"its certificates are not for smart card logon"}
	case templates[i].MinimumKey < weakKey:
		part.Status, part.Reasons = desktop.SSOWarn, []string{fmt.Sprintf("it allows keys of %d bits", templates[i].MinimumKey)}
	}
	return part
}

// checkServers checks the certificate servers that a connector names, or if it
// names none, those that offer its template.
func checkServers(c desktop.SSOConnector, servers []directory.CertificateServer, now time.Time, warning time.Duration) []desktop.SSOPart {
	offers := func(s directory.CertificateServer) bool {
		return slices.ContainsFunc(s.Templates, func(t string) bool { return strings.EqualFold(t, c.TemplateName) })
	}
	names := slices.Clone(c.CertificateServers)
	if len(names) == 0 {
		for _, s := range servers {
			if offers(s) {
				names = append(names, s.Name)
			}
		}
	}
	var out []desktop.SSOPart
	for _, name := range names {
		part := desktop.SSOPart{Name: name, Status: desktop.SSOError}
		i := slices.IndexFunc(servers, func(s directory.CertificateServer) bool { return strings.EqualFold(s.Name, name) })
		switch {
		case i < 0:
			part.Reasons = []string{"the directory has no such certificate server"}
		case !offers(servers[i]):
			part.Reasons = []string{"it does not offer the template " + c.TemplateName}
		default:
			part = checkAuthority(name, servers[i].Certificates, now, warning)
		}
		out = append(out, part)
	}
	return out
}

// checkAuthority checks a certificate server by one of its own certificates: of those
// that are currently valid, or of all if none is, the one that expires last. A renewed
// certificate may be published before it is valid.
func checkAuthority(name string, certificates []*x509.Certificate, now time.Time, warning time.Duration) desktop.SSOPart {
	part := desktop.SSOPart{Name: name, Status: desktop.SSOError, Reasons: []string{"it has no certificate that is valid now"}}
	isValid := func(cert *x509.Certificate) bool { return !now.Before(cert.NotBefore) && now.Before(cert.NotAfter) }
	var best *x509.Certificate
	for _, cert := range certificates {
		if best == nil || isValid(cert) && !isValid(best) || isValid(cert) == isValid(best) && cert.NotAfter.After(best.NotAfter) {
			best = cert
		}
	}
	if best == nil {
		return part
	}
	described := reach.Describe(best)
	described.Valid = isValid(best)
	part.Certificate = &described
	switch {
	case !described.Valid:
	case best.NotAfter.Before(now.Add(warning)):
		part.Status, part.Reasons = desktop.SSOWarn, []string{"its certificate expires on " + best.NotAfter.UTC().Format(time.DateOnly)}
	default:
		part.Status, part.Reasons = desktop.SSOOK, nil
	}
	return part
}
