package desktop

import (
	"sync"
	"sync/atomic"
	"time"
)

// A Board is the in-memory state of all monitored components: the latest
// readings, and the monitor records derived from them. Probes and heartbeats
// add observations; the API, metrics, alerts and the history read the records.
//
// Methods are safe for concurrent use. Returned records and documents are
// shared and must not be changed.
type Board struct {
	now     func() time.Time
	started time.Time // when agents could report for the first time

	mu        sync.Mutex
	inventory Inventory
	domains   componentSet[Domain, DomainReading]
	servers   componentSet[ConnectionServer, ConnectionServerReading]
	database  componentSet[EventDatabase, EventDatabaseReading]
	farms     componentSet[Farm, Reading]
	gateways  componentSet[Gateway, GatewayBeat]
	hosts     componentSet[RDSServer, AgentBeat]
	ports     componentSet[RDSServer, ListenerReading]
	saml      componentSet[SAMLAuthenticator, SAMLReading]
	pods      componentSet[Pod, Reading]
	endpoints componentSet[PodEndpoint, PodReading]
	sso       componentSet[SSOConnector, SSOReading]
	composers componentSet[Composer, ComposerReading]
	centers   componentSet[VirtualCenter, VirtualCenterReading]
	members   map[ID][]ID // farm -> its RDS servers
	podOf     map[ID]ID   // pod endpoint -> its pod
	pending   []Change
	pulse     Pulse
	revisions []Revision        // that connection servers had; see Policy.remember
	loadedAt  Millis            // of the inventory
	refused   *RefusedInventory // a newer inventory that was refused
	revision  uint64            // incremented when a record changes

	lists    map[Kind]*list
	overview atomic.Pointer[Document] // nil when a record changed since it was encoded

	notifying sync.Mutex // held while listeners are called, so that they are called in order
	listeners []func([]Change)
}

// NewBoard returns a board without components.
func NewBoard(now func() time.Time) *Board {
	b := &Board{now: now, started: now(), lists: make(map[Kind]*list), revision: uint64(now().UnixNano())}
	for _, k := range Kinds() {
		b.lists[k] = &list{entries: make(map[ID]entry), tracked: make(map[ID]map[string]tracked), single: k == KindEventDatabase, revision: uint64(now().UnixNano())}
	}
	b.Configure(Inventory{Policy: DefaultPolicy()})
	return b
}

// Listen registers f to be called with the changes of statuses, in order. It
// must be called before the first observation; f must return quickly.
func (b *Board) Listen(f func([]Change)) { b.listeners = append(b.listeners, f) }

// Configure replaces the inventory. The state of components that are in both is
// kept.
func (b *Board) Configure(inv Inventory) {
	b.mu.Lock()
	b.inventory = inv
	b.domains.configure(inv.Domains, func(d Domain) ID { return d.ID })
	b.servers.configure(inv.ConnectionServers, func(c ConnectionServer) ID { return c.ID })
	b.database.configure(sliceOf(inv.EventDatabase), func(d EventDatabase) ID { return d.ID })
	b.farms.configure(inv.Farms, func(f Farm) ID { return f.ID })
	b.gateways.configure(inv.Gateways, func(g Gateway) ID { return g.ID })
	b.hosts.configure(inv.RDSServers, func(r RDSServer) ID { return r.ID })
	// A server whose address was removed, and a disabled endpoint, are not probed any more:
	// their last snapshots must not stay.
	var listeners []RDSServer
	for _, r := range inv.RDSServers {
		if r.Address != "" {
			listeners = append(listeners, r)
		}
	}
	b.ports.configure(listeners, func(r RDSServer) ID { return r.ID })
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
		for _, e := range p.Endpoints {
			b.podOf[e.ID] = p.ID
			if e.Enabled {
				endpoints = append(endpoints, e)
			}
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
	b.notify()
}

// order sets the components of each list, in the order of the inventory.
func (b *Board) order() {
	b.lists[KindDomain].order(b.domains.ids)
	b.lists[KindConnectionServer].order(b.servers.ids)
	b.lists[KindEventDatabase].order([]ID{b.eventDatabaseID()})
	b.lists[KindFarm].order(b.farms.ids)
	b.lists[KindGateway].order(b.gateways.ids)
	b.lists[KindRDSServer].order(b.hosts.ids)
	b.lists[KindSAMLAuthenticator].order(b.saml.ids)
	b.lists[KindPod].order(b.pods.ids)
	b.lists[KindSSOConnector].order(b.sso.ids)
	b.lists[KindComposer].order(b.composers.ids)
	b.lists[KindVirtualCenter].order(b.centers.ids)
}

// Observe adds the result of one attempt to read a component. Observations of
// components that are not in the inventory, as after a reload, are ignored.
func (b *Board) Observe(o Observation) {
	b.mu.Lock()
	b.observe(o)
	b.mu.Unlock()
	b.notify()
}

// Tick derives all records again, for the statuses that change with time alone.
// The owner of the board calls it every few seconds.
func (b *Board) Tick() {
	b.mu.Lock()
	b.deriveAll()
	b.mu.Unlock()
	b.notify()
}

// notify calls the listeners with the pending changes.
func (b *Board) notify() {
	b.notifying.Lock()
	defer b.notifying.Unlock()
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

// Domains returns the domains whose SID is known.
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

// Domain returns the domain with the given SID. It returns false if there is
// none.
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

// Lockout returns the lockout policy that was last read from a domain's
// directory.
func (b *Board) Lockout(id ID) LockoutPolicy {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.domains.snaps[id].Good.Lockout
}

// VirtualCenters returns the configuration of the virtual centers.
func (b *Board) VirtualCenters() []VirtualCenterInfo {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := []VirtualCenterInfo{}
	for _, id := range b.centers.ids {
		out = append(out, b.centers.specs[id].Information(b.centers.snaps[id].Good))
	}
	return out
}

// Views returns this server's own views of the components that every connection
// server checks for itself, without disabled ones, which are not checked. Peers read them.
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
		if b.centers.specs[id].Enabled {
			out = append(out, b.centerView(id))
		}
	}
	return out
}

// A componentSet holds the specs of one kind and the latest snapshot of each
// component.
type componentSet[S any, R Reading] struct {
	ids   []ID
	specs map[ID]S
	snaps map[ID]Snapshot[R]
}

func (s *componentSet[S, R]) configure(specs []S, id func(S) ID) {
	snapshots := s.snaps
	s.ids, s.specs, s.snaps = nil, make(map[ID]S), make(map[ID]Snapshot[R])
	for _, spec := range specs {
		s.ids = append(s.ids, id(spec))
		s.specs[id(spec)] = spec
		if snap, ok := snapshots[id(spec)]; ok {
			s.snaps[id(spec)] = snap
		}
	}
}

// observe adds an observation. It returns false if the component is unknown.
func (s *componentSet[S, R]) observe(o Observation) bool {
	if _, ok := s.specs[o.ID]; !ok {
		return false
	}
	s.snaps[o.ID] = s.snaps[o.ID].With(o)
	return true
}

func sliceOf[T any](p *T) []T {
	if p == nil {
		return nil
	}
	return []T{*p}
}

// A list holds the records of one kind, encoded for the API.
type list struct {
	single   bool // encoded as one object instead of an array
	ids      []ID
	entries  map[ID]entry
	tracked  map[ID]map[string]tracked // component -> part -> last known status
	revision uint64
	document atomic.Pointer[Document] // nil when an entry changed since it was encoded
}

type entry struct {
	record Record
	json   []byte
}
