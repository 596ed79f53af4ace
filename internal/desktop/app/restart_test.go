package app_test

import (
	"testing"
	"time"

	"vigil/internal/desktop"
	"vigil/internal/desktop/app"
	"vigil/internal/sim/estate"
)

// TestAgentsAreNotSilentBecauseTheServerWasDown covers a server that was down for an hour: its agents had no chance to
// report before it started.
func TestAgentsAreNotSilentBecauseTheServerWasDown(t *testing.T) {
	t.Parallel()
	const interval = 2 * time.Second
	w := start(t, options{size: tiny(), join: true, estate: func(o *estate.Options) {
		o.GatewayInterval, o.AgentInterval = interval, interval
	}})
	w.status(desktop.KindGateway, "gw1.corp.example", "", "OK")
	w.status(desktop.KindRDSServer, "rds001.corp.example", "state", "AVAILABLE")
	w.status(desktop.KindFarm, "farm-01", "", "OK")
	w.stop()
	w.mu.Lock()
	w.changes = nil
	w.mu.Unlock()
	// The machines do not know the new address of the server and stay silent.
	started := time.Now().Add(time.Hour)
	w.run(options{size: tiny(), app: func(o *app.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Hour) }
	}})
	w.status(desktop.KindGateway, "gw1.corp.example", "", "STALE")
	w.status(desktop.KindRDSServer, "rds001.corp.example", "state", "AGENT_UNREACHABLE")
	w.status(desktop.KindFarm, "farm-01", "", "ERROR")
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.changes {
		switch c.Ref.Kind {
		case desktop.KindGateway, desktop.KindRDSServer, desktop.KindFarm:
			if c.At.Before(started.Add(2 * interval)) {
				t.Errorf("%s after the start: %s %q %s>%s", c.At.Sub(started), c.Ref.Name, c.Part, c.From, c.To)
			}
		}
	}
}
