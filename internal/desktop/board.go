package desktop

import (
	"sync"
	"sync/atomic"
	"time"
)

// A Board holds what is known of the whole estate: the last readings, and the
// monitor records derived from them. Probes and heartbeats put observations on
// it; the API, metrics, alerts and the history read from it.
//
// Methods are safe for concurrent use. Records and documents that it returns
// are shared and must not be changed.
type Board struct {
	now func() time.Time

	mu        sync.Mutex
	inventory Inventory
	domains   shelf[Domain, DomainReading]
	servers   shelf[ConnectionServer, ConnectionServerReading]
	database  shelf[EventDatabase, EventDatabaseReading]
	farms     shelf[Farm, Reading]
	gateways  shelf[Gateway, GatewayBeat]
	hosts     shelf[RDSServer, AgentBeat]
	ports     shelf[RDSServer, ListenerReading]
	saml      shelf[SAMLAuthenticator, SAMLReading]
	pods      shelf[Pod, Reading]
	endpoints shelf[PodEndpoint, PodReading]
	sso       shelf[SSOConnector, SSOReading]
	composers shelf[Composer, ComposerReading]
	centers   shelf[VirtualCenter, VirtualCenterReading]
	members   map[ID][]ID // farm -> its RDS servers
	podOf     map[ID]ID   // pod endpoint -> its pod
	pending   []Change
	pulse     Pulse
	loadedAt  Millis            // of the inventory
	refused   *RefusedInventory // a newer inventory that is not in use
	revision  uint64            // counts the changes of records

	lists    map[Kind]*list
	overview atomic.Pointer[Document] // nil when a record changed since

	telling   sync.Mutex // held while listeners are told, so that they hear in order
	listeners []func([]Change)
}

// NewBoard returns a board without components.
func NewBoard(now func() time.Time) *Board {
	b := &Board{now: now, lists: make(map[Kind]*list), revision: uint64(now().UnixNano())}
	for _, k := range Kinds() {
		b.lists[k] = &list{entries: make(map[ID]entry), tracked: make(map[ID]map[string]tracked), single: k == KindEventDatabase, revision: uint64(now().UnixNano())}
	}
	b.Configure(Inventory{Policy: DefaultPolicy()})
	return b
}

// Listen has f called with the changes of statuses, in their order. It must be
// called before the first observation; f must be quick.
func (b *Board) Listen(f func([]Change)) { b.listeners = append(b.listeners, f) }

// Configure takes over an inventory. What is known of components that it still
// has is kept.
func (b *Board) Configure(inv Inventory) {
	b.mu.Lock()
	b.inventory = inv
	b.domains.configure(inv.Domains, func(d Domain) ID { return d.ID })
	b.servers.configure(inv.ConnectionServers, func(c ConnectionServer) ID { return c.ID })
	b.database.configure(pointed(inv.EventDatabase), func(d EventDatabase) ID { return d.ID })
	b.farms.configure(inv.Farms, func(f Farm) ID { return f.ID })
	b.gateways.configure(inv.Gateways, func(g Gateway) ID { return g.ID })
	b.hosts.configure(inv.RDSServers, func(r RDSServer) ID { return r.ID })
	b.ports.configure(inv.RDSServers, func(r RDSServer) ID { return r.ID })
	b.saml.configure(inv.SAMLAuthenticators, func(a SAMLAuthenticator) ID { return a.ID })
	b.pods.configure(inv.Pods, func(p Pod) ID { return p.ID })
	b.sso.configure(inv.SSOConnectors, func(c SSOConnector) ID { return c.ID })
	b.composers.configure(inv.Composers, func(c Composer) ID { return c.ID })
	b.centers.configure(inv.VirtualCenters, func(v VirtualCenter) ID { return v.ID })
	b.members, b.podOf = make(map[ID][]ID), make(map[ID]ID)
	for _, r := range inv.RDSServers {
		b.members[r.FarmID] = append(b.members[r.FarmID], r.ID)
	}
	var endpoints []PodEndpoint
	for _, p := range inv.Pods {
		endpoints = append(endpoints, p.Endpoints...)
		for _, e := range p.Endpoints {
			b.podOf[e.ID] = p.ID
		}
	}
	b.endpoints.configure(endpoints, func(e PodEndpoint) ID { return e.ID })
	b.order()
	b.loadedAt, b.refused = MillisOf(b.now()), nil
	b.pulse.Inventory = b.loadedAt
	b.overview.Store(nil)
	b.revision++
	b.deriveAll()
	b.mu.Unlock()
	b.tell()
}

