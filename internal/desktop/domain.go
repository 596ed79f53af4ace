package desktop

import (
	"cmp"
	"strings"
	"time"
)

// A Domain is a directory domain of the inventory.
type Domain struct {
	ID           ID
	DNSName      string
	NetBIOSName  string
	SID          string   // from the inventory, or empty until read from the directory
	Controllers  []string // host or host:port; when empty, found by DNS
	StartTLS     bool     // TLS inside port 389 instead of port 636
	Trust        Trust    // how the controllers' TLS certificates are verified
	BindUser     string   // sAMAccountName of the service account
	BindPassword SecretRef
	Primary      bool   // the domain of the broker
	Manual       bool   // configured manually, without a trust
	CloneOU      string // organisational unit of the computer accounts of instant clones
}

// A TrustedDomain is a trust that is stored in the primary domain's directory.
type TrustedDomain struct {
	Partner    string // DNS name, or NetBIOS name for an NT4 domain
	FlatName   string // NetBIOS name
	SID        string
	Direction  int // 1 inbound, 2 outbound, 3 both
	Type       int // 1 downlevel (NT4), 2 uplevel
	Attributes int
}

// withinForest is the trust attribute of domains in the same forest.
const withinForest = 0x20

// NT4 reports whether the trusted domain is an NT4 domain.
func (t TrustedDomain) NT4() bool { return t.Type == 1 }

// DomainReading is the result of reading a domain controller.
type DomainReading struct {
	DNSName     string
	NetBIOSName string
	SID         string
	Controller  string // the domain controller that answered
	Trusts      []TrustedDomain
	Lockout     LockoutPolicy
}

// LockoutPolicy is a directory's policy for locking accounts.
type LockoutPolicy struct {
	Threshold int           // failures that lock an account; 0 for never
	Window    time.Duration // after which failures are forgotten
}

// Kind implements [Reading].
func (DomainReading) Kind() Kind { return KindDomain }

// DomainInfo describes a domain in the API outside monitoring.
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
	ID          ID             `json:"id"` // the SID, once known
	Status      Health         `json:"status"`
	Freshness
	ref   Ref
	views []ServerView
}

// DomainServer is the status of a domain as one connection server sees it.
type DomainServer struct {
	ID     ID                `json:"id"`
	Name   string            `json:"name"`
	Status DomainStatus      `json:"status"`
	Trust  TrustRelationship `json:"trust_relationship"`
}

// Relationship derives how a domain relates to the broker's domain from the
// trust in the broker's directory, which is nil if there is none.
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

// DomainView derives how this connection server itself sees a domain.
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

// DomainRecord derives the monitor record of a domain from the views of all
// servers; sid is empty while unknown.
func DomainRecord(d Domain, sid string, s Snapshot[DomainReading], t *TrustedDomain, views []ServerView) DomainMonitor {
	m := DomainMonitor{
		DNSName:     cmp.Or(d.DNSName, s.Good.DNSName),
		NetBIOSName: cmp.Or(d.NetBIOSName, s.Good.NetBIOSName, netbiosGuess(d.DNSName)),
		NT4:         t != nil && t.NT4(),
		Servers:     []DomainServer{},
		ID:          ID(cmp.Or(sid, string(d.ID))),
		Status:      healthOfViews(KindDomain, views),
		ref:         Ref{KindDomain, d.ID, d.DNSName},
		views:       views,
	}
	m.Freshness = fresh(MillisOf(s.At), m.Status, viewReasons(views)...)
	for _, v := range views {
		m.Servers = append(m.Servers, DomainServer{
			ID:     v.ServerID,
			Name:   v.ServerName,
			Status: DomainStatus(cmp.Or(v.View.Status, string(DomainUnknown))),
			Trust:  TrustRelationship(cmp.Or(string(v.View.Trust), string(TrustUnknown))),
		})
	}
	return m
}

// Ref implements [Record].
func (m DomainMonitor) Ref() Ref { return m.ref }

// Statuses implements [Record].
func (m DomainMonitor) Statuses() []PartStatus {
	out := []PartStatus{statusOfViews(m.Status, m.views)}
	for i, s := range m.Servers {
		out = append(out, m.views[i].part(string(s.Status)))
	}
	return out
}

// Certificates implements [Record].
func (m DomainMonitor) Certificates() []PartCertificate { return nil }

// netbiosGuess derives the likely NetBIOS name of a domain, used until its
// directory was read.
func netbiosGuess(dnsName string) string {
	first, _, _ := strings.Cut(dnsName, ".")
	return strings.ToUpper(first[:min(len(first), 15)])
}
