package inventory

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"strconv"
	"strings"

	"vigil/internal/desktop"
)

func (b *builder) build(f file) desktop.Inventory {
	if f.Version != 1 {
		b.addError("version", "must be 1")
	}
	inv := desktop.Inventory{
		PeerToken:         b.secret("peer_token", f.PeerToken),
		Policy:            b.policy(f.Policy),
		Domains:           b.domains(f.Domains),
		ConnectionServers: b.servers(f.ConnectionServers),
		EventDatabase:     b.database(f.EventDatabase),
	}
	if len(inv.ConnectionServers) > 1 && f.PeerToken == "" {
		b.addError("peer_token", "is required with more than one connection server")
	}
	inv.Administrators = b.administrators(f.Administrators, inv.Domains)
	inv.Farms, inv.RDSServers = b.farms(f.Farms)
	inv.Gateways = b.gateways(f.Gateways)
	inv.SAMLAuthenticators = b.saml(f.SAMLAuthenticators)
	inv.Pods = b.pods(f.Pods)
	inv.SSOConnectors = b.sso(f.SSOConnectors, inv.Domains)
	inv.VirtualCenters = b.centers(f.VirtualCenters)
	inv.Composers = b.composers(f.Composers, inv.VirtualCenters)
	return inv
}

func (b *builder) policy(f policyFile) desktop.Policy {
	b.between("policy.failures_before_down", f.FailuresBeforeDown, 1, 100)
	b.between("policy.give_up_after", f.GiveUpAfter, 1, 1000)
	b.between("policy.farm_error_percent", f.FarmErrorPercent, 1, 100)
	d := desktop.DefaultPolicy()
	p := desktop.Policy{
		FailuresBeforeDown: cmp.Or(f.FailuresBeforeDown, d.FailuresBeforeDown),
		GiveUpAfter:        cmp.Or(f.GiveUpAfter, d.GiveUpAfter),
		CertificateWarning: cmp.Or(f.CertificateWarning, d.CertificateWarning),
		ReplicationGrace:   cmp.Or(f.ReplicationGrace, d.ReplicationGrace),
		GatewayInterval:    cmp.Or(f.GatewayInterval, d.GatewayInterval),
		AgentInterval:      cmp.Or(f.AgentInterval, d.AgentInterval),
		FarmErrorPercent:   cmp.Or(f.FarmErrorPercent, d.FarmErrorPercent),
	}
	if p.GiveUpAfter < p.FailuresBeforeDown {
		b.addError("policy.give_up_after", "must not be below failures_before_down")
	}
	return p
}

func (b *builder) administrators(files []adminFile, domains []desktop.Domain) []desktop.AdministratorGroup {
	var out []desktop.AdministratorGroup
	for i, f := range files {
		path := fmt.Sprintf("administrators[%d]", i)
		b.sid(path+".sid", f.SID)
		if f.SID == "" && f.Group == "" {
			b.addError(path, "must have a group or a sid")
		}
		out = append(out, desktop.AdministratorGroup{DomainID: b.domainNamed(path, f.Domain, domains), Name: f.Group, SID: f.SID})
	}
	return out
}

// domainNamed returns the id of the domain with the given DNS or NetBIOS name. It
// reports an error if there is none.
func (b *builder) domainNamed(path, name string, domains []desktop.Domain) desktop.ID {
	for _, d := range domains {
		if name != "" && (strings.EqualFold(d.DNSName, name) || strings.EqualFold(d.NetBIOSName, name)) {
			return d.ID
		}
	}
	if b.require(path, "domain", name) {
		b.addError(path+".domain", "is not a domain of the inventory")
	}
	return ""
}

