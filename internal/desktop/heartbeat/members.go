package heartbeat

import (
	"cmp"
	"context"
	"crypto/x509"
	"slices"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/fault"
)

// Recognize returns the agent that a client certificate was issued to. It does
// not check whether the certificate was revoked; recording a beat does.
func (s *Service) Recognize(client *x509.Certificate) (Agent, error) {
	agent, _, err := s.recognize(client)
	return agent, err
}

// A Member is an enrolled agent.
type Member struct {
	Agent    Agent
	Name     string      // empty when the component is no longer in the inventory
	Newest   Certificate // the one that expires last, a revoked one only if all are
	LastSeen time.Time   // zero for never
	Sequence int64
}

// Roster returns the agents that have an unexpired certificate, even if it is
// revoked.
func (s *Service) Roster(ctx context.Context) ([]Member, error) {
	certificates, err := s.Store.Certificates(ctx, s.Now())
	if err != nil {
		return nil, err
	}
	beats, err := s.Store.Beats(ctx)
	if err != nil {
		return nil, err
	}
	members := map[Agent]Member{}
	for _, c := range certificates {
		m, known := members[c.Agent]
		if !known || compareCertificates(c, m.Newest) > 0 {
			ref, _ := s.Component(c.Agent)
			members[c.Agent] = Member{Agent: c.Agent, Name: ref.Name, Newest: c}
		}
	}
	for _, b := range beats {
		if m, ok := members[b.Agent]; ok {
			m.LastSeen, m.Sequence = b.At, b.Sequence
			members[b.Agent] = m
		}
	}
	out := make([]Member, 0, len(members))
	for _, m := range members {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Member) int {
		return cmp.Or(cmp.Compare(a.Agent.Kind, b.Agent.Kind), cmp.Compare(a.Agent.ID, b.Agent.ID))
	})
	return out, nil
}

// compareCertificates orders by expiry, with all revoked certificates before the valid ones.
func compareCertificates(a, b Certificate) int {
	aValid, bValid := a.RevokedAt.IsZero(), b.RevokedAt.IsZero()
	switch {
	case aValid && !bValid:
		return 1
	case bValid && !aValid:
		return -1
	}
	return a.NotAfter.Compare(b.NotAfter)
}

// Revoke revokes the certificates of an agent: its reports are refused from now
// on.
func (s *Service) Revoke(ctx context.Context, a Agent) error {
	n, err := s.Store.Revoke(ctx, a, s.Now())
	if err == nil && n == 0 {
		return fault.New(fault.NotFound, "there is no such agent, or it has no valid certificate")
	}
	return err
}

// ParseKind parses the kind of an agent in the spelling of paths or of the API.
func ParseKind(text string) (desktop.Kind, bool) {
	for kind, class := range classes {
		if text == class || text == string(kind) {
			return kind, true
		}
	}
	return "", false
}

// Knows reports whether the inventory has the component of an agent.
func (s *Service) Knows(a Agent) bool {
	_, ok := s.Component(a)
	return ok && Reports(a.Kind)
}
