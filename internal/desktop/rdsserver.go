package desktop

import (
	"slices"
	"time"
)

// An RDSServer is a session host of a farm.
type RDSServer struct {
	ID          ID
	Name        string
	FarmID      ID
	Enabled     bool
	MaxSessions int    // 0: not configured
	Address     string // host:port of its RDP listener; when empty, it is not probed
}

// AgentBeat is a heartbeat of the agent on an RDS server.
type AgentBeat struct {
	AgentVersion    string          `json:"agent_version"`
	AgentBuild      string          `json:"agent_build"`
	OperatingSystem OperatingSystem `json:"operating_system"`
	State           RDSState        `json:"state,omitempty"`      // empty means AVAILABLE
	LoadIndex       *int            `json:"load_index,omitempty"` // 0 to 100; absent: not measured
	SessionCount    int             `json:"session_count"`
	Problems        []string        `json:"problems,omitempty" maxItems:"16"`
}

// Kind implements [Reading].
func (AgentBeat) Kind() Kind { return KindRDSServer }

// ListenerReading is the result of connecting to a server's RDP listener.
type ListenerReading struct {
	Protocol string // the negotiated security protocol: TLS, CredSSP
}

// Kind implements [Reading].
func (ListenerReading) Kind() Kind { return KindRDSListener }

// RDSServerMonitor is the monitor record of an RDS server.
type RDSServerMonitor struct {
	ID             ID               `json:"id"`
	Name           string           `json:"name"`
	FarmID         ID               `json:"farm_id"`
	FarmName       string           `json:"farm_name"`
	Enabled        bool             `json:"enabled"`
	Status         RDSStatus        `json:"status"`
	Details        RDSServerDetails `json:"details"`
	LoadIndex      *int32           `json:"load_index,omitempty"`
	LoadPreference LoadPreference   `json:"load_preference,omitempty"`
	SessionCount   *int32           `json:"session_count,omitempty"`
	Freshness
	certificate *Certificate
	unchecked   bool
}

// RDSServerDetails describes an RDS server.
type RDSServerDetails struct {
	AgentBuild      string          `json:"agent_build"`
	AgentVersion    string          `json:"agent_version"`
	MaxSessions     *int32          `json:"max_sessions_count_configured,omitempty"`
	OperatingSystem OperatingSystem `json:"operating_system"`
	State           RDSState        `json:"state"`
}

// StateOfRDSServer derives the state of an RDS server from its agent's
// heartbeat and its RDP listener. A problem that the agent reports takes
// precedence over the server being disabled, because the problem persists. started
// is when the connection server started: no agent could report to it before.
func (p Policy) StateOfRDSServer(enabled bool, s Snapshot[AgentBeat], l Snapshot[ListenerReading], started, now time.Time) RDSState {
	switch state := p.reachedState(s, l, started, now); {
	case statusOfState[state] != RDSStatusOK:
		return state
	case !enabled && s.Good.SessionCount > 0:
		return RDSDisableInProgress
	case !enabled:
		return RDSDisabled
	default:
		return state
	}
}

// reachedState derives the state as if the server were enabled.
func (p Policy) reachedState(s Snapshot[AgentBeat], l Snapshot[ListenerReading], started, now time.Time) RDSState {
	listenerFailure := l.Failing(p.FailuresBeforeDown)
	switch state := reportedState(s.Good); {
	case s.EverRead() && isAwaited(s.GoodAt, started, now, p.AgentInterval):
		return RDSWaitForAgent
	case s.EverRead() && isSilent(s.GoodAt, now, p.AgentInterval):
		return RDSAgentUnreachable
	case s.EverRead() && statusOfState[state] == RDSStatusOK && listenerFailure != nil:
		return RDSProtocolFailure
	case s.EverRead():
		return state
	case !l.Tried():
		return RDSWaitForAgent
	case listenerFailure == nil:
		return RDSAvailable // without an agent, the listener determines the state
	case listenerFailure.Cause == Unreachable:
		return RDSAgentUnreachable // the contract has no state for an unreachable server
	}
	return RDSProtocolFailure
}

func reportedState(b AgentBeat) RDSState {
	switch {
	case b.State == "":
		return RDSAvailable
	case !b.State.Known():
		return RDSUnknown
	}
	return b.State
}

// isSilent reports whether two successive intervals passed without a heartbeat.
func isSilent(last, now time.Time, interval time.Duration) bool {
	return now.Sub(last) > 2*interval
}

