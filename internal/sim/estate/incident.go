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
	"vigil/internal/sim/line"
	"vigil/internal/sim/pki"
	"vigil/internal/sim/saml"
	"vigil/internal/sim/vcenter"
)

// An Incident is something that goes wrong, and can be mended.
type Incident struct {
	Name    string
	Summary string
	begin   func() error
	end     func() error
}

// Begin lets an incident happen.
func (e *Estate) Begin(name string) error {
	i, err := e.incident(name)
	if err != nil {
		return err
	}
	return i.begin()
}

// End mends what an incident broke.
func (e *Estate) End(name string) error {
	i, err := e.incident(name)
	if err != nil {
		return err
	}
	return i.end()
}

func (e *Estate) incident(name string) (Incident, error) {
	all := e.Incidents()
	i := slices.IndexFunc(all, func(i Incident) bool { return i.Name == name })
	if i < 0 {
		return Incident{}, fault.New(fault.NotFound, "there is no incident called %s", name)
	}
	return all[i], nil
}

// always wraps what cannot fail.
func always(f func()) func() error {
	return func() error {
		f()
		return nil
	}
}

// Incidents lists what can be made to happen.
func (e *Estate) Incidents() []Incident {
	all := slices.Concat(e.directoryIncidents(), e.serverIncidents(), e.machineIncidents(), e.siteIncidents(), e.centerIncidents())
	slices.SortFunc(all, func(a, b Incident) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (e *Estate) directoryIncidents() []Incident {
	lab, corp := e.Domains[2], e.Domains[0]
	return []Incident{
		{"domain-down", "the controller of lab.example is gone",
			always(func() { lab.Break(directory.Down) }), always(func() { lab.Break(directory.Healthy) })},
		{"domain-hangs", "the controller of lab.example accepts connections and never answers",
			always(func() { lab.Break(directory.Hung) }), always(func() { lab.Break(directory.Healthy) })},
		{"domain-refuses-binds", "the controller of lab.example answers pings and refuses binds",
			always(func() { lab.Break(directory.PingOnly) }), always(func() { lab.Break(directory.Healthy) })},
		{"sso-template-gone", "the certificate template of single sign-on was deleted",
			always(func() { corp.Change(func(d *directory.Domain) { d.Templates = nil }) }),
			always(func() { corp.Change(restoreTemplate) })},
		{"sso-template-weak", "the certificate template of single sign-on allows short keys",
			always(func() { corp.Change(func(d *directory.Domain) { d.Templates[0].KeySize = 1024 }) }),
			always(func() { corp.Change(restoreTemplate) })},
	}
}

func restoreTemplate(d *directory.Domain) {
	d.Templates = []directory.Template{{Name: ssoTemplate, Usages: []string{directory.SmartCardLogon}, KeySize: 2048}}
}

func (e *Estate) serverIncidents() []Incident {
	peer, pod := e.Peers[0], e.Pods[0]
	return []Incident{
		{"server-down", peer.Name + " is gone",
			always(func() { peer.Line().Set(line.Down) }), always(func() { peer.Line().Set(line.Up) })},
		{"server-complains", peer.Name + " reports a problem of its own",
			always(func() { peer.Complain("its disk is full") }), always(func() { peer.Complain() })},
		{"server-lags", peer.Name + " no longer replicates",
			always(func() { peer.Lag(true) }), always(func() { peer.Lag(false) })},
		{"server-certificate-expired", "the certificate of " + peer.Name + " has ended",
			func() error { return e.reissue(peer, -time.Hour) }, func() error { return e.reissue(peer, 365*24*time.Hour) }},
		{"server-certificate-ending", "the certificate of " + peer.Name + " ends in five days",
			func() error { return e.reissue(peer, 5*24*time.Hour) }, func() error { return e.reissue(peer, 365*24*time.Hour) }},
		{"secure-gateway-down", "the secure gateway of " + peer.Name + " refuses connections",
			always(func() { e.SecurePorts[0].Set(line.Down) }), always(func() { e.SecurePorts[0].Set(line.Up) })},
		{"pod-down", pod.Name + " of a remote pod is gone",
			always(func() { pod.Line().Set(line.Down) }), always(func() { pod.Line().Set(line.Up) })},
	}
}

// reissue gives a peer a certificate that lasts for the given time.
func (e *Estate) reissue(p *Peer, left time.Duration) error {
	now := e.options.Now()
	leaf, err := e.ca.Leaf(pki.Validity{From: now.Add(-48 * time.Hour), To: now.Add(left)}, "localhost", "127.0.0.1")
	if err == nil {
		p.Show(leaf)
	}
	return err
}

func (e *Estate) machineIncidents() []Incident {
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
	return []Incident{
		{"gateway-silent", gateway.Name + " stops reporting",
			always(func() { gateway.Silence(true) }), always(func() { gateway.Silence(false) })},
		{"gateway-problem", gateway.Name + " reports a problem",
			always(func() { gateway.Complain("a back end is unreachable") }), always(func() { gateway.Complain() })},
		{"farm-fails", "every agent of " + farm + " reports an error",
			of(func(r *RDSServer) { r.SetState(desktop.RDSDomainFailure, "the domain cannot be reached") }),
			of(func(r *RDSServer) { r.SetState("") })},
		{"farm-silent", "every agent of " + farm + " stops reporting",
			of(func(r *RDSServer) { r.Silence(true) }), of(func(r *RDSServer) { r.Silence(false) })},
		{"farm-full", "every server of " + farm + " is fully loaded",
			of(func(r *RDSServer) { r.SetLoad(new(100)) }), of(func(r *RDSServer) { r.SetLoad(nil) })},
		{"farm-drains", "every server of " + farm + " is being drained",
			of(func(r *RDSServer) { r.SetState(desktop.RDSDrainMode) }), of(func(r *RDSServer) { r.SetState("") })},
	}
}

func (e *Estate) siteIncidents() []Incident {
	broken := func(f saml.Fault) func() error { return always(func() { e.SAML.Break(f) }) }
	return []Incident{
		{"saml-down", "the identity provider is gone",
			always(func() { e.SAML.Line().Set(line.Down) }), always(func() { e.SAML.Line().Set(line.Up) })},
		{"saml-expired", "the metadata of the identity provider have expired", broken(saml.Expired), broken(saml.Healthy)},
		{"saml-ending", "the metadata of the identity provider are about to expire", broken(saml.EndingSoon), broken(saml.Healthy)},
		{"saml-tampered", "the metadata of the identity provider were tampered with", broken(saml.Tampered), broken(saml.Healthy)},
		{"enrollment-server-down", "the primary enrollment server is gone",
			always(func() { e.Enrollment[0].Line().Set(line.Down) }), always(func() { e.Enrollment[0].Line().Set(line.Up) })},
		{"composer-down", "the composer is gone",
			always(func() { e.Composer.Line().Set(line.Down) }), always(func() { e.Composer.Line().Set(line.Up) })},
		{"composer-untrusted", "the composer shows a certificate that nobody vouches for",
			func() error {
				leaf, err := pki.SelfSigned(pki.Around(e.options.Now(), 24*time.Hour), "localhost")
				if err == nil {
					e.Composer.Show(leaf)
				}
				return err
			},
			func() error {
				leaf, err := e.leaf()
				if err == nil {
					e.Composer.Show(leaf)
				}
				return err
			}},
	}
}

func (e *Estate) centerIncidents() []Incident {
	if len(e.Centers) == 0 {
		return nil
	}
	c := e.Centers[0]
	host := func(s types.HostSystemConnectionState) func() error { return always(func() { c.SetHost(0, s) }) }
	return []Incident{
		{"center-down", "the virtual center is gone",
			always(func() { c.Line().Set(line.Down) }), always(func() { c.Line().Set(line.Up) })},
		{"center-denies", "the virtual center lets us read nothing",
			always(func() { c.Break(vcenter.NoPermission) }), always(func() { c.Break(vcenter.Healthy) })},
		{"host-down", fmt.Sprintf("one of %d hosts does not respond", c.Hosts()),
			host(types.HostSystemConnectionStateNotResponding), host(types.HostSystemConnectionStateConnected)},
		{"host-disconnected", "a host was disconnected",
			host(types.HostSystemConnectionStateDisconnected), host(types.HostSystemConnectionStateConnected)},
		{"datastore-lost", "a datastore is not accessible",
			always(func() { c.SetDatastore(0, false) }), always(func() { c.SetDatastore(0, true) })},
	}
}
