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

// tokenPrefix makes a lost token findable by those who scan for secrets.
const tokenPrefix = "vigil_enrol_"

// NewToken makes a token with which the machine of one component may enrol. The
// secret is returned once. A life of zero is the default.
func (s *Service) NewToken(ctx context.Context, by string, a Agent, life time.Duration) (Token, string, error) {
	if !Reports(a.Kind) {
		return Token{}, "", fault.Field("kind", "must be %s or %s", desktop.KindGateway, desktop.KindRDSServer)
	}
	if _, ok := s.Component(a); !ok {
		return Token{}, "", fault.Field("id", "names no %s of the inventory", a.Kind)
	}
	if life <= 0 {
		life = s.TokenLife
	}
	secret := tokenPrefix + rand.Text()
	now := s.Now()
	t := Token{
		ID: uuid.NewString(), Hash: hash(secret), Agent: a,
		CreatedBy: by, CreatedAt: now, ExpiresAt: now.Add(life),
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

// Enrol exchanges a token for a certificate. Whatever is wrong with the token,
// the answer is the same.
func (s *Service) Enrol(ctx context.Context, r EnrolRequest) (Enrolment, error) {
	request, err := parseRequest(r.CSR)
	if err != nil {
		return Enrolment{}, err
	}
	refused := fault.New(fault.Unauthenticated, "the enrolment token is not accepted")
	t, err := s.Store.TokenByHash(ctx, hash(r.Token))
	if fault.Is(err, fault.NotFound) {
		return Enrolment{}, refused
	}
	if err != nil {
		return Enrolment{}, err
	}
	now := s.Now()
	ref, known := s.Component(t.Agent)
	if !known || !t.UsedAt.IsZero() || !now.Before(t.ExpiresAt) {
		return Enrolment{}, refused
	}
	cert, err := s.authority.issue(t.Agent, request, now, s.CertificateLife)
	if err != nil {
		return Enrolment{}, err
	}
	audit.Note(ctx, "agent", string(t.Agent.Kind)+"/"+string(t.Agent.ID))
	err = s.Store.Redeem(ctx, t.ID, now, certificateOf(t.Agent, cert))
	if fault.Is(err, fault.Conflict) {
		return Enrolment{}, refused
	}
	if err != nil {
		return Enrolment{}, err
	}
	return s.enrolment(ref, t.Agent, cert), nil
}

// Renew issues a new certificate to an agent that still has a good one.
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
	if err := s.Store.AddCertificate(ctx, certificateOf(agent, cert)); err != nil {
		return Enrolment{}, err
	}
	return s.enrolment(ref, agent, cert), nil
}

// Standing tells an agent where it stands.
func (s *Service) Standing(ctx context.Context, client *x509.Certificate) (Standing, error) {
	agent, ref, err := s.identify(ctx, client)
	if err != nil {
		return Standing{}, err
	}
	last, err := s.Store.LastBeat(ctx, agent)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return Standing{}, err
	}
	return Standing{
		Kind: agent.Kind, ID: agent.ID, Name: ref.Name,
		LastSequence: last.Sequence, LastBeat: desktop.MillisOf(last.At),
		HeartbeatPath: agent.BeatPath(), IntervalSeconds: seconds(s.interval(agent)),
		RenewAfter: desktop.MillisOf(renewAfter(client)), ServerTime: desktop.MillisOf(s.Now()),
	}, nil
}

// identify finds who a client certificate belongs to and refuses one that was
// revoked.
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

// errRevoked is the answer to a certificate that is good no more.
var errRevoked = fault.New(fault.Unauthenticated, "the client certificate is revoked")

// recognize is identify without a look at the store.
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

// renewAfter is when two thirds of a certificate's life are over.
func renewAfter(cert *x509.Certificate) time.Time {
	return cert.NotBefore.Add(cert.NotAfter.Sub(cert.NotBefore) * 2 / 3)
}
