package desktop

import "cmp"

// observe adds an observation and derives the records that depend on it. The
// caller holds the lock, as for every function in this file.
func (b *Board) observe(o Observation) {
	switch o.Kind {
	case KindDomain:
		if b.domains.observe(o) {
			// The primary domain's reading contains the trusts of the other domains.
			b.deriveDomains()
			b.deriveSSO()
		}
	case KindConnectionServer:
		if b.servers.observe(o) {
			b.deriveServers()
			b.deriveViewed()
		}
	case KindEventDatabase:
		b.database.observe(o)
		b.deriveDatabase()
	case KindGateway:
		if b.gateways.observe(o) {
			b.deriveGateway(o.ID)
		}
	case KindRDSServer:
		if b.hosts.observe(o) {
			b.deriveHost(o.ID)
			b.deriveFarm(b.hosts.specs[o.ID].FarmID)
		}
	case KindRDSListener:
		if b.ports.observe(o) {
			b.deriveHost(o.ID)
			b.deriveFarm(b.hosts.specs[o.ID].FarmID)
		}
	case KindSAMLAuthenticator:
		if b.saml.observe(o) {
			b.deriveSAML(o.ID)
		}
	case KindPodEndpoint:
		if b.endpoints.observe(o) {
			b.derivePod(b.podOf[o.ID])
		}
	case KindSSOConnector:
		if b.sso.observe(o) {
			b.deriveSSO()
		}
	case KindComposer:
		if b.composers.observe(o) {
			b.deriveComposer(o.ID)
		}
	case KindVirtualCenter:
		if b.centers.observe(o) {
			b.deriveCenter(o.ID)
		}
	}
}

func (b *Board) deriveAll() {
	b.deriveServers()
	b.deriveViewed()
	b.deriveDatabase()
	for _, id := range b.gateways.ids {
		b.deriveGateway(id)
	}
	for _, id := range b.hosts.ids {
		b.deriveHost(id)
	}
	for _, id := range b.farms.ids {
		b.deriveFarm(id)
	}
	for _, id := range b.pods.ids {
		b.derivePod(id)
	}
	b.deriveSSO()
}

// deriveViewed derives the records that contain a view of every connection
// server.
func (b *Board) deriveViewed() {
	b.deriveDomains()
	for _, id := range b.saml.ids {
		b.deriveSAML(id)
	}
	for _, id := range b.composers.ids {
		b.deriveComposer(id)
	}
	for _, id := range b.centers.ids {
		b.deriveCenter(id)
	}
}

func (b *Board) deriveServers() {
	peers := make([]Peer, 0, len(b.servers.ids))
	for _, id := range b.servers.ids {
		peers = append(peers, Peer{b.servers.specs[id], b.servers.snaps[id]})
	}
	b.revisions = b.inventory.Policy.remember(b.revisions, peers)
	for _, p := range peers {
		b.put(KindConnectionServer, p.Server.ID, b.inventory.Policy.ConnectionServerRecord(p, peers, b.revisions, b.now()))
	}
}

func (b *Board) deriveDomains() {
	for _, id := range b.domains.ids {
		views := b.serverViews(b.domainView(id))
		b.put(KindDomain, id, DomainRecord(b.domains.specs[id], b.domainInfo(id).ID, b.domains.snaps[id], b.trustOf(id), views))
	}
}

func (b *Board) deriveDatabase() {
	id := b.eventDatabaseID()
	b.put(KindEventDatabase, id, b.inventory.Policy.EventDatabaseRecord(b.inventory.EventDatabase, b.database.snaps[id], b.now()))
}

// eventDatabaseID returns the id of the event database. It is empty if none is
// configured: the record with the empty id says so.
func (b *Board) eventDatabaseID() ID {
	if b.inventory.EventDatabase == nil {
		return ""
	}
	return b.inventory.EventDatabase.ID
}

func (b *Board) deriveGateway(id ID) {
	b.put(KindGateway, id, b.inventory.Policy.GatewayRecord(b.gateways.specs[id], b.gateways.snaps[id], b.started, b.now()))
}

func (b *Board) deriveHost(id ID) {
	host := b.hosts.specs[id]
	b.put(KindRDSServer, id, b.inventory.Policy.RDSServerRecord(host, b.farms.specs[host.FarmID].Name, b.hosts.snaps[id], b.ports.snaps[id], b.started, b.now()))
}

func (b *Board) deriveFarm(id ID) {
	farm, ok := b.farms.specs[id]
	if !ok {
		return
	}
	servers := make([]RDSServerMonitor, 0, len(b.members[id]))
	for _, member := range b.members[id] {
		if m, ok := b.lists[KindRDSServer].entries[member].record.(RDSServerMonitor); ok {
			servers = append(servers, m)
		}
	}
	b.put(KindFarm, id, b.inventory.Policy.FarmRecord(farm, servers))
}

func (b *Board) deriveSAML(id ID) {
	b.put(KindSAMLAuthenticator, id, SAMLRecord(b.saml.specs[id], b.saml.snaps[id], b.serverViews(b.samlView(id))))
}

func (b *Board) derivePod(id ID) {
	snapshot := func(id ID) Snapshot[PodReading] { return b.endpoints.snaps[id] }
	b.put(KindPod, id, b.inventory.Policy.PodRecord(b.pods.specs[id], snapshot, b.now()))
}

func (b *Board) deriveSSO() {
	for _, id := range b.sso.ids {
		c := b.sso.specs[id]
		b.put(KindSSOConnector, id, b.inventory.Policy.SSORecord(c, b.domainInfo(c.DomainID), b.sso.snaps[id], b.now()))
	}
}

func (b *Board) deriveComposer(id ID) {
	views := b.serverViews(b.composerView(id))
	b.put(KindComposer, id, b.inventory.Policy.ComposerRecord(b.composers.specs[id], b.composers.snaps[id], views, b.now()))
}

func (b *Board) deriveCenter(id ID) {
	views := b.serverViews(b.centerView(id))
	b.put(KindVirtualCenter, id, b.inventory.Policy.VirtualCenterRecord(b.centers.specs[id], b.centers.snaps[id], views, b.now()))
}

func (b *Board) domainView(id ID) View {
	return b.inventory.Policy.DomainView(b.domains.specs[id], b.domains.snaps[id], b.trustOf(id))
}

func (b *Board) samlView(id ID) View {
	return b.inventory.Policy.SAMLView(b.saml.specs[id], b.saml.snaps[id], b.now())
}

func (b *Board) composerView(id ID) View {
	return b.inventory.Policy.ComposerView(b.composers.specs[id], b.composers.snaps[id])
}

func (b *Board) centerView(id ID) View {
	return b.inventory.Policy.VirtualCenterView(b.centers.specs[id], b.centers.snaps[id])
}

// serverViews returns every connection server's view of the component that our own view (self) is about. A peer's
// view is empty if the peer was not read yet or does not answer, or if its inventory lacks or disables the component. In
// the last case the view does not count as unchecked, because no check will change it.
func (b *Board) serverViews(self View) []ServerView {
	out := make([]ServerView, 0, len(b.servers.ids))
	for _, id := range b.servers.ids {
		cs, snap := b.servers.specs[id], b.servers.snaps[id]
		v := ServerView{ServerID: id, ServerName: cs.Name, Self: cs.Self}
		switch {
		case cs.Self:
			v.View, v.Unchecked = self, !self.isChecked()
		case !snap.Tried():
			v.Unchecked = true
		case snap.Failing(b.inventory.Policy.FailuresBeforeDown) != nil:
			v.Silent = true
		default:
			for _, seen := range snap.Good.Health.Views {
				if seen.Kind == self.Kind && seen.ID == self.ID {
					v.View, v.Unchecked = seen, !seen.isChecked()
				}
			}
		}
		out = append(out, v)
	}
	return out
}

// trustOf returns the trust between the primary domain and the given one, or nil.
func (b *Board) trustOf(id ID) *TrustedDomain {
	d := b.domains.specs[id]
	d.NetBIOSName = cmp.Or(d.NetBIOSName, b.domains.snaps[id].Good.NetBIOSName)
	for _, other := range b.domains.ids {
		if b.domains.specs[other].Primary {
			return FindTrust(d, b.domains.snaps[other].Good.Trusts)
		}
	}
	return nil
}

func (b *Board) domainInfo(id ID) DomainInfo {
	d, reading := b.domains.specs[id], b.domains.snaps[id].Good
	info := DomainInfo{
		DNSName:     d.DNSName,
		ID:          cmp.Or(d.SID, reading.SID),
		NetBIOSName: cmp.Or(d.NetBIOSName, reading.NetBIOSName, netbiosGuess(d.DNSName)),
	}
	if t := b.trustOf(id); t != nil && info.ID == "" {
		info.ID = t.SID // the trusting directory knows the SID, even while the domain is down
	}
	return info
}