// order gives each list the components of the inventory, in its order.
func (b *Board) order() {
	b.lists[KindDomain].order(b.domains.ids)
	b.lists[KindConnectionServer].order(b.servers.ids)
	b.lists[KindEventDatabase].order(append(b.database.ids, ID(""))[:1])
	b.lists[KindFarm].order(b.farms.ids)
	b.lists[KindGateway].order(b.gateways.ids)
	b.lists[KindRDSServer].order(b.hosts.ids)
	b.lists[KindSAMLAuthenticator].order(b.saml.ids)
	b.lists[KindPod].order(b.pods.ids)
	b.lists[KindSSOConnector].order(b.sso.ids)
	b.lists[KindComposer].order(b.composers.ids)
	b.lists[KindVirtualCenter].order(b.centers.ids)
}

// Observe takes in one attempt to read a component. One of a component that the
// inventory does not have, as after a reload, is dropped.
func (b *Board) Observe(o Observation) {
	b.mu.Lock()
	b.observe(o)
	b.mu.Unlock()
	b.tell()
}

// Tick derives all records anew, for those statuses that the passing of time
// alone changes. Whoever owns the board calls it every few seconds.
func (b *Board) Tick() {
	b.mu.Lock()
	b.deriveAll()
	b.mu.Unlock()
	b.tell()
}

// tell passes on the changes that are waiting.
func (b *Board) tell() {
	b.telling.Lock()
	defer b.telling.Unlock()
	b.mu.Lock()
	changes := b.pending
	b.pending = nil
	b.mu.Unlock()
	if len(changes) == 0 {
		return
	}
	for _, f := range b.listeners {
		f(changes)
	}
}

// Inventory returns the inventory in use.
func (b *Board) Inventory() Inventory {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.inventory
}

// Domains tells of the domains whose SID is known.
func (b *Board) Domains() []DomainInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []DomainInfo{}
	for _, id := range b.domains.ids {
		if info := b.domainInfo(id); info.ID != "" {
			out = append(out, info)
		}
	}
	return out
}

// Domain returns the domain with the given SID, and whether there is one.
func (b *Board) Domain(sid string) (Domain, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range b.domains.ids {
		if sid != "" && b.domainInfo(id).ID == sid {
			return b.domains.specs[id], true
		}
	}
	return Domain{}, false
}

// Lockout returns the lockout policy that a domain's directory was last seen
// to have.
func (b *Board) Lockout(id ID) LockoutPolicy {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.domains.snaps[id].Good.Lockout
}

// VirtualCenters tells of the configuration of the virtual centers.
func (b *Board) VirtualCenters() []VirtualCenterInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []VirtualCenterInfo{}
	for _, id := range b.centers.ids {
		out = append(out, b.centers.specs[id].Information(b.centers.snaps[id].Good))
	}
	return out
}

// Views returns how we see the components that connection servers see each for
// themselves: what our peers are told.
func (b *Board) Views() []View {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []View{}
	for _, id := range b.domains.ids {
		out = append(out, b.domainView(id))
	}
	for _, id := range b.saml.ids {
		out = append(out, b.samlView(id))
	}
	for _, id := range b.composers.ids {
		out = append(out, b.composerView(id))
	}
	for _, id := range b.centers.ids {
		out = append(out, b.centerView(id))
	}
	return out
}

// A shelf holds the specs of one kind and what was last read of each.
type shelf[S any, R Reading] struct {
	ids   []ID
	specs map[ID]S
	snaps map[ID]Snapshot[R]
}

func (s *shelf[S, R]) configure(specs []S, id func(S) ID) {
	kept := s.snaps
	s.ids, s.specs, s.snaps = nil, make(map[ID]S), make(map[ID]Snapshot[R])
	for _, spec := range specs {
		s.ids = append(s.ids, id(spec))
		s.specs[id(spec)] = spec
		if snap, ok := kept[id(spec)]; ok {
			s.snaps[id(spec)] = snap
		}
	}
}

// observe takes in an observation and reports whether its component is here.
func (s *shelf[S, R]) observe(o Observation) bool {
	if _, ok := s.specs[o.ID]; !ok {
		return false
	}
	s.snaps[o.ID] = s.snaps[o.ID].With(o)
	return true
}

func pointed[T any](p *T) []T {
	if p == nil {
		return nil
	}
	return []T{*p}
}

// A list holds the records of one kind, ready to be served.
type list struct {
	single   bool // served as one object
	ids      []ID
	entries  map[ID]entry
	tracked  map[ID]map[string]tracked // component -> part -> last known status
	revision uint64
	document atomic.Pointer[Document] // nil when the entries changed since
}

type entry struct {
	record Record
	json   []byte
}
