package inventory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"vigil/internal/desktop"
)

// The usual ports of enrollment servers and composers.
const (
	enrollmentPort = 32111
	composerPort   = 18443
)

func (b *builder) sso(files []ssoFile, domains []desktop.Domain) []desktop.SSOConnector {
	var out []desktop.SSOConnector
	for i, f := range files {
		path := fmt.Sprintf("sso_connectors[%d]", i)
		b.require(path, "template", f.Template)
		c := desktop.SSOConnector{
			ID:                 b.identify(desktop.KindSSOConnector, path, "name", f.Name, f.ID),
			Name:               f.Name,
			Enabled:            isEnabled(f.Enabled),
			DomainID:           b.domainNamed(path, f.Domain, domains),
			TemplateName:       f.Template,
			CertificateServers: f.CertificateServers,
		}
		if f.Primary == nil {
			b.addError(path+".primary_enrollment_server", "is required")
		} else {
			c.Primary = b.enrollment(path+".primary_enrollment_server", *f.Primary)
		}
		if f.Secondary != nil {
			c.Secondary = new(b.enrollment(path+".secondary_enrollment_server", *f.Secondary))
		}
		out = append(out, c)
	}
	return out
}

// enrollment builds an enrollment server. Its name need not be unique: several
// connectors may share one server.
func (b *builder) enrollment(path string, f enrollmentFile) desktop.EnrollmentServer {
	if b.require(path, "dns_name", f.DNSName) && !dnsName.MatchString(f.DNSName) {
		b.addError(path+".dns_name", "must be a DNS name")
	}
	b.between(path+".port", f.Port, 1, 65535)
	return desktop.EnrollmentServer{
		ID:      b.idOrDerived(path, f.ID, DeriveID("ENROLLMENT_SERVER", f.DNSName)),
		DNSName: f.DNSName,
		Port:    cmp.Or(f.Port, enrollmentPort),
		Trust:   b.trust(path+".tls", f.TLS),
	}
}

// composers builds the composers. Their URL is not checked here: a malformed
// one gives the composer the status MALFORMED_URL, which its probe reports.
func (b *builder) composers(files []composerFile, centers []desktop.VirtualCenter) []desktop.Composer {
	var out []desktop.Composer
	for i, f := range files {
		path := fmt.Sprintf("composers[%d]", i)
		b.require(path, "url", f.URL)
		for j, name := range f.VirtualCenters {
			known := func(vc desktop.VirtualCenter) bool {
				return strings.EqualFold(vc.Name, name) || strings.EqualFold(vc.ServerName, name)
			}
			if !slices.ContainsFunc(centers, known) {
				b.addError(fmt.Sprintf("%s.virtual_centers[%d]", path, j), "is not a virtual center of the inventory")
			}
		}
		out = append(out, desktop.Composer{
			ID:             b.identify(desktop.KindComposer, path, "name", f.Name, f.ID),
			Name:           f.Name,
			URL:            f.URL,
			Port:           portOf(f.URL, composerPort),
			Trust:          b.trust(path+".tls", f.TLS),
			VirtualCenters: f.VirtualCenters,
		})
	}
	return out
}

func (b *builder) centers(files []centerFile) []desktop.VirtualCenter {
	var out []desktop.VirtualCenter
	for i, f := range files {
		path := fmt.Sprintf("virtual_centers[%d]", i)
		b.between(path+".port", f.Port, 1, 65535)
		usual := 443
		if !isEnabled(f.UseSSL) {
			usual = 80
		}
		out = append(out, desktop.VirtualCenter{
			ID:                 b.identify(desktop.KindVirtualCenter, path, "server", f.Server, f.ID),
			Name:               cmp.Or(f.DisplayName, f.Server),
			ServerName:         f.Server,
			Port:               cmp.Or(f.Port, usual),
			UseSSL:             isEnabled(f.UseSSL),
			UserName:           f.Login.Username,
			Password:           b.login(path+".login", f.Login),
			DisplayName:        f.DisplayName,
			Description:        f.Description,
			Enabled:            isEnabled(f.Enabled),
			VMCDeployment:      f.VMCDeployment,
			Trust:              b.trust(path+".tls", f.TLS),
			Limits:             b.limits(path+".limits", f.Limits),
			StorageAccelerator: b.accelerator(path+".storage_accelerator", f.StorageAccelerator),
			SESparse:           f.SESparse,
			DesktopFolder:      f.DesktopFolder,
		})
	}
	return out
}

func (b *builder) limits(path string, f limitsFile) desktop.VirtualCenterLimits {
	b.between(path+".provisioning", f.Provisioning, 1, 1000)
	b.between(path+".power_operations", f.PowerOperations, 1, 1000)
	b.between(path+".instant_clone_provisioning", f.InstantCloneProvisioning, 1, 1000)
	d := desktop.DefaultVirtualCenterLimits()
	return desktop.VirtualCenterLimits{
		Provisioning:             cmp.Or(int32(f.Provisioning), d.Provisioning),
		PowerOperations:          cmp.Or(int32(f.PowerOperations), d.PowerOperations),
		InstantCloneProvisioning: cmp.Or(int32(f.InstantCloneProvisioning), d.InstantCloneProvisioning),
	}
}

func (b *builder) accelerator(path string, f acceleratorFile) desktop.StorageAccelerator {
	b.between(path+".default_cache_size_mb", f.DefaultCacheSizeMB, desktop.MinCacheSizeMB, desktop.MaxCacheSizeMB)
	a := desktop.StorageAccelerator{Enabled: f.Enabled}
	if f.DefaultCacheSizeMB != 0 {
		a.DefaultCacheSizeMB = new(int32(f.DefaultCacheSizeMB))
	}
	for i, o := range f.HostOverrides {
		overridePath := fmt.Sprintf("%s.host_overrides[%d]", path, i)
		b.require(overridePath, "path", o.Path)
		if o.CacheSizeMB < desktop.MinCacheSizeMB || o.CacheSizeMB > desktop.MaxCacheSizeMB {
			b.addError(overridePath+".cache_size_mb", "must be between %d and %d", desktop.MinCacheSizeMB, desktop.MaxCacheSizeMB)
		}
		a.HostOverrides = append(a.HostOverrides, desktop.HostOverride{CacheSizeMB: int32(o.CacheSizeMB), Path: o.Path})
	}
	return a
}
