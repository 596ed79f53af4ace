package heartbeat

import (
	"context"
	"net/url"
	"strings"
	"time"

	"vigil/internal/desktop"
)

// An Agent is a machine that reports: a gateway, or the agent of an RDS server.
type Agent struct {
	Kind desktop.Kind
	ID   desktop.ID
}

// A Token lets one machine enrol, once.
type Token struct {
	ID        string
	Hash      []byte // SHA-256 of the secret, which is shown once and never kept
	Agent     Agent
	CreatedBy string
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    time.Time // zero while it is good
}

// A Certificate is one that was issued to an agent.
type Certificate struct {
	Serial    string // hex
	Agent     Agent
	NotBefore time.Time
	NotAfter  time.Time
	RevokedAt time.Time // zero while it is good
}

// A Beat is one report as it is kept: the last of each agent.
type Beat struct {
	Agent    Agent
	Serial   string // of the certificate that vouched for it
	Sequence int64
	At       time.Time // when it arrived
	Payload  []byte    // JSON of what was reported
}

// A Verdict says what became of a beat.
type Verdict int

// The verdicts.
const (
	Accepted Verdict = iota
	Replayed         // its number is not above the last one
	Revoked          // its certificate is revoked or unknown
)

// Keys are the certificate and the private key of the authority.
type Keys struct {
	Certificate []byte // DER
	Key         []byte // PKCS #8; sealed where it is kept
}

// Store keeps tokens, certificates and the last beats.
//
// Methods are safe for concurrent use, by several processes too. One that names
// a thing the store does not hold fails with fault.NotFound.
type Store interface {
	// Authority returns the keys of the authority.
	Authority(ctx context.Context) (Keys, error)

	// KeepAuthority keeps the keys unless some are there already, and returns
	// those that are kept.
	KeepAuthority(ctx context.Context, k Keys) (Keys, error)

	// AddToken keeps a new token.
	AddToken(ctx context.Context, t Token) error

	// Tokens returns all tokens, newest first.
	Tokens(ctx context.Context) ([]Token, error)

	// TokenByHash returns the token whose secret has the hash.
	TokenByHash(ctx context.Context, hash []byte) (Token, error)

	// DeleteToken removes a token.
	DeleteToken(ctx context.Context, id string) error

	// Redeem uses up a token: it records the certificate issued for it, revokes
	// all earlier ones of the agent and begins its numbering anew. It fails with
	// fault.Conflict when the token was used before.
	Redeem(ctx context.Context, tokenID string, at time.Time, c Certificate) error

	// AddCertificate records a renewed certificate.
	AddCertificate(ctx context.Context, c Certificate) error

	// Certificate returns the certificate with a serial number.
	Certificate(ctx context.Context, serial string) (Certificate, error)

	// Certificates returns the certificates that end after the given time.
	Certificates(ctx context.Context, after time.Time) ([]Certificate, error)

	// Revoke revokes every certificate of an agent and returns how many.
	Revoke(ctx context.Context, a Agent, at time.Time) (int, error)

	// Record keeps beats whose certificates are good and whose numbers are above
	// the last of their agents. The verdicts are in the order of the beats.
	Record(ctx context.Context, beats []Beat) ([]Verdict, error)

	// Beats returns the last beat of every agent.
	Beats(ctx context.Context) ([]Beat, error)

	// LastBeat returns the last beat of one agent.
	LastBeat(ctx context.Context, a Agent) (Beat, error)
}

// classes are the kinds that report, with how they are spelt in paths and
// certificates.
var classes = map[desktop.Kind]string{
	desktop.KindGateway:   "gateways",
	desktop.KindRDSServer: "rds-servers",
}

// Reports tells whether components of a kind report by heartbeat.
func Reports(k desktop.Kind) bool { return classes[k] != "" }

// uri names the agent in its certificate.
func (a Agent) uri() *url.URL {
	return &url.URL{Scheme: "urn", Opaque: "vigil:" + classes[a.Kind] + ":" + string(a.ID)}
}

// agentOf reads the name back.
func agentOf(u *url.URL) (Agent, bool) {
	rest, ok := strings.CutPrefix(u.Opaque, "vigil:")
	class, id, found := strings.Cut(rest, ":")
	if u.Scheme != "urn" || !ok || !found || id == "" {
		return Agent{}, false
	}
	for kind, name := range classes {
		if name == class {
			return Agent{kind, desktop.ID(id)}, true
		}
	}
	return Agent{}, false
}

// BeatPath is where an agent sends its reports.
func (a Agent) BeatPath() string {
	return "/rest/agent/v1/" + classes[a.Kind] + "/" + url.PathEscape(string(a.ID)) + "/heartbeat"
}
