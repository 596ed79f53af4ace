package heartbeat_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"vigil/internal/desktop/heartbeat"
)

func TestMachineWithExpiredCertificateNeedsANewToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.enrol(gateway)
	f.pass(31 * 24 * time.Hour)
	m := heartbeat.NewMachine()
	m.Server, m.Trust, m.CredentialStore = f.server.URL, f.trust(), credentialKeeper{&c}
	m.Now, m.Log = f.now, slog.New(slog.DiscardHandler)
	if err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("without a token: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m.Token = f.token(gateway)
	m.Report = func(_ context.Context, s heartbeat.Stamp) (any, error) {
		cancel() // the machine has enrolled and reports
		return nil, nil
	}
	if err := m.Run(ctx); err != nil {
		t.Errorf("with a token: %v", err)
	}
	if !c.Enrolment.NotAfter.Time().After(f.now()) {
		t.Error("the new certificate was not saved")
	}
}

func TestMachineRecoversAfterItsClockWasSetBack(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.enrol(gateway)
	// A machine numbers its reports by the time in milliseconds; this number is far in the future.
	if _, err := f.client(&c).Beat(t.Context(), c.Enrolment.HeartbeatPath, report(1<<60)); err != nil {
		t.Fatal(err)
	}
	m := heartbeat.NewMachine()
	m.Server, m.Trust, m.CredentialStore = f.server.URL, f.trust(), credentialKeeper{&c}
	m.Log = slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	m.Report = func(_ context.Context, s heartbeat.Stamp) (any, error) { return report(s.Sequence), nil }
	recovered := false
	f.mu.Lock()
	f.accepted = func() {
		recovered = true
		cancel()
	}
	f.mu.Unlock()
	done := make(chan error, 1)
	go func() { done <- m.Run(ctx) }()
	select {
	case err := <-done:
		if err != nil || !recovered {
			t.Errorf("the machine ended with %v; a report was accepted: %t", err, recovered)
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the machine did not recover")
	}
}

func TestMachineStopsWhenItIsRevoked(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	c := f.enrol(gateway)
	if err := f.service.Revoke(t.Context(), gateway); err != nil {
		t.Fatal(err)
	}
	m := heartbeat.NewMachine()
	m.Server, m.Trust, m.CredentialStore = f.server.URL, f.trust(), credentialKeeper{&c}
	m.Log = slog.New(slog.DiscardHandler)
	m.Report = func(_ context.Context, s heartbeat.Stamp) (any, error) { return report(s.Sequence), nil }
	if err := m.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("a revoked machine ends with %v", err)
	}
}

type credentialKeeper struct{ c *heartbeat.Credential }

func (k credentialKeeper) Load() (heartbeat.Credential, error) { return *k.c, nil }
func (k credentialKeeper) Save(c heartbeat.Credential) error   { *k.c = c; return nil }
