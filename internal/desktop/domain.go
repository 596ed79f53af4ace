package desktop

import (
	"strings"
	"time"
)

// A Domain is a directory domain of the inventory.
type Domain struct {
	ID           ID
	DNSName      string
	NetBIOSName  string
	SID          string   // given by the inventory, or empty until learnt
	Controllers  []string // host or host:port; empty: found by DNS
	StartTLS     bool     // TLS inside port 389 instead of port 636
	Trust        Trust
	BindUser     string // sAMAccountName of the service account
	BindPassword SecretRef
	Primary      bool   // the broker's own domain
	Manual       bool   // configured by hand, without a trust
	CloneOU      string // where instant clones get their computer accounts
}

// A TrustedDomain is a trust as the primary domain's directory holds it.
type TrustedDomain struct {
	Partner    string // DNS name, or NetBIOS name for an NT4 domain
	FlatName   string // NetBIOS name
	SID        string
	Direction  int // 1 inbound, 2 outbound, 3 both
	Type       int // 1 downlevel (NT4), 2 uplevel
	Attributes int
}

// withinForest is the trust attribute of domains of one forest.
const withinForest = 0x20

// NT4 reports whether the trusted domain is an NT4 domain.
func (t TrustedDomain) NT4() bool { return t.Type == 1 }

// DomainReading is what a bind to a domain controller brought home.
type DomainReading struct {
	DNSName     string
	NetBIOSName string
	SID         string
	Controller  string // the one that answered
	Trusts      []TrustedDomain
	Lockout     LockoutPolicy
}

// LockoutPolicy is a directory's own rule for locking accounts.
type LockoutPolicy struct {
	Threshold int           // failures that lock an account; 0: never
	Window    time.Duration // after which failures are forgotten
}

// Kind implements [Reading].
func (DomainReading) Kind() Kind { return KindDomain }

// DomainInfo is what the API tells of a domain outside monitoring.
type DomainInfo struct {
	DNSName     string `json:"dns_name"`
	ID          string `json:"id"` // the SID
	NetBIOSName string `json:"netbios_name"`
}

// DomainMonitor is the monitor record of a domain.
type DomainMonitor struct {
	DNSName     string         `json:"dns_name"`
	NetBIOSName string         `json:"netbios_name"`
	NT4         bool           `json:"nt4_domain"`
	Servers     []DomainServer `json:"connection_servers"`
	ID          ID             `json:"id"` // the SID once it is known
	Status      Health         `json:"status"`
	Freshness
	ref   Ref
	views []ServerView
}

// DomainServer is how one connection server sees a domain.
type DomainServer struct {
	ID     ID                `json:"id"`
	Name   string            `json:"name"`
	Status DomainStatus      `json:"status"`
	Trust  TrustRelationship `json:"trust_relationship"`
}

// Relationship derives how a domain relates to the broker's own, from the trust
// that the broker's directory holds of it, nil if none.
func Relationship(d Domain, t *TrustedDomain) TrustRelationship {
	switch {
	case d.Primary:
		return TrustPrimaryDomain
	case t == nil && d.Manual:
		return TrustManual
	case t == nil:
		return TrustUnknown
	case t.Direction == 3 && t.Attributes&withinForest != 0:
		return TrustTwoWayForest
	case t.Direction == 3:
		return TrustTwoWay
	case t.Direction == 2:
		return TrustFromBroker
	case t.Direction == 1:
		return TrustToBroker
	}
	return TrustUnknown
}

// FindTrust returns the trust with the given domain, or nil.
func FindTrust(d Domain, trusts []TrustedDomain) *TrustedDomain {
	for i, t := range trusts {
		if strings.EqualFold(t.Partner, d.DNSName) || d.NetBIOSName != "" && strings.EqualFold(t.FlatName, d.NetBIOSName) {
			return &trusts[i]
		}
	}
	return nil
}

// DomainView derives how we see a domain ourselves.
func (p Policy) DomainView(d Domain, s Snapshot[DomainReading], t *TrustedDomain) View {
	v := View{Kind: KindDomain, ID: d.ID, Status: string(DomainFullyAccessible), Trust: Relationship(d, t)}
	switch f := s.Failing(p.FailuresBeforeDown); {
	case !s.Tried():
		v.Status, v.Reasons = string(DomainUnknown), []string{"not checked yet"}
	case f == nil:
	case f.Cause == Unreachable:
		v.Status, v.Reasons = string(DomainUncontactable), []string{f.Reason}
	default:
		v.Status, v.Reasons = string(DomainCannotBind), []string{f.Reason}
	}
	return v
}

// DomainRecord derives the monitor record of a domain from what all servers
// see of it; sid is empty until somebody has told it.
func DomainRecord(d Domain, sid string, s Snapshot[DomainReading], t *TrustedDomain, views []ServerView) DomainMonitor {
	m := DomainMonitor{
		DNSName:     firstOf(d.DNSName, s.Good.DNSName),
		NetBIOSName: firstOf(d.NetBIOSName, s.Good.NetBIOSName, netbiosGuess(d.DNSName)),
		NT4:         t != nil && t.NT4(),
		Servers:     []DomainServer{},
		ID:          ID(firstOf(sid, string(d.ID))),
		Status:      healthOfViews(KindDomain, views),
		ref:         Ref{KindDomain, d.ID, d.DNSName},
		views:       views,
	}
	m.Freshness = fresh(MillisOf(s.At), m.Status, viewReasons(views)...)
	for _, v := range views {
		m.Servers = append(m.Servers, DomainServer{
			ID:     v.ServerID,
			Name:   v.ServerName,
			Status: DomainStatus(firstOf(v.View.Status, string(DomainUnknown))),
			Trust:  TrustRelationship(firstOf(string(v.View.Trust), string(TrustUnknown))),
		})
	}
	return m
}

// Ref implements [Record].
func (m DomainMonitor) Ref() Ref { return m.ref }

// Statuses implements [Record].
func (m DomainMonitor) Statuses() []PartStatus {
	out := []PartStatus{{Status: string(m.Status), Unseen: unseenByAll(m.views)}}
	for i, s := range m.Servers {
		out = append(out, m.views[i].part(string(s.Status)))
	}
	return out
}

// Certificates implements [Record].
func (m DomainMonitor) Certificates() []PartCertificate { return nil }

// netbiosGuess is the NetBIOS name a domain most likely has, until its
// directory has told.
func netbiosGuess(dnsName string) string {
	first, _, _ := strings.Cut(dnsName, ".")
	return strings.ToUpper(first[:min(len(first), 15)])
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
