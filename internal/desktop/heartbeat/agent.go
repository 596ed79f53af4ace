package heartbeat

import (
	"context"
	"net/url"
	"strings"
	"time"

	"vigil/internal/desktop"
)

// An Agent identifies a machine that sends heartbeats: a gateway, or an RDS
// server.
type Agent struct {
	Kind desktop.Kind
	ID   desktop.ID
}

// A Token lets one machine enrol once.
type Token struct {
	ID        string
	Hash      []byte // SHA-256 of the secret, which is shown once and not stored
	Agent     Agent
	CreatedBy string
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    time.Time // zero if unused
}

// A Certificate describes a certificate that was issued to an agent.
type Certificate struct {
	Serial    string // hex
	Agent     Agent
	NotBefore time.Time
	NotAfter  time.Time
	RevokedAt time.Time // zero if not revoked
}

// A Beat is a stored heartbeat. Only the last of each agent is kept.
type Beat struct {
	Agent    Agent
	Serial   string // of the client certificate that authenticated it
	Sequence int64
	At       time.Time // time of arrival
	Payload  []byte    // the reported values as JSON
}

// A Verdict is the result of recording a beat.
type Verdict int

// The verdicts.
const (
	Accepted Verdict = iota
	Replayed         // its sequence number is not above the last one
	Revoked          // its certificate is revoked, unknown or of another agent
)

// Keys are the certificate and the private key of the authority.
type Keys struct {
	Certificate []byte // DER
	Key         []byte // PKCS #8; sealed in the database
}

// Store stores tokens, certificates and the last beats.
//
// Methods are safe for concurrent use, also by several processes. They fail
// with fault.NotFound for an object that does not exist.
type Store interface {
	// Authority returns the keys of the authority.
	Authority(ctx context.Context) (Keys, error)

	// KeepAuthority stores the keys unless some are stored already, and returns the
	// stored ones.
	KeepAuthority(ctx context.Context, k Keys) (Keys, error)

	// AddToken stores a new token.
	AddToken(ctx context.Context, t Token) error

	// Tokens returns all tokens, newest first.
	Tokens(ctx context.Context) ([]Token, error)

	// TokenByHash returns the token whose secret has the hash.
	TokenByHash(ctx context.Context, hash []byte) (Token, error)

	// DeleteToken removes a token.
	DeleteToken(ctx context.Context, id string) error

	// Redeem marks a token as used, stores the certificate issued for it, revokes
	// all earlier certificates of the agent and resets its sequence number. It
	// fails with fault.Conflict when the token was used before.
	Redeem(ctx context.Context, tokenID string, at time.Time, c Certificate) error

	// Renew stores a certificate that renews the one with the serial number. It
	// fails with fault.Conflict when that one is revoked.
	Renew(ctx context.Context, serial string, c Certificate) error

	// Certificate returns the certificate with a serial number.
	Certificate(ctx context.Context, serial string) (Certificate, error)

	// Certificates returns the certificates that expire after the given time.
	Certificates(ctx context.Context, after time.Time) ([]Certificate, error)

	// Revoke revokes all certificates of an agent and returns their number.
	Revoke(ctx context.Context, a Agent, at time.Time) (int, error)

	// Record stores the beats whose certificates are valid and whose sequence
	// numbers are above the last of their agents. The verdicts are in the order of
	// the beats.
	Record(ctx context.Context, beats []Beat) ([]Verdict, error)

	// Beats returns the last beat of every agent.
	Beats(ctx context.Context) ([]Beat, error)

	// LastBeat returns the last beat of one agent.
	LastBeat(ctx context.Context, a Agent) (Beat, error)
}

// classes maps the kinds that send heartbeats to their spelling in paths and
// certificates.
var classes = map[desktop.Kind]string{
	desktop.KindGateway:   "gateways",
	desktop.KindRDSServer: "rds-servers",
}

// Reports is true for the kinds of components that send heartbeats.
func Reports(k desktop.Kind) bool { return classes[k] != "" }

// uri returns the agent's URI in its certificate.
func (a Agent) uri() *url.URL {
	return &url.URL{Scheme: "urn", Opaque: "vigil:" + classes[a.Kind] + ":" + string(a.ID)}
}

// agentOf parses the URI of an agent.
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

// BeatPath returns the path for the agent's heartbeats.
func (a Agent) BeatPath() string {
	return "/rest/agent/v1/" + classes[a.Kind] + "/" + url.PathEscape(string(a.ID)) + "/heartbeat"
}
