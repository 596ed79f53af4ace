package desktop

import (
	"slices"
	"time"
)

// A ConnectionServer brokers client connections. One of them is this server
// (Self).
type ConnectionServer struct {
	ID               ID
	Name             string
	URL              string // https://host:port of its API
	Self             bool
	Trust            Trust
	SecureGateways   []SecureGateway
	SessionThreshold int // 0: not configured
}

// A SecureGateway is a port of a connection server that clients connect
// through.
type SecureGateway struct {
	Service ServiceName
	Address string // host:port
}

// HealthPath is the path below a connection server's URL where peers read its
// health. It requires the peer token and returns a [PeerHealth].
const HealthPath = "/rest/peer/v1/health"

// PeerHealth is the health that a connection server reports to its peers.
type PeerHealth struct {
	Name            string                  `json:"name"`
	Version         string                  `json:"version"`
	Build           string                  `json:"build"`
	Problems        []string                `json:"problems"` // why the server does not work
	Warnings        []string                `json:"warnings"` // problems that do not stop it from working
	ConnectionCount int                     `json:"connection_count"`
	TunnelCount     int                     `json:"tunnel_connection_count"`
	Sessions        map[SessionProtocol]int `json:"sessions,omitempty"`
	Revision        Revision                `json:"revision"`
	Views           []View                  `json:"views"`
}

// A Revision identifies a state of a server's copy of the shared store.
type Revision struct {
	Store  string `json:"store"` // identifies the shared store
	Number int64  `json:"number"`
	At     Millis `json:"at"` // when the store reached this revision
}

// ConnectionServerReading is the result of reading a connection server.
type ConnectionServerReading struct {
	Health   PeerHealth
	Services []Service
}

// Kind implements [Reading].
func (ConnectionServerReading) Kind() Kind { return KindConnectionServer }

// A Peer is a connection server with its latest snapshot.
type Peer struct {
	Server   ConnectionServer
	Snapshot Snapshot[ConnectionServerReading]
}

// ConnectionServerMonitor is the monitor record of a connection server.
type ConnectionServerMonitor struct {
	ID                 ID                      `json:"id"`
	Name               string                  `json:"name"`
	Status             ConnectionServerStatus  `json:"status"`
	Details            ConnectionServerDetails `json:"details"`
	Certificate        Certificate             `json:"certificate"`
	DefaultCertificate *bool                   `json:"default_certificate,omitempty"`
	ConnectionCount    *int32                  `json:"connection_count,omitempty"`
	TunnelCount        *int32                  `json:"tunnel_connection_count,omitempty"`
	SessionThreshold   *int32                  `json:"session_threshold,omitempty"`
	Replications       []Replication           `json:"cs_replications"`
	Services           []Service               `json:"services"`
	Sessions           []ProtocolSessions      `json:"session_protocol_data"`
	Freshness
	unchecked bool
}

// ConnectionServerDetails describes the software of a connection server.
type ConnectionServerDetails struct {
	Build   string `json:"build"`
	Version string `json:"version"`
}

// Replication is the state of replication to a peer.
type Replication struct {
	ServerName string            `json:"server_name"`
	Status     ReplicationStatus `json:"status"`

	blame Ref // the server at fault, when it is not the record's own
}

// Service is the state of a secure gateway.
type Service struct {
	Name   ServiceName   `json:"service_name"`
	Status ServiceStatus `json:"status"`
}

// ProtocolSessions counts the sessions of one protocol.
type ProtocolSessions struct {
	Count    int32           `json:"session_count"`
	Protocol SessionProtocol `json:"session_protocol"`
}

