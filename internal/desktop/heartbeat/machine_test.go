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
		cancel() // it started to report
		return nil, nil
	}
	if err := m.Run(ctx); err != nil {
		t.Errorf("with a token: %v", err)
	}
	if !c.Enrolment.NotAfter.Time().After(f.now()) {
		t.Error("the new certificate was not saved")
	}
}