func (b *builder) domains(files []domainFile) []desktop.Domain {
	var out []desktop.Domain
	primaries := 0
	for i, f := range files {
		path := fmt.Sprintf("domains[%d]", i)
		if f.DNSName != "" && !dnsName.MatchString(f.DNSName) {
			b.addError(path+".dns_name", "must be a DNS name")
		}
		if len(f.NetBIOSName) > 15 || strings.ContainsAny(f.NetBIOSName, `\/:*?"<>|@ `) {
			b.addError(path+".netbios_name", "must be a NetBIOS name of at most 15 characters")
		}
		b.sid(path+".sid", f.SID)
		for j, c := range f.Controllers {
			b.address(fmt.Sprintf("%s.controllers[%d]", path, j), c, portOptional)
		}
		d := desktop.Domain{
			ID:          b.identify(desktop.KindDomain, path, "dns_name", f.DNSName, f.ID),
			DNSName:     f.DNSName,
			NetBIOSName: strings.ToUpper(f.NetBIOSName),
			SID:         f.SID,
			Controllers: f.Controllers,
			Trust:       b.trust(path+".tls", f.TLS),
			BindUser:    f.Bind.Username,
			Primary:     f.Primary,
			Manual:      f.Manual,
			CloneOU:     f.CloneOU,
		}
		d.StartTLS = oneOf(b, path, "security", cmp.Or(f.Security, "ldaps"), "ldaps", "starttls") == "starttls"
		d.BindPassword = b.login(path+".bind", f.Bind)
		if strings.ContainsAny(f.Bind.Username, `@\`) {
			b.addError(path+".bind.username", "must be the account name without its domain")
		}
		if f.Primary {
			primaries++
		}
		out = append(out, d)
	}
	if len(files) > 0 && primaries != 1 {
		b.addError("domains", "must have exactly one domain with primary: true, and has %d", primaries)
	}
	return out
}

func (b *builder) servers(files []serverFile) []desktop.ConnectionServer {
	var out []desktop.ConnectionServer
	selves := 0
	for i, f := range files {
		path := fmt.Sprintf("connection_servers[%d]", i)
		b.https(path, "url", f.URL)
		b.between(path+".session_threshold", f.SessionThreshold, 1, math.MaxInt32)
		if f.SessionThreshold != 0 && len(f.SecureGateways) == 0 {
			b.addError(path+".session_threshold", "needs a secure gateway")
		}
		isSelf := f.Self
		if b.options.Self != "" {
			isSelf = strings.EqualFold(f.Name, b.options.Self)
		}
		cs := desktop.ConnectionServer{
			ID:               b.identify(desktop.KindConnectionServer, path, "name", f.Name, f.ID),
			Name:             f.Name,
			URL:              strings.TrimRight(f.URL, "/"),
			Self:             isSelf || len(files) == 1,
			Trust:            b.trust(path+".tls", f.TLS),
			SessionThreshold: f.SessionThreshold,
		}
		for j, g := range f.SecureGateways {
			gatewayPath := fmt.Sprintf("%s.secure_gateways[%d]", path, j)
			b.address(gatewayPath+".address", g.Address, portRequired)
			service := oneOf(b, gatewayPath, "service", g.Service, desktop.ServicePCoIP, desktop.ServiceBlast, desktop.ServiceSecurity)
			cs.SecureGateways = append(cs.SecureGateways, desktop.SecureGateway{Service: service, Address: g.Address})
		}
		if cs.Self {
			selves++
		}
		out = append(out, cs)
	}
	if len(files) > 0 && selves != 1 {
		b.addError("connection_servers", "must have exactly one server with self: true, which is this server, and has %d", selves)
	}
	return out
}

func (b *builder) database(f *databaseFile) *desktop.EventDatabase {
	if f == nil {
		return nil
	}
	const path = "event_database"
	kind := oneOf(b, path, "type", f.Type, desktop.PostgreSQL, desktop.SQLServer, desktop.Oracle)
	ports := map[desktop.DatabaseType]int{desktop.PostgreSQL: 5432, desktop.SQLServer: 1433, desktop.Oracle: 1521}
	b.between(path+".port", f.Port, 1, 65535)
	b.require(path, "database", f.Database)
	if !tablePrefix.MatchString(f.Prefix) {
		b.addError(path+".prefix", "must be empty, or letters, digits and underscores after a letter, at most 41")
	}
	return &desktop.EventDatabase{
		ID:       b.identify(desktop.KindEventDatabase, path, "server", f.Server, f.ID),
		Type:     kind,
		Server:   f.Server,
		Port:     cmp.Or(f.Port, ports[kind]),
		Database: f.Database,
		User:     f.Login.Username,
		Password: b.login(path+".login", f.Login),
		Prefix:   f.Prefix,
		Trust:    b.trust(path+".tls", f.TLS),
		Plain:    f.Plain,
	}
}

func (b *builder) farms(files []farmFile) ([]desktop.Farm, []desktop.RDSServer) {
	var farms []desktop.Farm
	var servers []desktop.RDSServer
	for i, f := range files {
		path := fmt.Sprintf("farms[%d]", i)
		b.between(path+".applications", f.Applications, 0, math.MaxInt32)
		b.between(path+".error_percent", f.ErrorPercent, 1, 100)
		farm := desktop.Farm{
			ID:           b.identify(desktop.KindFarm, path, "name", f.Name, f.ID),
			Name:         f.Name,
			Type:         oneOf(b, path, "type", f.Type, desktop.FarmAutomated, desktop.FarmManual),
			Enabled:      isEnabled(f.Enabled),
			Applications: f.Applications,
			ErrorPercent: f.ErrorPercent,
		}
		switch {
		case farm.Type == desktop.FarmAutomated:
			farm.Source = oneOf(b, path, "source", f.Source, desktop.SourceLinkedClone, desktop.SourceInstantClone)
		case f.Source != "":
			b.addError(path+".source", "belongs to automated farms only")
		}
		farms = append(farms, farm)
		for j, r := range f.RDSServers {
			servers = append(servers, b.rdsServer(fmt.Sprintf("%s.rds_servers[%d]", path, j), r, farm.ID))
		}
	}
	return farms, servers
}

func (b *builder) rdsServer(path string, f rdsFile, farm desktop.ID) desktop.RDSServer {
	b.between(path+".max_sessions", f.MaxSessions, 1, math.MaxInt32)
	if f.Address != "" {
		b.address(path+".address", f.Address, portRequired)
	}
	return desktop.RDSServer{
		ID:          b.identify(desktop.KindRDSServer, path, "name", f.Name, f.ID),
		Name:        f.Name,
		FarmID:      farm,
		Enabled:     isEnabled(f.Enabled),
		MaxSessions: f.MaxSessions,
		Address:     f.Address,
	}
}

func (b *builder) gateways(files []gatewayFile) []desktop.Gateway {
	var out []desktop.Gateway
	for i, f := range files {
		path := fmt.Sprintf("gateways[%d]", i)
		b.require(path, "address", f.Address)
		out = append(out, desktop.Gateway{
			ID:       b.identify(desktop.KindGateway, path, "name", f.Name, f.ID),
			Name:     f.Name,
			Address:  f.Address,
			Internal: f.Internal,
			Type:     oneOf(b, path, "type", cmp.Or(f.Type, "UNKNOWN"), desktop.GatewayUAG, desktop.GatewayF5, desktop.GatewayUnknown),
		})
	}
	return out
}

func (b *builder) saml(files []samlFile) []desktop.SAMLAuthenticator {
	var out []desktop.SAMLAuthenticator
	for i, f := range files {
		path := fmt.Sprintf("saml_authenticators[%d]", i)
		b.https(path, "metadata_url", f.MetadataURL)
		if f.AdministratorURL != "" {
			b.https(path, "administrator_url", f.AdministratorURL)
		}
		out = append(out, desktop.SAMLAuthenticator{
			ID:               b.identify(desktop.KindSAMLAuthenticator, path, "label", f.Label, f.ID),
			Label:            f.Label,
			MetadataURL:      f.MetadataURL,
			AdministratorURL: f.AdministratorURL,
			Trust:            b.trust(path+".tls", f.TLS),
			SignerFile:       f.SignerFile,
		})
	}
	return out
}

func (b *builder) pods(files []podFile) []desktop.Pod {
	var out []desktop.Pod
	for i, f := range files {
		path := fmt.Sprintf("pods[%d]", i)
		b.require(path, "site", f.Site)
		pod := desktop.Pod{
			ID:     b.identify(desktop.KindPod, path, "name", f.Name, f.ID),
			Name:   f.Name,
			SiteID: DeriveID("SITE", f.Site),
		}
		for j, e := range f.Endpoints {
			endpointPath := fmt.Sprintf("%s.endpoints[%d]", path, j)
			b.https(endpointPath, "url", e.URL)
			pod.Endpoints = append(pod.Endpoints, desktop.PodEndpoint{
				ID:      b.identify(desktop.KindPodEndpoint, endpointPath, "name", e.Name, e.ID),
				Name:    e.Name,
				URL:     strings.TrimRight(e.URL, "/"),
				Enabled: isEnabled(e.Enabled),
				Trust:   b.trust(endpointPath+".tls", e.TLS),
			})
		}
		out = append(out, pod)
	}
	return out
}

// portOf returns the port of a URL, or the usual one if it has none. It returns 0
// for a malformed URL.
func portOf(text string, usual int) int {
	u, err := url.Parse(text)
	if err != nil {
		return 0
	}
	if u.Port() == "" {
		return usual
	}
	n, _ := strconv.Atoi(u.Port())
	return n
}
