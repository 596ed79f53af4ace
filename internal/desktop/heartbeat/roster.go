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

// Recognize tells which agent a client certificate was issued to. Whether it
// was revoked since is known only when the agent does something.
func (s *Service) Recognize(client *x509.Certificate) (Agent, error) {
	agent, _, err := s.recognize(client)
	return agent, err
}

// A Member is an agent that is enrolled.
type Member struct {
	Agent    Agent
	Name     string      // empty when the inventory has the component no more
	Newest   Certificate // the one that lasts longest
	LastSeen time.Time   // zero: never
	Sequence int64
}

// Roster lists the agents that have a certificate, also a revoked one, that has
// not expired.
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
		// A good certificate says more than a revoked one that lasts longer.
		if !known || cmp.Or(compareBool(c.RevokedAt.IsZero(), m.Newest.RevokedAt.IsZero()), c.NotAfter.Compare(m.Newest.NotAfter)) > 0 {
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

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Revoke ends the certificates of an agent: its reports are refused from now on.
func (s *Service) Revoke(ctx context.Context, a Agent) error {
	n, err := s.Store.Revoke(ctx, a, s.Now())
	if err == nil && n == 0 {
		return fault.New(fault.NotFound, "there is no such agent, or it has no certificate that is good")
	}
	return err
}

// ParseKind reads the kind of an agent as paths spell it, or as the API does.
func ParseKind(text string) (desktop.Kind, bool) {
	for kind, class := range classes {
		if text == class || text == string(kind) {
			return kind, true
		}
	}
	return "", false
}

// Knows tells whether the inventory has the component of an agent.
func (s *Service) Knows(a Agent) bool {
	_, ok := s.Component(a)
	return ok && Reports(a.Kind)
}
