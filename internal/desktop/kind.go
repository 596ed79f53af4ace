package desktop

import "time"

// ID identifies a component. It is a UUID and stays the same over restarts and
// reloads.
type ID string

// A Kind is a class of components.
type Kind string

// The kinds of components.
const (
	KindDomain            Kind = "AD_DOMAIN"
	KindConnectionServer  Kind = "CONNECTION_SERVER"
	KindEventDatabase     Kind = "EVENT_DATABASE"
	KindFarm              Kind = "FARM"
	KindGateway           Kind = "GATEWAY"
	KindRDSServer         Kind = "RDS_SERVER"
	KindSAMLAuthenticator Kind = "SAML_AUTHENTICATOR"
	KindPod               Kind = "POD"
	KindSSOConnector      Kind = "TRUE_SSO"
	KindComposer          Kind = "COMPOSER"
	KindVirtualCenter     Kind = "VIRTUAL_CENTER"

	// KindPodEndpoint is observed separately and listed with its pod.
	KindPodEndpoint Kind = "POD_ENDPOINT"

	// KindRDSListener is the port of an RDS server that clients connect to. It is
	// observed separately, under its server's ID, and affects its server's status.
	KindRDSListener Kind = "RDS_LISTENER"
)

// Kinds lists the kinds that have monitor records, in the order of the API document. These
// are all kinds but pod endpoints and RDS listeners.
func Kinds() []Kind {
	return []Kind{
		KindDomain, KindConnectionServer, KindEventDatabase, KindFarm, KindGateway, KindRDSServer,
		KindSAMLAuthenticator, KindPod, KindSSOConnector, KindComposer, KindVirtualCenter,
	}
}

// A Ref identifies one component, with its name.
type Ref struct {
	Kind Kind   `json:"kind"`
	ID   ID     `json:"id"`
	Name string `json:"name"`
}

// Millis is a time in the API: milliseconds since the epoch, 0 for never.
type Millis int64

// MillisOf returns t as Millis.
func MillisOf(t time.Time) Millis {
	if t.IsZero() {
		return 0
	}
	return Millis(t.UnixMilli())
}

// Time returns m as a time in UTC, the zero time for 0.
func (m Millis) Time() time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(m)).UTC()
}

// A SecretRef is the location of a secret: "file:<path>", "env:<name>" or
// "vault:<entry>". It is not the secret itself and may be printed.
type SecretRef string

// Trust configures how the TLS certificate of an endpoint is verified. The zero
// value uses the system's root certificates.
type Trust struct {
	CAFile     string // PEM file with the only accepted roots
	CAPEM      string // like CAFile, as PEM text
	Thumbprint string // SHA-256 of an accepted leaf certificate, in hex; accepted even if it does not verify
}