// isAwaited reports whether an agent is silent only because the connection server was down:
// its last report is too old, but the connection server has run for less than two intervals.
func isAwaited(last, started, now time.Time, interval time.Duration) bool {
	return isSilent(last, now, interval) && !isSilent(started, now, interval)
}

// PreferenceOf derives the load preference from a load index, which is nil if unknown.
func PreferenceOf(load *int) LoadPreference {
	switch {
	case load == nil:
		return LoadUnknown
	case *load >= 95:
		return LoadBlock
	case *load > 75:
		return LoadHeavy
	case *load > 50:
		return LoadNormal
	}
	return LoadLight
}

// RDSServerRecord derives the monitor record of an RDS server; farm is its
// farm's name.
func (p Policy) RDSServerRecord(r RDSServer, farm string, s Snapshot[AgentBeat], l Snapshot[ListenerReading], started, now time.Time) RDSServerMonitor {
	state := p.StateOfRDSServer(r.Enabled, s, l, started, now)
	awaited := isAwaited(s.GoodAt, started, now, p.AgentInterval)
	// An agent that never reported is awaited only until the listener was probed: then the listener
	// determines the state.
	awaitsAgent := awaited && (s.EverRead() || !l.Tried())
	awaitsListener := r.Address != "" && !l.Tried()
	m := RDSServerMonitor{
		ID: r.ID, Name: r.Name, FarmID: r.FarmID, FarmName: farm, Enabled: r.Enabled,
		Status: statusOfState[state],
		Details: RDSServerDetails{
			AgentBuild: s.Good.AgentBuild, AgentVersion: s.Good.AgentVersion,
			OperatingSystem: OSUnknown, State: state,
		},
		LoadPreference: LoadUnknown,
		unchecked:      awaitsAgent || awaitsListener,
	}
	if s.Good.OperatingSystem.Known() {
		m.Details.OperatingSystem = s.Good.OperatingSystem
	}
	if r.MaxSessions > 0 {
		m.Details.MaxSessions = new(Count(int64(r.MaxSessions)))
	}
	var reasons []string
	if s.EverRead() && state != RDSAgentUnreachable && !awaited {
		reasons = append(reasons, s.Good.Problems...)
		m.SessionCount = new(Count(int64(s.Good.SessionCount)))
		m.LoadPreference = PreferenceOf(s.Good.LoadIndex)
		if s.Good.LoadIndex != nil {
			m.LoadIndex = new(Count(int64(min(*s.Good.LoadIndex, 100))))
		}
	}
	if m.Status == RDSStatusOK && m.LoadPreference == LoadBlock {
		m.Status = RDSStatusWarning
		reasons = append(reasons, "it takes no more sessions: its load is full")
	}
	if !r.Enabled {
		m.Status = RDSStatusDisabled
	}
	reason := state.Reason()
	if s.EverRead() && awaited {
		reason = "its agent has not reported since this server started"
	}
	if f := l.Failing(p.FailuresBeforeDown); f != nil {
		if state == RDSProtocolFailure || !s.EverRead() {
			reason = "" // the failure of the listener is the whole reason
		}
		reasons = append(reasons, f.Reason)
	}
	m.certificate = l.Certificate
	health, expiring := HealthOf(KindRDSServer, "", string(m.Status)), p.expiringCertificates(now, m.Certificates()...)
	switch {
	case m.unchecked && r.Enabled:
		health = HealthUnknown
	case len(expiring) > 0 && health == HealthOK:
		health = HealthWarning
	}
	m.Freshness = fresh(max(MillisOf(s.At), MillisOf(l.At)), health, slices.Concat([]string{reason}, reasons, expiring)...)
	return m
}

// Ref implements [Record].
func (m RDSServerMonitor) Ref() Ref { return Ref{KindRDSServer, m.ID, m.Name} }

// Statuses implements [Record].
func (m RDSServerMonitor) Statuses() []PartStatus {
	farm := Ref{KindFarm, m.FarmID, m.FarmName}
	return []PartStatus{
		{Status: string(m.Status), Unchecked: m.unchecked, BlamedOn: farm},
		{Part: statePart, Status: string(m.Details.State), Unchecked: m.unchecked, BlamedOn: farm},
	}
}

// Certificates implements [Record].
func (m RDSServerMonitor) Certificates() []PartCertificate { return certificates("", m.certificate) }