// ConnectionServerRecord derives the monitor record of a connection server.
// The peers are all servers of the inventory, including self; seen holds revisions that any of
// them had before.
func (p Policy) ConnectionServerRecord(self Peer, peers []Peer, seen []Revision, now time.Time) ConnectionServerMonitor {
	cs, s := self.Server, self.Snapshot
	m := ConnectionServerMonitor{
		ID: cs.ID, Name: cs.Name, Status: ConnectionServerOK, unchecked: !s.Tried(),
		Replications: []Replication{}, Services: []Service{}, Sessions: []ProtocolSessions{},
	}
	if s.Certificate != nil {
		m.Certificate = *s.Certificate
		m.DefaultCertificate = &s.Certificate.SelfSigned
	}
	if len(cs.SecureGateways) > 0 && cs.SessionThreshold > 0 {
		m.SessionThreshold = new(Count(int64(cs.SessionThreshold)))
	}
	m.Details = ConnectionServerDetails{Build: s.Good.Health.Build, Version: s.Good.Health.Version}
	var problems, notes []string
	attention := p.expiringCertificates(now, m.Certificates()...)
	switch f := s.Failing(p.FailuresBeforeDown); {
	case !s.Tried():
		m.Status, problems = ConnectionServerUnknown, []string{"not checked yet"}
	case f != nil && f.Cause == Unreachable:
		m.Status, problems = ConnectionServerNotResponding, []string{f.Reason}
	case f != nil:
		m.Status, problems = ConnectionServerError, []string{f.Reason}
	default:
		problems = p.describeServer(&m, self)
		var lag string
		lag, notes = p.describeReplication(&m, self, peers, seen)
		if lag != "" {
			problems = append(problems, lag)
		}
		if len(problems) > 0 {
			m.Status, m.unchecked = ConnectionServerError, false // a problem is certain, even if describeReplication set unchecked
		}
		attention = append(slices.Clone(s.Good.Health.Warnings), attention...)
	}
	health := HealthOf(KindConnectionServer, "", string(m.Status))
	if len(attention) > 0 && health == HealthOK {
		health = HealthWarning
	}
	freshness := fresh(MillisOf(s.At), health, slices.Concat(problems, attention, notes)...)
	freshness.unlisted = m.unlisted // set by describeReplication
	m.Freshness = freshness
	return m
}

// describeServer fills in the fields that a responding server has reported, and
// returns its problems.
func (p Policy) describeServer(m *ConnectionServerMonitor, self Peer) []string {
	h := self.Snapshot.Good.Health
	problems := slices.Clone(h.Problems)
	m.ConnectionCount = new(Count(int64(h.ConnectionCount)))
	m.TunnelCount = new(Count(int64(h.TunnelCount)))
	for _, protocol := range []SessionProtocol{ProtocolPCoIP, ProtocolRDP, ProtocolBlast} {
		if n, ok := h.Sessions[protocol]; ok {
			m.Sessions = append(m.Sessions, ProtocolSessions{Count(int64(n)), protocol})
		}
	}
	m.Services = append(m.Services, self.Snapshot.Good.Services...)
	for _, service := range m.Services {
		if service.Status == ServiceDown {
			problems = append(problems, service.Name.title()+" is down")
		}
	}
	if c := self.Snapshot.Certificate; c != nil && !c.Valid && !c.Accepted && !c.SelfSigned {
		problems = append(problems, "its certificate is not valid")
	}
	return problems
}

// replicationPart begins the names of the parts about replication.
const replicationPart = "replication "

// Ref implements [Record].
func (m ConnectionServerMonitor) Ref() Ref { return Ref{KindConnectionServer, m.ID, m.Name} }

// Statuses implements [Record].
func (m ConnectionServerMonitor) Statuses() []PartStatus {
	out := []PartStatus{{Status: string(m.Status), Unchecked: m.unchecked}}
	for _, r := range m.Replications {
		out = append(out, PartStatus{Part: replicationPart + r.ServerName, Status: string(r.Status), BlamedOn: r.blame})
	}
	for _, s := range m.Services {
		out = append(out, PartStatus{Part: "service " + string(s.Name), Status: string(s.Status)})
	}
	return out
}

// Certificates implements [Record].
func (m ConnectionServerMonitor) Certificates() []PartCertificate {
	return certificates("", &m.Certificate)
}
