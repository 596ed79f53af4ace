package heartbeat

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"time"

	"github.com/google/uuid"

	"vigil/internal/audit"
	"vigil/internal/desktop"
	"vigil/internal/fault"
)

// tokenPrefix lets secret scanners detect leaked tokens.
const tokenPrefix = "vigil_enrol_"

// NewToken creates a token with which the machine of one component may enrol.
// The secret is returned only here. A lifetime of zero means the default.
func (s *Service) NewToken(ctx context.Context, creator string, a Agent, lifetime time.Duration) (Token, string, error) {
	if !Reports(a.Kind) {
		return Token{}, "", fault.Field("kind", "must be %s or %s", desktop.KindGateway, desktop.KindRDSServer)
	}
	if _, ok := s.Component(a); !ok {
		return Token{}, "", fault.Field("id", "is not a %s of the inventory", a.Kind)
	}
	if lifetime <= 0 {
		lifetime = s.TokenLife
	}
	secret := tokenPrefix + rand.Text()
	now := s.Now()
	t := Token{
		ID: uuid.NewString(), Hash: hash(secret), Agent: a,
		CreatedBy: creator, CreatedAt: now, ExpiresAt: now.Add(lifetime),
	}
	audit.Note(ctx, "token", t.ID)
	if err := s.Store.AddToken(ctx, t); err != nil {
		return Token{}, "", err
	}
	return t, secret, nil
}

func hash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// Enrol exchanges a token for a certificate. Every invalid token gives the same
// error.
func (s *Service) Enrol(ctx context.Context, r EnrolRequest) (Enrolment, error) {
	request, err := parseRequest(r.CSR)
	if err != nil {
		return Enrolment{}, err
	}
	errNotAccepted := fault.New(fault.Unauthenticated, "the enrolment token is not accepted")
	t, err := s.Store.TokenByHash(ctx, hash(r.Token))
	if fault.Is(err, fault.NotFound) {
		return Enrolment{}, errNotAccepted
	}
	if err != nil {
		return Enrolment{}, err
	}
	now := s.Now()
	ref, known := s.Component(t.Agent)
	if !known || !t.UsedAt.IsZero() || !now.Before(t.ExpiresAt) {
		return Enrolment{}, errNotAccepted
	}
	cert, err := s.authority.issue(t.Agent, request, now, s.CertificateLife)
	if err != nil {
		return Enrolment{}, err
	}
	audit.Note(ctx, "agent", string(t.Agent.Kind)+"/"+string(t.Agent.ID))
	err = s.Store.Redeem(ctx, t.ID, now, certificateOf(t.Agent, cert))
	if fault.Is(err, fault.Conflict) {
		return Enrolment{}, errNotAccepted
	}
	if err != nil {
		return Enrolment{}, err
	}
	return s.enrolment(ref, t.Agent, cert), nil
}

// Renew issues a new certificate to an agent with a valid one.
func (s *Service) Renew(ctx context.Context, client *x509.Certificate, r RenewRequest) (Enrolment, error) {
	agent, ref, err := s.identify(ctx, client)
	if err != nil {
		return Enrolment{}, err
	}
	request, err := parseRequest(r.CSR)
	if err != nil {
		return Enrolment{}, err
	}
	cert, err := s.authority.issue(agent, request, s.Now(), s.CertificateLife)
	if err != nil {
		return Enrolment{}, err
	}
	err = s.Store.Renew(ctx, serialOf(client), certificateOf(agent, cert))
	if fault.Is(err, fault.Conflict) {
		return Enrolment{}, errRevoked // it was revoked after identify
	}
	if err != nil {
		return Enrolment{}, err
	}
	return s.enrolment(ref, agent, cert), nil
}

// AgentStatus returns the server's record of an agent.
func (s *Service) AgentStatus(ctx context.Context, client *x509.Certificate) (AgentStatus, error) {
	agent, ref, err := s.identify(ctx, client)
	if err != nil {
		return AgentStatus{}, err
	}
	last, err := s.Store.LastBeat(ctx, agent)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return AgentStatus{}, err
	}
	return AgentStatus{
		Kind: agent.Kind, ID: agent.ID, Name: ref.Name,
		LastSequence: last.Sequence, LastBeat: desktop.MillisOf(last.At),
		HeartbeatPath: agent.BeatPath(), IntervalSeconds: seconds(s.interval(agent)),
		RenewAfter: desktop.MillisOf(renewAfter(client)), ServerTime: desktop.MillisOf(s.Now()),
	}, nil
}

// identify returns the agent of a client certificate. It fails if the
// certificate was revoked.
func (s *Service) identify(ctx context.Context, client *x509.Certificate) (Agent, desktop.Ref, error) {
	agent, ref, err := s.recognize(client)
	if err != nil {
		return Agent{}, desktop.Ref{}, err
	}
	c, err := s.Store.Certificate(ctx, serialOf(client))
	if fault.Is(err, fault.NotFound) || err == nil && !c.RevokedAt.IsZero() {
		return Agent{}, desktop.Ref{}, errRevoked
	}
	return agent, ref, err
}

// errRevoked is the error for a revoked certificate.
var errRevoked = fault.New(fault.Unauthenticated, "the client certificate is revoked")

// recognize is like identify without checking for revocation in the store.
func (s *Service) recognize(client *x509.Certificate) (Agent, desktop.Ref, error) {
	agent, err := s.authority.identify(client, s.Now())
	if err != nil {
		return Agent{}, desktop.Ref{}, err
	}
	ref, known := s.Component(agent)
	if !known {
		return Agent{}, desktop.Ref{}, fault.New(fault.NotFound, "the inventory has no such component")
	}
	return agent, ref, nil
}

func (s *Service) enrolment(ref desktop.Ref, a Agent, cert *x509.Certificate) Enrolment {
	return Enrolment{
		Kind: a.Kind, ID: a.ID, Name: ref.Name,
		Certificate: encodePEM(cert), Authority: encodePEM(s.authority.cert),
		NotAfter: desktop.MillisOf(cert.NotAfter), RenewAfter: desktop.MillisOf(renewAfter(cert)),
		HeartbeatPath: a.BeatPath(), IntervalSeconds: seconds(s.interval(a)),
	}
}

// renewAfter returns the time when two thirds of a certificate's lifetime have
// passed.
func renewAfter(cert *x509.Certificate) time.Time {
	return cert.NotBefore.Add(cert.NotAfter.Sub(cert.NotBefore) * 2 / 3)
}
