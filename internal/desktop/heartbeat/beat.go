package heartbeat

import (
	"context"
	"crypto/x509"
	"encoding/json"

	"vigil/internal/desktop"
	"vigil/internal/fault"
)

// GatewayBeat handles a heartbeat of a gateway.
func (s *Service) GatewayBeat(ctx context.Context, client *x509.Certificate, id desktop.ID, r GatewayReport) (Receipt, error) {
	return s.beat(ctx, client, Agent{desktop.KindGateway, id}, r.Stamp, r.GatewayBeat)
}

// AgentBeat handles a heartbeat of the agent on an RDS server.
func (s *Service) AgentBeat(ctx context.Context, client *x509.Certificate, id desktop.ID, r AgentReport) (Receipt, error) {
	return s.beat(ctx, client, Agent{desktop.KindRDSServer, id}, r.Stamp, r.AgentBeat)
}

func (s *Service) beat(ctx context.Context, client *x509.Certificate, subject Agent, stamp Stamp, reading desktop.Reading) (Receipt, error) {
	agent, _, err := s.recognize(client)
	if err != nil {
		return Receipt{}, err
	}
	if agent != subject {
		return Receipt{}, fault.New(fault.Forbidden, "the client certificate belongs to another component")
	}
	payload, err := json.Marshal(reading)
	if err != nil {
		return Receipt{}, err
	}
	at := s.Now()
	verdict, err := s.beatWriter.record(ctx, Beat{
		Agent: agent, Serial: serialOf(client), Sequence: stamp.Sequence, At: at, Payload: payload,
	})
	switch {
	case err != nil:
		return Receipt{}, err
	case verdict == Revoked:
		return Receipt{}, errRevoked
	case verdict == Replayed:
		return Receipt{}, fault.New(fault.Conflict, "sequence %d is not above the last one", stamp.Sequence)
	}
	s.Observe(desktop.Observation{Kind: agent.Kind, ID: agent.ID, At: at, Reading: reading})
	return Receipt{
		ServerTime:      desktop.MillisOf(at),
		IntervalSeconds: seconds(s.interval(agent)),
		Renew:           !at.Before(renewAfter(client)),
	}, nil
}
