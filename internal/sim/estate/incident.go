package estate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/fault"
	"vigil/internal/sim/directory"
	"vigil/internal/sim/flakylistener"
	"vigil/internal/sim/pki"
	"vigil/internal/sim/saml"
	"vigil/internal/sim/vcenter"
)

// incident is a fault that can be injected and removed.
type incident struct {
	group   desktop.IncidentGroup
	name    string // its first word names the component that fails
	summary string
	begin   func() error
	end     func() error
}

// component returns the first word of the name, which names the component that fails.
// Incidents of one component may set the same state.
func (i incident) component() string {
	word, _, _ := strings.Cut(i.name, "-")
	return word
}

// Begin starts an incident. Where it contradicts active incidents, the one that began last
// counts.
func (e *Estate) Begin(name string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	i, err := e.incident(name)
	if err != nil {
		return err
	}
	if err := i.begin(); err != nil {
		return err
	}
	e.active = append(e.activeWithout(name), name)
	return nil
}

// End ends an incident. Other active incidents of its component go on.
func (e *Estate) End(name string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	ended, err := e.incident(name)
	if err != nil {
		return err
	}
	if err := ended.end(); err != nil {
		return err
	}
	e.active = e.activeWithout(name)
	for _, other := range e.active { // ended.end made the component healthy: begin its other incidents again
		i, err := e.incident(other)
		if err == nil && i.component() == ended.component() {
			err = i.begin()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// incident returns the incident with a name.
func (e *Estate) incident(name string) (incident, error) {
	all := e.incidents()
	i := slices.IndexFunc(all, func(i incident) bool { return i.name == name })
	if i < 0 {
		return incident{}, fault.New(fault.NotFound, "there is no incident named %s", name)
	}
	return all[i], nil
}

// activeWithout returns the names of the active incidents except the given one.
func (e *Estate) activeWithout(name string) []string {
	return slices.DeleteFunc(slices.Clone(e.active), func(other string) bool { return other == name })
}

// withoutError adapts a function that cannot fail.
func withoutError(f func()) func() error {
	return func() error {
		f()
		return nil
	}
}

// Incidents returns all incidents.
func (e *Estate) Incidents() []desktop.Incident {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := []desktop.Incident{}
	for _, i := range e.incidents() {
		out = append(out, desktop.Incident{Name: i.name, Group: i.group, Summary: i.summary, Active: slices.Contains(e.active, i.name)})
	}
	return out
}

func (e *Estate) incidents() []incident {
	all := slices.Concat(e.directoryIncidents(), e.serverIncidents(), e.machineIncidents(), e.siteIncidents(), e.centerIncidents(), e.eventIncidents())
	slices.SortFunc(all, func(a, b incident) int { return strings.Compare(a.name, b.name) })
	return all
}

func (e *Estate) directoryIncidents() []incident {
	lab, corp := e.Domains[2], e.Domains[0]
	return []incident{
		{desktop.IncidentDirectory, "domain-down", "the controller of lab.example is down",
			withoutError(func() { lab.Break(directory.Down) }), withoutError(func() { lab.Break(directory.Healthy) })},
		{desktop.IncidentDirectory, "domain-hangs", "the controller of lab.example accepts connections and never answers",
			withoutError(func() { lab.Break(directory.Hung) }), withoutError(func() { lab.Break(directory.Healthy) })},
		{desktop.IncidentDirectory, "domain-refuses-binds", "the controller of lab.example answers pings and refuses binds",
			withoutError(func() { lab.Break(directory.PingOnly) }), withoutError(func() { lab.Break(directory.Healthy) })},
		{desktop.IncidentSignOn, "sso-template-gone", "the certificate template of single sign-on was deleted",
			withoutError(func() { corp.Change(func(d *directory.Domain) { d.Templates = nil }) }),
			withoutError(func() { corp.Change(templateWithKey(2048)) })},
		{desktop.IncidentSignOn, "sso-template-weak", "the certificate template of single sign-on allows short keys",
			withoutError(func() { corp.Change(templateWithKey(1024)) }), withoutError(func() { corp.Change(templateWithKey(2048)) })},
	}
}

// templateWithKey returns a function that replaces the certificate templates of a domain by the
// one of single sign-on, with a minimum key size in bits.
func templateWithKey(size int) func(*directory.Domain) {
	return func(d *directory.Domain) {
		d.Templates = []directory.Template{{Name: ssoTemplate, Usages: []string{directory.SmartCardLogon}, KeySize: size}}
	}
}

func (e *Estate) serverIncidents() []incident {
	peer, endpoint := e.Peers[0], e.Pods[0]
	return []incident{
		{desktop.IncidentConnectionServers, "server-down", peer.Name + " is down",
			withoutError(func() { peer.Listener().Set(flakylistener.Down) }), withoutError(func() { peer.Listener().Set(flakylistener.Up) })},
		{desktop.IncidentConnectionServers, "server-complains", peer.Name + " reports a problem",
			withoutError(func() { peer.SetProblems("its disk is full") }), withoutError(func() { peer.SetProblems() })},
		{desktop.IncidentConnectionServers, "server-lags", peer.Name + " no longer replicates",
			withoutError(func() { peer.SetDiverged(true) }), withoutError(func() { peer.SetDiverged(false) })},
		{desktop.IncidentConnectionServers, "server-certificate-expired", "the certificate of " + peer.Name + " has expired",
			func() error { return e.reissue(peer, -time.Hour) }, func() error { return e.reissue(peer, 365*24*time.Hour) }},
		{desktop.IncidentConnectionServers, "server-certificate-ending", "the certificate of " + peer.Name + " expires in five days",
			func() error { return e.reissue(peer, 5*24*time.Hour) }, func() error { return e.reissue(peer, 365*24*time.Hour) }},
		{desktop.IncidentConnectionServers, "secure-gateway-down", "the secure gateway of " + peer.Name + " refuses connections",
			withoutError(func() { e.SecurePorts[0].Set(flakylistener.Down) }), withoutError(func() { e.SecurePorts[0].Set(flakylistener.Up) })},
		{desktop.IncidentConnectionServers, "pod-down", endpoint.Name + " of a remote pod is down",
			withoutError(func() { endpoint.Listener().Set(flakylistener.Down) }), withoutError(func() { endpoint.Listener().Set(flakylistener.Up) })},
	}
}

// reissue replaces a peer's certificate by one that expires after the remaining time.
func (e *Estate) reissue(p *Peer, remaining time.Duration) error {
	now := e.options.Now()
	leaf, err := e.ca.Leaf(pki.Validity{From: now.Add(-48 * time.Hour), To: now.Add(remaining)}, "localhost", "127.0.0.1")
	if err == nil {
		p.SetCertificate(leaf)
	}
	return err
}

func (e *Estate) machineIncidents() []incident {
	gateway := e.Gateways[0]
	farm := e.RDSServers[0].Farm
	onEachServer := func(f func(*RDSServer)) func() error {
		return withoutError(func() {
			for _, r := range e.RDSServers {
				if r.Farm == farm {
					f(r)
				}
			}
		})
	}
	return []incident{
		{desktop.IncidentGateways, "gateway-silent", gateway.Name + " stops reporting",
			withoutError(func() { gateway.Silence(true) }), withoutError(func() { gateway.Silence(false) })},
		{desktop.IncidentGateways, "gateway-problem", gateway.Name + " reports a problem",
			withoutError(func() { gateway.SetProblems("a back end is unreachable") }), withoutError(func() { gateway.SetProblems() })},
		{desktop.IncidentFarms, "farm-fails", "every agent of " + farm + " reports an error",
			onEachServer(func(r *RDSServer) { r.SetState(desktop.RDSDomainFailure, "the domain cannot be reached") }),
			onEachServer(func(r *RDSServer) { r.SetState("") })},
		{desktop.IncidentFarms, "farm-silent", "every agent of " + farm + " stops reporting",
			onEachServer(func(r *RDSServer) { r.Silence(true) }), onEachServer(func(r *RDSServer) { r.Silence(false) })},
		{desktop.IncidentFarms, "farm-full", "every server of " + farm + " is fully loaded",
			onEachServer(func(r *RDSServer) { r.SetLoad(new(100)) }), onEachServer(func(r *RDSServer) { r.SetLoad(nil) })},
		{desktop.IncidentFarms, "farm-drains", "every server of " + farm + " is being drained",
			onEachServer(func(r *RDSServer) { r.SetState(desktop.RDSDrainMode) }), onEachServer(func(r *RDSServer) { r.SetState("") })},
	}
}

func (e *Estate) siteIncidents() []incident {
	metadata := func(f saml.Fault) func() error { return withoutError(func() { e.SAML.Break(f) }) }
	return []incident{
		{desktop.IncidentSignOn, "saml-down", "the identity provider is down",
			withoutError(func() { e.SAML.Listener().Set(flakylistener.Down) }), withoutError(func() { e.SAML.Listener().Set(flakylistener.Up) })},
		{desktop.IncidentSignOn, "saml-expired", "the metadata of the identity provider have expired", metadata(saml.Expired), metadata(saml.Healthy)},
		{desktop.IncidentSignOn, "saml-ending", "the metadata of the identity provider are about to expire", metadata(saml.EndingSoon), metadata(saml.Healthy)},
		{desktop.IncidentSignOn, "saml-tampered", "the metadata of the identity provider were tampered with", metadata(saml.Tampered), metadata(saml.Healthy)},
		{desktop.IncidentSignOn, "enrollment-server-down", "the primary enrollment server is down",
			withoutError(func() { e.Enrollment[0].Listener().Set(flakylistener.Down) }), withoutError(func() { e.Enrollment[0].Listener().Set(flakylistener.Up) })},
		{desktop.IncidentVirtualCenters, "composer-down", "the composer is down",
			withoutError(func() { e.Composer.Listener().Set(flakylistener.Down) }), withoutError(func() { e.Composer.Listener().Set(flakylistener.Up) })},
		{desktop.IncidentVirtualCenters, "composer-untrusted", "the composer has a certificate of an unknown authority",
			func() error {
				leaf, err := pki.SelfSigned(pki.Around(e.options.Now(), 24*time.Hour), "localhost")
				if err == nil {
					e.Composer.SetCertificate(leaf)
				}
				return err
			},
			func() error {
				leaf, err := e.leaf()
				if err == nil {
					e.Composer.SetCertificate(leaf)
				}
				return err
			}},
	}
}

func (e *Estate) centerIncidents() []incident {
	if len(e.Centers) == 0 {
		return nil
	}
	c := e.Centers[0]
	host := func(s vcenter.HostState) func() error { return withoutError(func() { c.SetHost(0, s) }) }
	return []incident{
		{desktop.IncidentVirtualCenters, "center-down", "the virtual center is down",
			withoutError(func() { c.Listener().Set(flakylistener.Down) }), withoutError(func() { c.Listener().Set(flakylistener.Up) })},
		{desktop.IncidentVirtualCenters, "center-denies", "the virtual center denies read access",
			withoutError(func() { c.Break(vcenter.NoPermission) }), withoutError(func() { c.Break(vcenter.Healthy) })},
		{desktop.IncidentVirtualCenters, "host-down", fmt.Sprintf("one of %d hosts does not respond", c.Hosts()),
			host(vcenter.NotResponding), host(vcenter.Connected)},
		{desktop.IncidentVirtualCenters, "host-disconnected", "a host was disconnected",
			host(vcenter.Disconnected), host(vcenter.Connected)},
		{desktop.IncidentVirtualCenters, "datastore-lost", "a datastore is not accessible",
			withoutError(func() { c.SetDatastore(0, false) }), withoutError(func() { c.SetDatastore(0, true) })},
	}
}

func (e *Estate) eventIncidents() []incident {
	if e.Events == nil {
		return nil
	}
	return []incident{
		{desktop.IncidentEventDatabase, "event-database-down", "the event database is down",
			withoutError(func() { e.Events.Listener().Set(flakylistener.Down) }), withoutError(func() { e.Events.Listener().Set(flakylistener.Up) })},
	}
}
