package desktop

import "time"

// An EventDatabase is a database into which events are written for other
// programs to read.
type EventDatabase struct {
	ID       ID
	Type     DatabaseType
	Server   string
	Port     int
	Database string
	User     string
	Password SecretRef
	Prefix   string // of the event tables; may be empty
	Trust    Trust
	Plain    bool // without TLS
}

// EventDatabaseReading is the result of reading the event database.
type EventDatabaseReading struct {
	EventCount int64
	NoTables   bool // the event tables do not exist yet
}

// Kind implements [Reading].
func (EventDatabaseReading) Kind() Kind { return KindEventDatabase }

// EventDatabaseMonitor is the monitor record of the event database.
type EventDatabaseMonitor struct {
	ID         ID                    `json:"id,omitempty"` // absent when none is configured
	Details    *EventDatabaseDetails `json:"details,omitempty"`
	EventCount *int32                `json:"event_count,omitempty"`
	Status     EventDatabaseStatus   `json:"status"`
	Freshness
	ref         Ref
	certificate *Certificate
	unchecked   bool
}

// EventDatabaseDetails describes the event database's address.
type EventDatabaseDetails struct {
	DatabaseName string       `json:"database_name"`
	Port         int32        `json:"port"`
	Prefix       string       `json:"prefix"`
	ServerName   string       `json:"server_name"`
	Type         DatabaseType `json:"type"`
	UserName     string       `json:"user_name"`
}

// EventDatabaseRecord derives the monitor record of the event database; db is
// nil when none is configured.
func (p Policy) EventDatabaseRecord(db *EventDatabase, s Snapshot[EventDatabaseReading], now time.Time) EventDatabaseMonitor {
	if db == nil {
		return EventDatabaseMonitor{
			Status:    EventDatabaseNotConfigured,
			Freshness: fresh(0, HealthUnknown, "the inventory names no event database"),
			ref:       Ref{Kind: KindEventDatabase},
		}
	}
	m := EventDatabaseMonitor{
		ID: db.ID,
		Details: &EventDatabaseDetails{
			DatabaseName: db.Database, Port: Count(int64(db.Port)), Prefix: db.Prefix,
			ServerName: db.Server, Type: db.Type, UserName: db.User,
		},
		Status:      p.eventDatabaseStatus(s),
		ref:         Ref{KindEventDatabase, db.ID, db.Server},
		certificate: s.Certificate,
	}
	if s.EverRead() {
		m.EventCount = new(Count(s.Good.EventCount))
	}
	m.unchecked = !s.Tried()
	health := HealthOf(KindEventDatabase, "", string(m.Status))
	reasons := p.expiringCertificates(now, m.Certificates()...)
	if len(reasons) > 0 && health == HealthOK {
		health = HealthWarning
	}
	if m.Status != EventDatabaseConnected && s.Failure != nil {
		reasons = append([]string{s.Failure.Reason}, reasons...)
	}
	m.Freshness = fresh(MillisOf(s.At), health, reasons...)
	return m
}

func (p Policy) eventDatabaseStatus(s Snapshot[EventDatabaseReading]) EventDatabaseStatus {
	switch {
	case !s.Tried():
		return EventDatabaseConnecting
	case s.Failures == 0:
		return EventDatabaseConnected
	case s.Failure.Cause != Unreachable:
		return EventDatabaseError
	case s.Failures >= p.GiveUpAfter:
		return EventDatabaseDisconnected
	case s.EverRead():
		return EventDatabaseReconnecting
	}
	return EventDatabaseConnecting
}

// Ref implements [Record].
func (m EventDatabaseMonitor) Ref() Ref { return m.ref }

// Statuses implements [Record].
func (m EventDatabaseMonitor) Statuses() []PartStatus {
	return []PartStatus{{Status: string(m.Status), Unchecked: m.unchecked}}
}

// Certificates implements [Record].
func (m EventDatabaseMonitor) Certificates() []PartCertificate {
	return certificates("", m.certificate)
}

// An Event is an event of this server that is written into the event database.
type Event struct {
	At       time.Time
	Type     string // such as BROKER_USERLOGGEDIN
	Severity Severity
	Module   string // Broker, Admin, Rest
	Text     string
	Node     string // the connection server on which it happened
	UserSID  string
	Data     map[string]string
}

// Severity is the severity of an event.
type Severity string

// The severities of events.
const (
	SeverityInfo         Severity = "INFO"
	SeverityWarning      Severity = "WARNING"
	SeverityError        Severity = "ERROR"
	SeverityAuditSuccess Severity = "AUDIT_SUCCESS"
	SeverityAuditFail    Severity = "AUDIT_FAIL"
)
