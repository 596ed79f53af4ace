package heartbeat

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/fault"
)

// Options say what a service works with. The functions must be safe for
// concurrent use.
type Options struct {
	Store Store

	// Component returns the component of the inventory that an agent speaks for.
	Component func(Agent) (desktop.Ref, bool)

	// Observe takes what was reported.
	Observe func(desktop.Observation)

	// Policy returns the policy in force; it holds the intervals.
	Policy func() desktop.Policy

	CertificateLife time.Duration    // 30 days when zero
	TokenLife       time.Duration    // 24 hours when zero
	Now             func() time.Time // time.Now when nil
	Log             *slog.Logger
}

// Service is the server's half of the heartbeats. Its methods are safe for
// concurrent use, once it is started.
type Service struct {
	Options
	authority *authority
	ledger    *ledger
	stop      context.CancelFunc
	work      sync.WaitGroup
}

// New makes a service.
func New(o Options) *Service {
	o.CertificateLife = cmp.Or(o.CertificateLife, 30*24*time.Hour)
	o.TokenLife = cmp.Or(o.TokenLife, 24*time.Hour)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Service{Options: o, ledger: newLedger(o.Store)}
}

// Open opens the authority, and makes it the first time.
func (s *Service) Open(ctx context.Context) error {
	var err error
	s.authority, err = openAuthority(ctx, s.Store, s.Now())
	return err
}

// Start hands on what the agents reported before we started, and begins to take
// reports. It comes after Open.
func (s *Service) Start(ctx context.Context) error {
	if err := s.restore(ctx); err != nil {
		return fmt.Errorf("restore the last reports: %w", err)
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.work.Go(func() { s.ledger.run(ctx) })
	return nil
}

// Stop takes no more reports and waits for those that are being kept.
func (s *Service) Stop() {
	if s.stop != nil {
		s.stop()
		s.work.Wait()
	}
}

// ClientCAs returns the authority, for a server to ask its clients for. It must
// not insist: people and their scripts have no certificate.
func (s *Service) ClientCAs() *x509.CertPool { return s.authority.pool }

// restore observes the last report of each agent as of when it arrived, so that
// a restart turns nothing to "never contacted".
func (s *Service) restore(ctx context.Context) error {
	beats, err := s.Store.Beats(ctx)
	if err != nil {
		return err
	}
	for _, b := range beats {
		if _, known := s.Component(b.Agent); !known {
			continue
		}
		reading, err := parsePayload(b)
		if err != nil {
			return err
		}
		s.Observe(desktop.Observation{Kind: b.Agent.Kind, ID: b.Agent.ID, At: b.At, Reading: reading})
	}
	return nil
}

func parsePayload(b Beat) (desktop.Reading, error) {
	switch b.Agent.Kind {
	case desktop.KindGateway:
		var beat desktop.GatewayBeat
		err := json.Unmarshal(b.Payload, &beat)
		return beat, err
	case desktop.KindRDSServer:
		var beat desktop.AgentBeat
		err := json.Unmarshal(b.Payload, &beat)
		return beat, err
	}
	return nil, fault.New(fault.Internal, "a %s does not report", b.Agent.Kind)
}

// interval returns how often an agent is to report.
func (s *Service) interval(a Agent) time.Duration {
	p := s.Policy()
	if a.Kind == desktop.KindGateway {
		return p.GatewayInterval
	}
	return p.AgentInterval
}

func seconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }
