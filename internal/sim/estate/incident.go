package estate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vmware/govmomi/vim25/types"

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
	name    string
	summary string
	begin   func() error
	end     func() error
}

// Begin starts an incident.
func (e *Estate) Begin(name string) error {
	return e.change(name, true, func(i incident) error { return i.begin() })
}

// End ends an incident.
func (e *Estate) End(name string) error {
	return e.change(name, false, func(i incident) error { return i.end() })
}

func (e *Estate) change(name string, active bool, do func(incident) error) error {
	all := e.incidents()
	i := slices.IndexFunc(all, func(i incident) bool { return i.name == name })
	if i < 0 {
		return fault.New(fault.NotFound, "there is no incident named %s", name)
	}
	if err := do(all[i]); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.active[name] = active
	return nil
}

// always adapts a function that cannot fail.
func always(f func()) func() error {
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
		out = append(out, desktop.Incident{Name: i.name, Group: i.group, Summary: i.summary, Active: e.active[i.name]})
	}
	return out
}

func (e *Estate) incidents() []incident {
	all := slices.Concat(e.directoryIncidents(), e.serverIncidents(), e.machineIncidents(), e.siteIncidents(), e.centerIncidents())
	slices.SortFunc(all, func(a, b incident) int { return strings.Compare(a.name, b.name) })
	return all
}

func (e *Estate) directoryIncidents() []incident {
	lab, corp := e.Domains[2], e.Domains[0]
	return []incident{
		{desktop.IncidentDirectory, "domain-down", "the controller of lab.example is down",
			always(func() { lab.Break(directory.Down) }), always(func() { lab.Break(directory.Healthy) })},
		{desktop.IncidentDirectory, "domain-hangs", "the controller of lab.example accepts connections and never answers",
			always(func() { lab.Break(directory.Hung) }), always(func() { lab.Break(directory.Healthy) })},
		{desktop.IncidentDirectory, "domain-refuses-binds", "the controller of lab.example answers pings and refuses binds",
			always(func() { lab.Break(directory.PingOnly) }), always(func() { lab.Break(directory.Healthy) })},
		{desktop.IncidentSignOn, "sso-template-gone", "the certificate template of single sign-on was deleted",
			always(func() { corp.Change(func(d *directory.Domain) { d.Templates = nil }) }),
			always(func() { corp.Change(restoreTemplate) })},
		{desktop.IncidentSignOn, "sso-template-weak", "the certificate template of single sign-on allows short keys",
			always(func() { corp.Change(func(d *directory.Domain) { d.Templates[0].KeySize = 1024 }) }),
			always(func() { corp.Change(restoreTemplate) })},
	}
}

func restoreTemplate(d *directory.Domain) {
	d.Templates = []directory.Template{{Name: ssoTemplate, Usages: []string{directory.SmartCardLogon}, KeySize: 2048}}
}

func (e *Estate) serverIncidents() []incident {
	peer, pod := e.Peers[0], e.Pods[0]
	return []incident{
		{desktop.IncidentConnectionServers, "server-down", peer.Name + " is down",
			always(func() { peer.Listener().Set(flakylistener.Down) }), always(func() { peer.Listener().Set(flakylistener.Up) })},
		{desktop.IncidentConnectionServers, "server-complains", peer.Name + " reports a problem",
			always(func() { peer.SetProblems("its disk is full") }), always(func() { peer.SetProblems() })},
		{desktop.IncidentConnectionServers, "server-lags", peer.Name + " no longer replicates",
			always(func() { peer.Lag(true) }), always(func() { peer.Lag(false) })},
		{desktop.IncidentConnectionServers, "server-certificate-expired", "the certificate of " + peer.Name + " has expired",
			func() error { return e.reissue(peer, -time.Hour) }, func() error { return e.reissue(peer, 365*24*time.Hour) }},
		{desktop.IncidentConnectionServers, "server-certificate-ending", "the certificate of " + peer.Name + " expires in five days",
			func() error { return e.reissue(peer, 5*24*time.Hour) }, func() error { return e.reissue(peer, 365*24*time.Hour) }},
		{desktop.IncidentConnectionServers, "secure-gateway-down", "the secure gateway of " + peer.Name + " refuses connections",
			always(func() { e.SecurePorts[0].Set(flakylistener.Down) }), always(func() { e.SecurePorts[0].Set(flakylistener.Up) })},
		{desktop.IncidentConnectionServers, "pod-down", pod.Name + " of a remote pod is down",
			always(func() { pod.Listener().Set(flakylistener.Down) }), always(func() { pod.Listener().Set(flakylistener.Up) })},
	}
}

