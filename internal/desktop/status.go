package desktop

import (
	"cmp"
	"strings"
)

// DomainStatus is the status of a directory domain as a connection server sees
// it.
type DomainStatus string

// The states toward a directory domain.
const (
	DomainUncontactable   DomainStatus = "UNCONTACTABLE"    // no domain controller answers
	DomainFullyAccessible DomainStatus = "FULLY_ACCESSIBLE" // a controller accepts our bind
	DomainCannotBind      DomainStatus = "CANNOT_BIND"      // controllers answer but refuse the bind
	DomainUnknown         DomainStatus = "UNKNOWN"          // not checked yet
)

// TrustRelationship is how a domain relates to the broker's domain.
type TrustRelationship string

// The trust relationships.
const (
	TrustPrimaryDomain TrustRelationship = "PRIMARY_DOMAIN"
	TrustFromBroker    TrustRelationship = "FROM_BROKER"
	TrustToBroker      TrustRelationship = "TO_BROKER"
	TrustTwoWay        TrustRelationship = "TWO_WAY"
	TrustTwoWayForest  TrustRelationship = "TWO_WAY_FOREST"
	TrustManual        TrustRelationship = "MANUAL"
	TrustUnknown       TrustRelationship = "UNKNOWN"
)

// ConnectionServerStatus is the health of a connection server.
type ConnectionServerStatus string

// The states of a connection server.
const (
	ConnectionServerOK            ConnectionServerStatus = "OK"
	ConnectionServerError         ConnectionServerStatus = "ERROR"
	ConnectionServerNotResponding ConnectionServerStatus = "NOT_RESPONDING"
	ConnectionServerUnknown       ConnectionServerStatus = "UNKNOWN"
)

// ReplicationStatus is the state of replication between two servers.
type ReplicationStatus string

// The states of replication to a peer.
const (
	ReplicationOK    ReplicationStatus = "OK"
	ReplicationError ReplicationStatus = "ERROR"
)

// ServiceName is a secure gateway that a connection server may run.
type ServiceName string

// The secure gateways.
const (
	ServicePCoIP    ServiceName = "PCOIP_SECURE_GATEWAY"
	ServiceBlast    ServiceName = "BLAST_SECURE_GATEWAY"
	ServiceSecurity ServiceName = "SECURITY_GATEWAY_COMPONENT"
)

var serviceTitles = map[ServiceName]string{
	ServicePCoIP:    "the PCoIP Secure Gateway",
	ServiceBlast:    "the Blast Secure Gateway",
	ServiceSecurity: "the security gateway component",
}

// title returns the name of a service for use in a sentence.
func (n ServiceName) title() string { return cmp.Or(serviceTitles[n], InWords(string(n))) }

// InWords returns a status for use in a sentence: "not responding" for NOT_RESPONDING.
func InWords(status string) string { return strings.ToLower(strings.ReplaceAll(status, "_", " ")) }

// ServiceStatus says whether a secure gateway accepts connections.
type ServiceStatus string

// The states of a secure gateway.
const (
	ServiceUp   ServiceStatus = "UP"
	ServiceDown ServiceStatus = "DOWN"
)

// SessionProtocol is a display protocol.
type SessionProtocol string

// The display protocols.
const (
	ProtocolPCoIP SessionProtocol = "PCOIP"
	ProtocolRDP   SessionProtocol = "RDP"
	ProtocolBlast SessionProtocol = "BLAST"
)

// EventDatabaseStatus is the state of the link to the event database.
type EventDatabaseStatus string

// The states of the event database.
const (
	EventDatabaseConnected     EventDatabaseStatus = "CONNECTED"
	EventDatabaseConnecting    EventDatabaseStatus = "CONNECTING"   // the first attempts have not succeeded yet
	EventDatabaseDisconnected  EventDatabaseStatus = "DISCONNECTED" // too many attempts failed; retried at a low rate
	EventDatabaseReconnecting  EventDatabaseStatus = "RECONNECTING" // the connection was lost and is retried
	EventDatabaseError         EventDatabaseStatus = "ERROR"        // it answers but refuses the connection or a query
	EventDatabaseNotConfigured EventDatabaseStatus = "NOT_CONFIGURED"
)

// DatabaseType is a kind of database server.
type DatabaseType string

// The supported database servers.
const (
	SQLServer  DatabaseType = "SQL_SERVER"
	Oracle     DatabaseType = "ORACLE"
	PostgreSQL DatabaseType = "POSTGRESQL"
)

// FarmType is how the servers of a farm are created.
type FarmType string

