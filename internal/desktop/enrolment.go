package desktop

import (
	"context"
	"time"
)

// An EnrolmentToken lets one gateway or agent ask for its certificate, once.
// Only its hash is kept.
type EnrolmentToken struct {
	Hash      string
	Kind      Kind // KindGateway or KindRDSServer
	Component ID
	CreatedAt time.Time
	ExpiresAt time.Time
}

// An Enrolment is a client certificate given to a gateway or an agent.
type Enrolment struct {
	Kind       Kind
	Component  ID
	Serial     string // of the certificate, in hex
	IssuedAt   time.Time
	ExpiresAt  time.Time
	RevokedAt  time.Time // zero: not revoked
	LastNumber int64     // sequence number of the last accepted heartbeat
}

// EnrolmentStore keeps enrolment tokens and the certificates they were
// exchanged for.
//
// Methods are safe for concurrent use. One that names a token or certificate
// the store does not hold fails with fault.NotFound.
type EnrolmentStore interface {
	// AddToken keeps a token.
	AddToken(ctx context.Context, t EnrolmentToken) error

	// TakeToken returns the token with the given hash and forgets it, so that
	// it works once however many ask at the same time.
	TakeToken(ctx context.Context, hash string) (EnrolmentToken, error)

	// AddEnrolment keeps a certificate and revokes the component's older ones.
	AddEnrolment(ctx context.Context, e Enrolment) error

	// Enrolment returns the certificate with the given serial number.
	Enrolment(ctx context.Context, serial string) (Enrolment, error)

	// AdvanceSequence records the number of a heartbeat. One that is not above
	// the last fails with fault.Conflict: it was replayed.
	AdvanceSequence(ctx context.Context, serial string, number int64) error

	// Revoke ends the validity of a component's certificates.
	Revoke(ctx context.Context, kind Kind, component ID, at time.Time) error

	// AuthorityKey returns the sealed key and the certificate of the built-in
	// authority, storing what is given when there is none yet.
	AuthorityKey(ctx context.Context, sealed, certificate []byte) (key, cert []byte, err error)
}
