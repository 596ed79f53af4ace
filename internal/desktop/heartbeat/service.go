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

// Options configure a Service. The functions must be safe for concurrent use.
type Options struct {
	Store Store

	// Component returns the component of the inventory that an agent reports for.
	Component func(Agent) (desktop.Ref, bool)

	// Observe is called with every accepted report.
	Observe func(desktop.Observation)

	// Policy returns the current policy, which contains the intervals.
	Policy func() desktop.Policy

	CertificateLife time.Duration    // 30 days when zero
	TokenLife       time.Duration    // 24 hours when zero
	Now             func() time.Time // time.Now when nil
	Log             *slog.Logger
}

// Service is the server side of heartbeats. Its methods are safe for concurrent
// use after Start.
type Service struct {
	Options
	authority  *authority
	beatWriter *beatWriter
	stop       context.CancelFunc
	work       sync.WaitGroup
}

// New returns a service that is not started.
func New(o Options) *Service {
	o.CertificateLife = cmp.Or(o.CertificateLife, 30*24*time.Hour)
	o.TokenLife = cmp.Or(o.TokenLife, 24*time.Hour)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Service{Options: o, beatWriter: newBeatWriter(o.Store)}
}

// Open loads the authority. It creates it the first time.
func (s *Service) Open(ctx context.Context) error {
	var err error
	s.authority, err = openAuthority(ctx, s.Store, s.Now())
	return err
}

// Start passes the last stored reports to Observe and starts to accept reports.
// Call Open first.
func (s *Service) Start(ctx context.Context) error {
	if err := s.restore(ctx); err != nil {
		return fmt.Errorf("restore the last reports: %w", err)
	}
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.work.Go(func() { s.beatWriter.run(ctx) })
	return nil
}

// Stop stops accepting reports and waits for those that are being written.
func (s *Service) Stop() {
	if s.stop != nil {
		s.stop()
		s.work.Wait()
	}
}

// ClientCAs returns the authority as the pool for verifying client
// certificates. The server must not require one: users and scripts have none.
func (s *Service) ClientCAs() *x509.CertPool { return s.authority.pool }

// restore passes the last report of each agent to Observe with its time of
// arrival, so that after a restart no component counts as never contacted.
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

// interval returns the report interval of an agent.
func (s *Service) interval(a Agent) time.Duration {
	p := s.Policy()
	if a.Kind == desktop.KindGateway {
		return p.GatewayInterval
	}
	return p.AgentInterval
}

func seconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }
