package desktop

import "time"

// A Gateway gives external clients access. It reports by heartbeat.
type Gateway struct {
	ID       ID
	Name     string
	Address  string
	Internal bool
	Type     GatewayType
}

// GatewayBeat is a heartbeat of a gateway.
type GatewayBeat struct {
	Version          string   `json:"version"`
	BlastConnections int      `json:"blast_connection_count"`
	PCoIPConnections int      `json:"pcoip_connection_count"`
	Problems         []string `json:"problems,omitempty" maxItems:"16"`
}

// Kind implements [Reading].
func (GatewayBeat) Kind() Kind { return KindGateway }

// GatewayMonitor is the monitor record of a gateway.
type GatewayMonitor struct {
	ID                ID             `json:"id"`
	Name              string         `json:"name"`
	Status            GatewayStatus  `json:"status"`
	Details           GatewayDetails `json:"details"`
	ActiveConnections *int32         `json:"active_connection_count,omitempty"`
	BlastConnections  *int32         `json:"blast_connection_count,omitempty"`
	PCoIPConnections  *int32         `json:"pcoip_connection_count,omitempty"`
	Freshness
	unchecked bool
}

// GatewayDetails describes a gateway.
type GatewayDetails struct {
	Address  string      `json:"address"`
	Internal bool        `json:"internal"`
	Type     GatewayType `json:"type"`
	Version  string      `json:"version"`
}

// StatusOfGateway derives the status of a gateway from its last heartbeat. The parameter started is the time when
// this server started: no gateway could report to this server before.
func (p Policy) StatusOfGateway(s Snapshot[GatewayBeat], started, now time.Time) GatewayStatus {
	switch {
	case !s.EverRead(), isAwaited(s.GoodAt, started, now, p.GatewayInterval):
		return GatewayNotContacted
	case isSilent(s.GoodAt, now, p.GatewayInterval):
		return GatewayStale
	case len(s.Good.Problems) > 0:
		return GatewayProblem
	}
	return GatewayOK
}

// GatewayRecord derives the monitor record of a gateway.
func (p Policy) GatewayRecord(g Gateway, s Snapshot[GatewayBeat], started, now time.Time) GatewayMonitor {
	m := GatewayMonitor{
		ID: g.ID, Name: g.Name,
		Status:    p.StatusOfGateway(s, started, now),
		Details:   GatewayDetails{g.Address, g.Internal, g.Type, s.Good.Version},
		unchecked: isAwaited(s.GoodAt, started, now, p.GatewayInterval),
	}
	var reasons []string
	switch m.Status {
	case GatewayNotContacted:
		reasons = []string{"it has never reported"}
		if s.EverRead() {
			reasons = []string{"it has not reported since this server started"}
		}
	case GatewayStale:
		reasons = []string{"it has not reported for two intervals"}
	default:
		reasons = s.Good.Problems
		blast, pcoip := Count(int64(s.Good.BlastConnections)), Count(int64(s.Good.PCoIPConnections))
		m.BlastConnections, m.PCoIPConnections = &blast, &pcoip
		m.ActiveConnections = new(Count(int64(blast) + int64(pcoip)))
	}
	m.Freshness = fresh(MillisOf(s.At), HealthOf(KindGateway, "", string(m.Status)), reasons...)
	return m
}

// Ref implements [Record].
func (m GatewayMonitor) Ref() Ref { return Ref{KindGateway, m.ID, m.Name} }

// Statuses implements [Record].
func (m GatewayMonitor) Statuses() []PartStatus {
	return []PartStatus{{Status: string(m.Status), Unchecked: m.unchecked}}
}

// Certificates implements [Record].
func (m GatewayMonitor) Certificates() []PartCertificate { return nil }