// The farm types.
const (
	FarmAutomated FarmType = "AUTOMATED"
	FarmManual    FarmType = "MANUAL"
)

// FarmSource is how the servers of an automated farm are cloned.
type FarmSource string

// The sources of automated farms.
const (
	SourceLinkedClone  FarmSource = "LINKED_CLONE"
	SourceInstantClone FarmSource = "INSTANT_CLONE"
)

// FarmStatus is the health of a farm.
type FarmStatus string

// The states of a farm.
const (
	FarmOK       FarmStatus = "OK"
	FarmWarning  FarmStatus = "WARNING"
	FarmError    FarmStatus = "ERROR"
	FarmDisabled FarmStatus = "DISABLED"
)

// GatewayType is a gateway product.
type GatewayType string

// The gateway types.
const (
	GatewayUAG     GatewayType = "UAG"
	GatewayF5      GatewayType = "F5"
	GatewayUnknown GatewayType = "UNKNOWN"
)

// GatewayStatus is the health of a gateway.
type GatewayStatus string

// The states of a gateway.
const (
	GatewayNotContacted GatewayStatus = "NOT_CONTACTED" // it has never reported
	GatewayProblem      GatewayStatus = "PROBLEM"       // it reports a problem
	GatewayStale        GatewayStatus = "STALE"         // no report for two successive intervals
	GatewayOK           GatewayStatus = "OK"
)

// PodEndpointStatus is the health of an endpoint of a remote pod.
type PodEndpointStatus string

// The states of a pod endpoint.
const (
	PodEndpointOnline    PodEndpointStatus = "ONLINE"
	PodEndpointUnchecked PodEndpointStatus = "UNCHECKED" // it answered once after an outage
	PodEndpointOffline   PodEndpointStatus = "OFFLINE"
)

// SAMLStatus is the health of a SAML authenticator.
type SAMLStatus string

// The states of a SAML authenticator.
const (
	SAMLOK      SAMLStatus = "OK"
	SAMLWarn    SAMLStatus = "WARN"
	SAMLError   SAMLStatus = "ERROR"
	SAMLUnknown SAMLStatus = "UNKNOWN"
)

// SSOStatus is the health of a single-sign-on connector or one of its parts.
// Enrollment servers use OK and ERROR only.
type SSOStatus string

// The states of a single-sign-on connector and its parts.
const (
	SSOOK    SSOStatus = "OK"
	SSOWarn  SSOStatus = "WARN"
	SSOError SSOStatus = "ERROR"
)

// ComposerStatus is the health of a composer as a connection server sees it.
type ComposerStatus string

// The states of a composer.
const (
	ComposerOK           ComposerStatus = "OK"
	ComposerMalformedURL ComposerStatus = "MALFORMED_URL"
	ComposerError        ComposerStatus = "ERROR"
	ComposerCertError    ComposerStatus = "CERT_ERROR"
)

// VirtualCenterStatus is the state of the link to a virtual center.
type VirtualCenterStatus string

// The states toward a virtual center.
const (
	VirtualCenterOK                 VirtualCenterStatus = "OK"
	VirtualCenterDown               VirtualCenterStatus = "DOWN"
	VirtualCenterReconnecting       VirtualCenterStatus = "RECONNECTING"
	VirtualCenterUnknown            VirtualCenterStatus = "UNKNOWN"
	VirtualCenterInvalidCredentials VirtualCenterStatus = "INVALID_CREDENTIALS"
	VirtualCenterCannotLogin        VirtualCenterStatus = "CANNOT_LOGIN"
	VirtualCenterNotYetConnected    VirtualCenterStatus = "NOT_YET_CONNECTED"
)

// DatastoreStatus says whether a datastore can be used.
type DatastoreStatus string

// The states of a datastore.
const (
	DatastoreAccessible    DatastoreStatus = "ACCESSIBLE"
	DatastoreNotAccessible DatastoreStatus = "NOT_ACCESSIBLE"
	DatastoreUnknown       DatastoreStatus = "UNKNOWN" // its virtual center cannot be read
)

// DatastoreType is a kind of datastore.
type DatastoreType string

// The datastore types the API knows.
const (
	DatastoreVMFS DatastoreType = "VMFS"
	DatastoreVSAN DatastoreType = "VSAN"
)

// HostStatus is the state of a virtualization host.
type HostStatus string

// The states of a host.
const (
	HostConnected     HostStatus = "CONNECTED"
	HostDisconnected  HostStatus = "DISCONNECTED"
	HostNotResponding HostStatus = "NOT_RESPONDING"
	HostUnknown       HostStatus = "UNKNOWN" // its virtual center cannot be read
)