// reissue replaces a peer's certificate by one that expires after left.
func (e *Estate) reissue(p *Peer, left time.Duration) error {
	now := e.options.Now()
	leaf, err := e.ca.Leaf(pki.Validity{From: now.Add(-48 * time.Hour), To: now.Add(left)}, "localhost", "127.0.0.1")
	if err == nil {
		p.SetCertificate(leaf)
	}
	return err
}

func (e *Estate) machineIncidents() []incident {
	gateway := e.Gateways[0]
	farm := e.RDSServers[0].Farm
	of := func(f func(*RDSServer)) func() error {
		return always(func() {
			for _, r := range e.RDSServers {
				if r.Farm == farm {
					f(r)
				}
			}
		})
	}
	return []incident{
		{desktop.IncidentGateways, "gateway-silent", gateway.Name + " stops reporting",
			always(func() { gateway.Silence(true) }), always(func() { gateway.Silence(false) })},
		{desktop.IncidentGateways, "gateway-problem", gateway.Name + " reports a problem",
			always(func() { gateway.SetProblems("a back end is unreachable") }), always(func() { gateway.SetProblems() })},
		{desktop.IncidentFarms, "farm-fails", "every agent of " + farm + " reports an error",
			of(func(r *RDSServer) { r.SetState(desktop.RDSDomainFailure, "the domain cannot be reached") }),
			of(func(r *RDSServer) { r.SetState("") })},
		{desktop.IncidentFarms, "farm-silent", "every agent of " + farm + " stops reporting",
			of(func(r *RDSServer) { r.Silence(true) }), of(func(r *RDSServer) { r.Silence(false) })},
		{desktop.IncidentFarms, "farm-full", "every server of " + farm + " is fully loaded",
			of(func(r *RDSServer) { r.SetLoad(new(100)) }), of(func(r *RDSServer) { r.SetLoad(nil) })},
		{desktop.IncidentFarms, "farm-drains", "every server of " + farm + " is being drained",
			of(func(r *RDSServer) { r.SetState(desktop.RDSDrainMode) }), of(func(r *RDSServer) { r.SetState("") })},
	}
}

func (e *Estate) siteIncidents() []incident {
	broken := func(f saml.Fault) func() error { return always(func() { e.SAML.Break(f) }) }
	return []incident{
		{desktop.IncidentSignOn, "saml-down", "the identity provider is down",
			always(func() { e.SAML.Listener().Set(flakylistener.Down) }), always(func() { e.SAML.Listener().Set(flakylistener.Up) })},
		{desktop.IncidentSignOn, "saml-expired", "the metadata of the identity provider have expired", broken(saml.Expired), broken(saml.Healthy)},
		{desktop.IncidentSignOn, "saml-ending", "the metadata of the identity provider are about to expire", broken(saml.EndingSoon), broken(saml.Healthy)},
		{desktop.IncidentSignOn, "saml-tampered", "the metadata of the identity provider were tampered with", broken(saml.Tampered), broken(saml.Healthy)},
		{desktop.IncidentSignOn, "enrollment-server-down", "the primary enrollment server is down",
			always(func() { e.Enrollment[0].Listener().Set(flakylistener.Down) }), always(func() { e.Enrollment[0].Listener().Set(flakylistener.Up) })},
		{desktop.IncidentVirtualCenters, "composer-down", "the composer is down",
			always(func() { e.Composer.Listener().Set(flakylistener.Down) }), always(func() { e.Composer.Listener().Set(flakylistener.Up) })},
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
	host := func(s types.HostSystemConnectionState) func() error { return always(func() { c.SetHost(0, s) }) }
	return []incident{
		{desktop.IncidentVirtualCenters, "center-down", "the virtual center is down",
			always(func() { c.Listener().Set(flakylistener.Down) }), always(func() { c.Listener().Set(flakylistener.Up) })},
		{desktop.IncidentVirtualCenters, "center-denies", "the virtual center denies read access",
			always(func() { c.Break(vcenter.NoPermission) }), always(func() { c.Break(vcenter.Healthy) })},
		{desktop.IncidentVirtualCenters, "host-down", fmt.Sprintf("one of %d hosts does not respond", c.Hosts()),
			host(types.HostSystemConnectionStateNotResponding), host(types.HostSystemConnectionStateConnected)},
		{desktop.IncidentVirtualCenters, "host-disconnected", "a host was disconnected",
			host(types.HostSystemConnectionStateDisconnected), host(types.HostSystemConnectionStateConnected)},
		{desktop.IncidentVirtualCenters, "datastore-lost", "a datastore is not accessible",
			always(func() { c.SetDatastore(0, false) }), always(func() { c.SetDatastore(0, true) })},
	}
}
